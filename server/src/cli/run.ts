import { help, parseArguments, UsageError } from './arguments';
import { takeCatalogue } from './catalogue';
import { explain } from './commands/explain';
import { fitCommand } from './commands/fit';
import { lintCommand } from './commands/lint';
import { readinessCommand } from './commands/readiness';
import { listRules } from './commands/rules';
import { size } from './commands/size';
import { printable } from './formats/text';
import type { Host } from './host';

/** Commands that ask for instance types. */
const usesCatalogue: ReadonlySet<string> = new Set(['lint', 'size', 'fit', 'readiness']);

/** Runs one command line. The result is the exit code: 0 clean, 1 findings, 2 bad usage or a failure. */
export async function runCli(argv: readonly string[], host: Host): Promise<number> {
  try {
    const command = parseArguments(argv);
    if (usesCatalogue.has(command.command)) {
      const problem = takeCatalogue(host.cwd);
      if (problem !== undefined) host.stderr.write(`plimsoll: ${printable(problem)}\n`);
    }
    switch (command.command) {
      case 'help':
        host.stdout.write(help[command.topic ?? ''] ?? help[''] ?? '');
        return 0;
      case 'version':
        host.stdout.write(`${host.version}\n`);
        return 0;
      case 'lint':
        return await lintCommand(command, host);
      case 'size':
        return size(command, host);
      case 'fit':
        return fitCommand(command, host);
      case 'refresh-instances': {
        const { refreshInstances } = await import('./commands/refresh-instances');
        return await refreshInstances(command, host);
      }
      case 'model': {
        const { modelCommand } = await import('./commands/model');
        return await modelCommand(command, host);
      }
      case 'schemas': {
        const { schemasCommand } = await import('./commands/schemas');
        return await schemasCommand(command, host);
      }
      case 'diff': {
        const { diffCommand } = await import('./commands/diff');
        return await diffCommand(command, host);
      }
      case 'status': {
        const { statusCommand } = await import('./commands/status');
        return await statusCommand(command, host);
      }
      case 'readiness':
        return readinessCommand(command, host);
      case 'rules':
        return listRules(command, host);
      case 'explain':
        return explain(command, host);
    }
  } catch (error) {
    if (error instanceof UsageError) {
      host.stderr.write(`plimsoll: ${error.message}\n`);
    } else {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      host.stderr.write(`plimsoll: internal error: ${detail}\n`);
    }
    return 2;
  }
}
