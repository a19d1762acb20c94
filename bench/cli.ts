import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTree } from './tree';

/**
 * The bundled CLI on a generated tree, as whole processes, in turn with peers: a script that only walks the tree and
 * parses every document with the `yaml` package, which is the least that a linter on top of it would take; and
 * kube-score, a linter in Go, where it is on PATH (`go install github.com/zegl/kube-score/cmd/kube-score@v1.20.0`).
 *
 * `npx tsx bench/cli.ts [FILES]`, default 5,000.
 */

const root = join(__dirname, '..');
const cli = join(root, 'dist/cli.js');
const rounds = 5;

const peer = `
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { parseAllDocuments } = require(${JSON.stringify(join(root, 'node_modules/yaml'))});
let count = 0;
for (const name of readdirSync(process.argv[2], { recursive: true, encoding: 'utf8' })) {
  if (/\\.ya?ml$/.test(name)) count += parseAllDocuments(readFileSync(join(process.argv[2], name), 'utf8'), { uniqueKeys: false }).length;
}
process.stdout.write(String(count));
`;

interface Run {
  readonly seconds: number;
  readonly mebibytes: number;
}

/** The whole tree in one process of kube-score; `undefined` where there is none. GNU time tells what it took. */
function runKubeScore(tree: string): Run | undefined {
  const files = readdirSync(tree, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => join(tree, name));
  const started = performance.now();
  const { status, error, stderr } = spawnSync(
    '/usr/bin/time',
    ['-f', '%M', 'kube-score', 'score', '--output-format', 'json', ...files],
    { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' },
  );
  const seconds = (performance.now() - started) / 1000;
  // 127: there is no kube-score; 1: it has found something.
  if (error !== undefined || status === null || status > 1) return undefined;
  return { seconds, mebibytes: Number(stderr.trim().split('\n').at(-1)) / 1024 };
}

/** One process, timed from outside; its own report of the largest resident set comes over a file descriptor. */
function run(argv: readonly string[]): Run {
  const started = performance.now();
  const hook = `process.on('exit', () => require('node:fs').writeSync(3, String(process.resourceUsage().maxRSS)))`;
  const { status, output, error } = spawnSync(process.execPath, ['--require', writeHook(hook), ...argv], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (error !== undefined || status === null || status > 1) throw new Error(`${argv.join(' ')} failed`);
  return { seconds: (performance.now() - started) / 1000, mebibytes: Number(output[3]) / 1024 };
}

let hookPath: string | undefined;

function writeHook(text: string): string {
  if (hookPath === undefined) {
    hookPath = join(folder, 'hook.cjs');
    writeFileSync(hookPath, text);
  }
  return hookPath;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function show(name: string, runs: readonly Run[]): void {
  const seconds = runs.map((each) => each.seconds);
  process.stdout.write(
    `${name.padEnd(28)} ${median(seconds).toFixed(2)} s (${Math.min(...seconds).toFixed(2)} to ${Math.max(...seconds).toFixed(2)}), ` +
      `${Math.round(median(runs.map((each) => each.mebibytes)))} MiB at most\n`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));

function main(files: number): number {
  if (!existsSync(cli)) {
    process.stderr.write('dist/cli.js is not there; npm run build makes it\n');
    return 2;
  }
  const tree = join(folder, 'tree');
  const size = makeTree(tree, files);
  const script = join(folder, 'peer.cjs');
  writeFileSync(script, peer);
  process.stdout.write(
    `${size.files} files, ${(size.bytes / 1e6).toFixed(1)} MB, ${rounds} rounds in turn\n`,
  );
  const ours: Run[] = [];
  const theirs: Run[] = [];
  const version: Run[] = [];
  const kubeScore: Run[] = [];
  for (let round = 0; round <= rounds; round++) {
    const a = run([cli, 'lint', '--format', 'json', tree]);
    const b = run([script, tree]);
    const c = run([cli, '--version']);
    const d = runKubeScore(tree);
    // The first round fills the file cache.
    if (round === 0) continue;
    ours.push(a);
    theirs.push(b);
    version.push(c);
    if (d !== undefined) kubeScore.push(d);
  }
  show('plimsoll lint', ours);
  show('yaml, parsing alone', theirs);
  show('plimsoll --version', version);
  const ratioTo = (peer: readonly Run[]): string =>
    median(peer.map((each, index) => each.seconds / (ours[index]?.seconds ?? Number.NaN))).toFixed(1);
  process.stdout.write(`plimsoll lint is ${ratioTo(theirs)} times as fast as parsing alone\n`);
  if (kubeScore.length > 0) {
    show('kube-score', kubeScore);
    process.stdout.write(`plimsoll lint is ${ratioTo(kubeScore)} times as fast as kube-score\n`);
  }
  return 0;
}

try {
  process.exitCode = main(Number(process.argv[2] ?? '5000'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
