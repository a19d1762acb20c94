import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { brokenPod, folder } from './host';

const root = join(__dirname, '../..');

function noise(cwd: string, ...args: readonly string[]): { code: number | null; out: string; err: string } {
  const script = join(root, 'scripts/noise.ts');
  const tsx = require.resolve('tsx');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', tsx, script, ...args], {
    cwd,
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

test('npm run noise counts by rule, by file and by severity, and lists one rule', (t) => {
  const cwd = folder(t, {
    'a.yaml': `${brokenPod}---\n${brokenPod.replace('name: box', 'name: other')}`,
    'b.yaml': brokenPod,
    '.plimsoll.yaml': 'overrides: [{ files: b.yaml, rules: { request-above-limit: hint } }]\n',
  });
  const { code, out } = noise(cwd, '.');
  assert.equal(code, 0, out);
  const rows = out.split('\n').map((line) => line.trim().split(/\s+/).join(' '));
  assert.ok(rows.includes('2 . . 1 2 request-above-limit'), out);
  assert.ok(rows.includes('2 . . . 1 a.yaml'), out);
  assert.ok(rows.includes('. . . 1 1 b.yaml'), out);
  assert.match(out, /^3 findings \(2 error, 0 warning, 0 info, 1 hint\) in 2 of 2 files;/m);
  const one = noise(cwd, '.', '--rule', 'request-above-limit');
  assert.match(one.out, /^b\.yaml:11 hint Container "app" requests/m);
  assert.equal(noise(cwd).code, 2);
});
