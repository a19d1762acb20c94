import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeTree } from '../../bench/tree';
import { lintCells, type CellsJob } from '../../server/src/cli/lint-cells';
import { startHelper } from '../../server/src/cli/threads';
import { brokenPod } from './host';

const root = join(__dirname, '../..');

/** The bundle: a thread has no loader of TypeScript. */
const program = join(root, 'dist/cli.js');
const unbuilt = existsSync(program) ? false : 'dist/cli.js is not there; npm run build makes it';

test('a tree that is shared among threads is reported as by one', { skip: unbuilt }, (t) => {
  const tree = mkdtempSync(join(tmpdir(), 'plimsoll-threads-'));
  t.after(() => rmSync(tree, { recursive: true }));
  makeTree(tree, 1300);
  const run = (...node: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [...node, program, 'lint', tree, '--format', 'json'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
  // With one processor there is nobody to share with.
  const withProcessors = (count: number): ReturnType<typeof run> =>
    run(
      '--import',
      `data:text/javascript,import os from "node:os"; os.availableParallelism = () => ${count};`,
    );
  const shared = withProcessors(4);
  const alone = withProcessors(1);
  assert.equal(shared.stderr, '');
  assert.equal(shared.status, alone.status);
  assert.ok(shared.stdout.length > 1000);
  assert.equal(shared.stdout, alone.stdout);
});

const nothing: CellsJob = {
  cells: [],
  layout: { charts: new Set(), kustomizations: new Map(), builtWith: new Map(), labelled: new Set() },
  configuration: { kind: 'found', texts: new Map(), layers: {}, bases: new Map() },
  reported: new Set(),
};

test('a thread answers as lintCells does', { skip: unbuilt }, async () => {
  const uri = 'file:///w/pod.yaml';
  const job = {
    ...nothing,
    cells: [{ files: [{ uri, text: brokenPod }], context: [] }],
    reported: new Set([uri]),
  };
  const helper = startHelper(program);
  const answer = await helper.lint(job);
  helper.close();
  assert.deepEqual(answer, lintCells(job));
  assert.ok((answer.files[0]?.findings.length ?? 0) > 0);
});

test('a thread that cannot start fails what it is asked for', async () => {
  const helper = startHelper(join(root, 'no-such-program.js'));
  await assert.rejects(helper.lint(nothing), /no-such-program/);
  helper.close();
});
