import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const server = resolve(__dirname, '..', '..', 'dist', 'server.js');
const { stdout: version } = spawnSync('nvim', ['--version'], { encoding: 'utf8' });

const skip = !existsSync(server)
  ? 'dist/server.js is not built; npm run build makes it'
  : typeof version !== 'string' || !/^NVIM v0\.(\d+)/.test(version)
    ? 'Neovim is not installed'
    : false;

const manifest = `apiVersion: v1
kind: Pod
metadata:
  name: chat # 🚢
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.11.0
      resources:
        requests:
          memory: 16Gi
        limits:
          memory: 8Gi
`;

interface Seen {
  readonly problem?: string;
  readonly logs: readonly string[];
  readonly diagnostics: readonly { readonly code: string; readonly lnum: number; readonly message: string }[];
  readonly hover: { readonly contents: { readonly value: string } };
  readonly titles: readonly string[];
  readonly text: string;
}

test('Neovim shows findings, hovers, and applies a code action', { skip }, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-neovim-')));
  try {
    const file = join(folder, 'pod.yaml');
    writeFileSync(file, manifest);
    writeFileSync(join(folder, 'other.yaml'), manifest);
    const result = join(folder, 'result.json');
    const session = join(__dirname, 'support', 'neovim.lua');
    const run = spawnSync('nvim', ['--headless', '--clean', '-n', '-c', `luafile ${session}`], {
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        ...process.env,
        XDG_STATE_HOME: folder,
        XDG_CACHE_HOME: folder,
        PLIMSOLL_NODE: process.execPath,
        PLIMSOLL_SERVER: server,
        PLIMSOLL_FOLDER: folder,
        PLIMSOLL_FILE: file,
        PLIMSOLL_OTHER: join(folder, 'other.yaml'),
        PLIMSOLL_RESULT: result,
        PLIMSOLL_RULE: 'request-above-limit',
        PLIMSOLL_ACTION: 'Suppress request-above-limit for this line',
      },
    });
    assert.equal(run.status, 0, run.stderr);
    const seen = JSON.parse(readFileSync(result, 'utf8')) as Seen;
    assert.equal(seen.problem, undefined, JSON.stringify(seen.logs));
    const found = seen.diagnostics.find(({ code }) => code === 'request-above-limit');
    assert.equal(manifest.split('\n')[found?.lnum ?? -1]?.includes('memory'), true);
    assert.ok(seen.hover.contents.value.includes('request-above-limit'), JSON.stringify(seen.hover));
    assert.ok(seen.titles.includes('Explain rule request-above-limit'), seen.titles.join(', '));
    const added = seen.text
      .split('\n')
      .filter((line) => line.includes('plimsoll-disable-next-line request-above-limit'));
    assert.equal(added.length, 1);
    assert.equal(seen.text.replace(`${added[0]}\n`, ''), manifest);
    assert.deepEqual(seen.logs, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
