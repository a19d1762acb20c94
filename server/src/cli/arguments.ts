import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import type { PresetName } from '../protocol/settings';

export type OutputFormat = 'text' | 'json' | 'sarif' | 'junit' | 'github';

export interface LintCommand {
  readonly command: 'lint';
  readonly paths: readonly string[];
  readonly format: OutputFormat;
  readonly config: string | undefined;
  readonly preset: PresetName | undefined;
  readonly fix: boolean;
  readonly unsafe: boolean;
  readonly maxWarnings: number;
  readonly stdinFilename: string | undefined;
  /** `undefined`: decided by the terminal and the environment. */
  readonly color: boolean | undefined;
  readonly gitignore: boolean;
}

export interface RulesCommand {
  readonly command: 'rules';
  readonly format: 'text' | 'json';
}

export interface ExplainCommand {
  readonly command: 'explain';
  readonly rule: string;
}

export type Command =
  | LintCommand
  | RulesCommand
  | ExplainCommand
  | { readonly command: 'help'; readonly topic: string | undefined }
  | { readonly command: 'version' };

/** The command line cannot be understood; the message says what and how to do it right. */
export class UsageError extends Error {}

export const help: Readonly<Record<string, string>> = {
  '': `Usage: plimsoll <command> [options]

Tells whether AI workloads on Kubernetes will fit: GPUs, host RAM, autoscaling, Karpenter.

Commands:
  lint [paths]      Check manifests (files and folders; default: the current folder)
  rules             List all rules
  explain <rule>    Print the documentation of a rule

Options:
  -h, --help        Help, also of a command: plimsoll lint --help
  -V, --version     Print the version

Exit codes: 0 clean, 1 findings, 2 bad usage or a failure
`,
  lint: `Usage: plimsoll lint [paths] [options]

Checks the Kubernetes manifests in files and folders. Without paths: the current folder. The path - is standard input.

Options:
  --format <format>         text (default), json, sarif, junit or github
  --config <file>           Use this configuration instead of the nearest .plimsoll.yaml
  --preset <name>           recommended (default), strict or minimal
  --fix                     Apply the fixes that do not change what the author meant
  --unsafe                  With --fix: the others too, the first one that a finding offers
  --max-warnings <n>        More warnings than this fail the run (default 0); errors always do
  --stdin-filename <path>   Read one file from standard input and check it as if it were this one
  --color, --no-color       Colours in the text format (default: when printing to a terminal)
  --no-gitignore            Also read what .gitignore names in folders

Exit codes: 0 clean, 1 errors or too many warnings (infos and hints do not fail a run), 2 bad usage or a failure
`,
  rules: `Usage: plimsoll rules [--format text|json]

Lists all rules with severity, needs and kinds.
`,
  explain: `Usage: plimsoll explain <rule>

Prints what a rule checks, why, and how to fix what it finds.
`,
};

const formats: readonly OutputFormat[] = ['text', 'json', 'sarif', 'junit', 'github'];
const presets: readonly PresetName[] = ['recommended', 'strict', 'minimal'];

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new UsageError(`${option} takes ${allowed.join(', ')}; got "${value}"`);
  return found;
}

function parse<T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Node adds advice on escaping after the first sentence, which only confuses here.
    throw new UsageError(reason.split('. ')[0] ?? reason);
  }
}

function parseLint(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    format: { type: 'string' },
    config: { type: 'string' },
    preset: { type: 'string' },
    fix: { type: 'boolean' },
    unsafe: { type: 'boolean' },
    'max-warnings': { type: 'string' },
    'stdin-filename': { type: 'string' },
    color: { type: 'boolean' },
    'no-color': { type: 'boolean' },
    'no-gitignore': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'lint' };
  const max = values['max-warnings'] ?? '0';
  if (!/^\d+$/.test(max)) throw new UsageError(`--max-warnings takes a whole number; got "${max}"`);
  if (values.unsafe === true && values.fix !== true)
    throw new UsageError('--unsafe only widens --fix; add --fix');
  if (positionals.includes('-') && positionals.length > 1) {
    throw new UsageError('- (standard input) cannot be combined with other paths');
  }
  if (values['stdin-filename'] !== undefined && positionals.some((path) => path !== '-')) {
    throw new UsageError('--stdin-filename reads standard input and cannot be combined with paths');
  }
  const stdin = values['stdin-filename'] ?? (positionals.includes('-') ? 'stdin.yaml' : undefined);
  return {
    command: 'lint',
    paths: stdin !== undefined ? [] : positionals,
    format: oneOf('--format', values.format ?? 'text', formats),
    config: values.config,
    preset: values.preset === undefined ? undefined : oneOf('--preset', values.preset, presets),
    fix: values.fix === true,
    unsafe: values.unsafe === true,
    maxWarnings: Number(max),
    stdinFilename: stdin,
    color: values['no-color'] === true ? false : values.color,
    gitignore: values['no-gitignore'] !== true,
  };
}

/** Reads the arguments after the program's name. Throws {@link UsageError}. */
export function parseArguments(argv: readonly string[]): Command {
  const [first, ...rest] = argv;
  switch (first) {
    case undefined:
    case 'help':
      return { command: 'help', topic: rest[0] };
    case '-h':
    case '--help':
      return { command: 'help', topic: undefined };
    case '-V':
    case '--version':
      return { command: 'version' };
    case 'lint':
      return parseLint(rest);
    case 'rules': {
      const { values, positionals } = parse(rest, {
        format: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      });
      if (values.help === true) return { command: 'help', topic: 'rules' };
      if (positionals.length > 0)
        throw new UsageError(
          `plimsoll rules takes no "${positionals[0] ?? ''}"; for one rule: plimsoll explain <rule>`,
        );
      return {
        command: 'rules',
        format: oneOf('--format', values.format ?? 'text', ['text', 'json'] as const),
      };
    }
    case 'explain': {
      const { values, positionals } = parse(rest, { help: { type: 'boolean', short: 'h' } });
      if (values.help === true) return { command: 'help', topic: 'explain' };
      const [rule, extra] = positionals;
      if (rule === undefined || extra !== undefined)
        throw new UsageError('plimsoll explain takes one rule; plimsoll rules lists them');
      return { command: 'explain', rule };
    }
    default:
      throw new UsageError(`unknown command "${first}"; plimsoll --help lists the commands`);
  }
}
