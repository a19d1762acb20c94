import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { plimsoll } from './host';

const root = join(__dirname, '../..');

interface JsonReport {
  readonly files: readonly {
    readonly path: string;
    readonly findings: readonly { rule: string; severity: string }[];
  }[];
}

async function lintJson(path: string): Promise<{ code: number; report: JsonReport }> {
  const { code, stdout } = await plimsoll(root, ['lint', '--format', 'json', path]);
  return { code, report: JSON.parse(stdout) as JsonReport };
}

test('the broken example fails, with the mistakes that it is there to show', async () => {
  const { code, report } = await lintJson('examples/broken');
  assert.equal(code, 1);
  const rules = new Set(report.files.flatMap(({ findings }) => findings.map(({ rule }) => rule)));
  for (const rule of [
    'gpu-request-differs-from-limit',
    'host-ram-below-model',
    'missing-shared-memory',
    'missing-cpu-request',
    'missing-readiness-probe',
    'probe-port-unknown',
    'pdb-blocks-drain',
    'topology-spread-selects-nothing',
    'hpa-min-above-max',
    'hpa-target-missing-request',
    'hpa-cpu-for-gpu-workload',
    'replicas-with-autoscaler',
    'two-autoscalers',
    'nodepool-missing-limits',
    'nodepool-gpu-untainted',
    'nodepool-spot-only',
    'nodepool-disrupts-gpu',
    'nodepool-outdated-field',
  ]) {
    assert.ok(rules.has(rule), `${rule} is not found in examples/broken`);
  }
});

test('the healthy example is clean: exit code 0, and nothing above info', async () => {
  const { code, report } = await lintJson('examples/healthy');
  assert.equal(code, 0);
  assert.deepEqual(
    report.files.flatMap(({ path, findings }) =>
      findings
        .filter(({ severity }) => severity !== 'info' && severity !== 'hint')
        .map(({ rule }) => `${path} ${rule}`),
    ),
    [],
  );
});
