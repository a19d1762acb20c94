import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createBuffers } from '../server/src/lsp/buffers';
import { createProject } from '../server/src/lsp/project';
import { createReports } from '../server/src/lsp/reports';
import { uriOfPath } from '../server/src/lsp/uris';
import { defaultSettings } from '../server/src/protocol/settings';
import { rules } from '../server/src/rules/index';
import { makeTree } from './tree';
import { productSchemas } from '../test/support/schemas';

/**
 * Typing in one file of a workspace of many: `npx tsx bench/keystroke-workspace.ts [FILES] [EDITS]`.
 *
 * Each kind of edit is typed and taken back in turn. `answer` is from the edit to the diagnostics of the edited file,
 * which the author waits for; `pass` is what the server does in the pause after it: the diagnostics of all files.
 */

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

interface Edit {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly typed: string;
}

function summary(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const pick = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return `median ${pick(0.5).toFixed(1).padStart(7)} ms   p95 ${pick(0.95).toFixed(1).padStart(7)} ms`;
}

function main(): void {
  const count = Number(process.argv[2] ?? 5000);
  const edits = Number(process.argv[3] ?? 20);
  const root = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
  try {
    makeTree(root, count);
    const folderUri = uriOfPath(root);
    const buffers = createBuffers();
    const project = createProject(buffers);
    const folder = { settings: defaultSettings, configFile: undefined, incomplete: undefined };
    project.setFolders([{ key: folderUri, path: root, ...folder }], { key: '', path: undefined, ...folder });
    const reports = createReports(
      project,
      (key) => buffers.get(key) !== undefined,
      () => ({ related: true, codeDescription: true, data: true, tags: [] }),
      { schemas: productSchemas() },
      { error: console.error, warn: console.error, info: console.error },
      'bench',
    );
    for (const path of filesBelow(root)) project.setDisk(uriOfPath(path), readFileSync(path, 'utf8'));
    const pass = (): number => {
      let findings = 0;
      for (const key of project.checked()) findings += reports.of(key).findings.length;
      return findings;
    };
    let since = performance.now();
    const findings = pass();
    console.log(
      `${count} files, ${rules.length} rules, ${findings} findings; Node ${process.version}; ` +
        `first pass ${(performance.now() - since).toFixed(0)} ms\n`,
    );

    const app = join(root, 'team-3', 'app-43');
    const all: readonly Edit[] = [
      { name: 'a quantity of a Deployment', file: 'deployment.yaml', find: 'memory: ', typed: '1' },
      {
        name: 'a label of its pods',
        file: 'deployment.yaml',
        find: '\n    spec:\n      containers',
        typed: 'x',
      },
      { name: 'the name of a Deployment', file: 'deployment.yaml', find: '\n  namespace: team', typed: 'x' },
      { name: 'a bound of its HPA', file: 'service.yaml', find: '\n  maxReplicas', typed: '0' },
      { name: 'a value of a ConfigMap', file: 'config.yaml', find: '"\n', typed: 'x' },
    ];
    for (const { name, file, find, typed } of all) {
      const uri = uriOfPath(join(app, file));
      const text = readFileSync(join(app, file), 'utf8');
      const at = text.indexOf(find);
      if (at < 0) throw new Error(`${file} has no ${find}`);
      const where = find.startsWith('memory') ? at + 'memory: '.length : at;
      const { key, document } = buffers.open(uri, 'yaml', 1, text);
      project.bufferChanged(key);
      pass();
      const start = document.positionAt(where);
      const end = { ...start, character: start.character + typed.length };
      const answers: number[] = [];
      const passes: number[] = [];
      for (let index = 0; index < edits + 6; index++) {
        const range = { start, end: index % 2 === 0 ? start : end };
        since = performance.now();
        buffers.change(uri, index + 2, [{ range, text: index % 2 === 0 ? typed : '' }]);
        project.bufferChanged(key);
        reports.of(key);
        const answered = performance.now();
        pass();
        if (index < 6) continue;
        answers.push(answered - since);
        passes.push(performance.now() - answered);
      }
      console.log(`${name.padEnd(32)} answer ${summary(answers)}   pass ${summary(passes)}`);
      buffers.close(uri);
      project.bufferChanged(key);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

main();
