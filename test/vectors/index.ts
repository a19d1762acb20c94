import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Runs recorded answers of real systems through the product.
 *
 * `npm run vectors -- <kind> FILE [DIR]` prints a line for each case that differs and ends with the count.
 * Exit code 0: every case agrees (or the kind's own targets are met); 1: some differ; 2: bad usage.
 */
export interface VectorResult {
  /** One line for each case that differs: what was expected, what came. */
  readonly differences: readonly string[];
  /** The closing line, such as `150 of 150`. */
  readonly summary: string;
  readonly ok: boolean;
}

export type VectorRunner = (
  cases: unknown,
  extraArguments: readonly string[],
) => VectorResult | Promise<VectorResult>;

const kinds: Readonly<Record<string, () => Promise<{ run: VectorRunner }>>> = {
  memory: () => import('./memory'),
  fit: () => import('./fit'),
  allocatable: () => import('./allocatable'),
  hpa: () => import('./hpa'),
  'hpa-traces': () => import('./hpa-traces'),
  keda: () => import('./keda'),
  mutations: () => import('./mutations'),
  apiserver: () => import('./apiserver'),
};

async function main(argv: readonly string[]): Promise<number> {
  const [kind, file, ...rest] = argv;
  const load = kind === undefined ? undefined : kinds[kind];
  if (load === undefined || file === undefined) {
    process.stderr.write(`usage: npm run vectors -- ${Object.keys(kinds).join('|')} FILE [DIR]\n`);
    return 2;
  }
  let cases: unknown;
  try {
    cases = JSON.parse(readFileSync(resolve(file), 'utf8'));
  } catch (error) {
    process.stderr.write(
      `${file}: cannot read the vectors: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 2;
  }
  const { run } = await load();
  const result = await run(cases, rest);
  for (const line of result.differences) process.stdout.write(`${line}\n`);
  process.stdout.write(`${result.summary}\n`);
  return result.ok ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 2;
  },
);
