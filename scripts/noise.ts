import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runCli } from '../server/src/cli/run';
import type { Severity } from '../server/src/rules/rule';

/**
 * `npm run noise -- <dir>`: what is found in a repository, by rule, by file and by severity, to see which rules a
 * maintainer would switch off. With `--rule` every finding of that rule, with its message, for reading one by one.
 */

const usage = `usage: npm run noise -- <dir>... [--preset NAME] [--config FILE] [--rule ID] [--top N]
  --rule ID   every finding of one rule, with its message
  --top N     as many files as this (default 40; 0 for all)
`;

interface Found {
  readonly path: string;
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly startLine: number;
}

interface Report {
  readonly checkedFiles: number;
  readonly files: readonly { readonly path: string; readonly findings: readonly Omit<Found, 'path'>[] }[];
  readonly skipped: readonly { readonly path?: string; readonly rule?: string; readonly message: string }[];
  readonly internalErrors: readonly { readonly rule?: string; readonly message: string }[];
}

const severities: readonly Severity[] = ['error', 'warning', 'info', 'hint'];

async function report(paths: readonly string[], options: readonly string[]): Promise<Report | undefined> {
  const out: string[] = [];
  // Run in this process: no thread, and the rules of the source tree.
  const code = await runCli(['lint', '--format', 'json', ...options, ...paths], {
    cwd: process.cwd(),
    env: process.env,
    stdout: { write: (text) => void out.push(text), isTerminal: false },
    stderr: { write: (text) => void process.stderr.write(text), isTerminal: false },
    readStdin: () => Promise.resolve(Buffer.alloc(0)),
    ruleDocument: () => undefined,
    version: '0.0.0',
    spareThreads: 0,
    startHelper: () => {
      throw new Error('no thread is to be started');
    },
  });
  return code === 2 && out.length === 0 ? undefined : (JSON.parse(out.join('')) as Report);
}

/** Rows of a name, its findings by severity and in how many of the other kind they are; most first. */
function table(
  title: string,
  other: string,
  found: readonly Found[],
  keyOf: (each: Found) => string,
  otherOf: (each: Found) => string,
  top: number,
): string {
  const groups = new Map<string, Found[]>();
  for (const each of found) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each]);
  const weight = (group: readonly Found[]): number =>
    severities.reduce(
      (sum, severity, index) =>
        sum + group.filter((each) => each.severity === severity).length * 1e6 ** (3 - index),
      0,
    );
  const rows = [...groups]
    .sort(([a, one], [b, two]) => weight(two) - weight(one) || (a < b ? -1 : 1))
    .map(([name, group]) => [
      ...severities.map((severity) => group.filter((each) => each.severity === severity).length || '.'),
      new Set(group.map(otherOf)).size,
      name,
    ]);
  const shown = top === 0 ? rows : rows.slice(0, top);
  const lines = [['error', 'warn', 'info', 'hint', other, title], ...shown].map((row) =>
    row.map((cell, index) => (index === 5 ? String(cell) : String(cell).padStart(7))).join('  '),
  );
  const more = rows.length - shown.length;
  return `${lines.join('\n')}\n${more > 0 ? `${' '.repeat(47)}and ${more} more (--top 0)\n` : ''}`;
}

async function main(argv: readonly string[]): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        preset: { type: 'string' },
        config: { type: 'string' },
        rule: { type: 'string' },
        top: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const top = values.top ?? '40';
  if (values.help === true || positionals.length === 0 || !/^\d+$/.test(top)) {
    process.stderr.write(usage);
    return values.help === true ? 0 : 2;
  }
  const options = [
    ...(values.preset === undefined ? [] : ['--preset', values.preset]),
    ...(values.config === undefined ? [] : ['--config', values.config]),
  ];
  const result = await report(
    positionals.map((path) => resolve(path)),
    options,
  );
  if (result === undefined) return 2;
  const all = result.files.flatMap(({ path, findings }) =>
    findings.map((each): Found => ({ ...each, path })),
  );
  const found = values.rule === undefined ? all : all.filter(({ rule }) => rule === values.rule);
  if (values.rule !== undefined) {
    for (const { path, startLine, severity, message } of found) {
      process.stdout.write(`${path}:${startLine} ${severity} ${message}\n`);
    }
    process.stdout.write('\n');
  } else {
    process.stdout.write(
      `${table(
        'rule',
        'files',
        found,
        ({ rule }) => rule,
        ({ path }) => path,
        0,
      )}\n` +
        `${table(
          'file',
          'rules',
          found,
          ({ path }) => path,
          ({ rule }) => rule,
          Number(top),
        )}\n`,
    );
  }
  const counts = severities
    .map((severity) => `${found.filter((each) => each.severity === severity).length} ${severity}`)
    .join(', ');
  const files = new Set(found.map(({ path }) => path)).size;
  process.stdout.write(
    `${found.length} findings (${counts}) in ${files} of ${result.checkedFiles} files; ${result.skipped.length} skipped, ${result.internalErrors.length} internal errors\n`,
  );
  for (const { rule, message } of result.internalErrors) {
    process.stdout.write(`internal error in ${rule ?? 'the engine'}: ${message}\n`);
  }
  return result.internalErrors.length > 0 ? 1 : 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
