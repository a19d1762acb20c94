import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readinessItems } from '../../server/src/engine/readiness/readiness';
import { plimsoll } from './host';

/** Each pitfall of autoscaling on EKS, wrong and right: the wrong one has the finding that its first lines name. */

const root = join(__dirname, '../..');
const folder = 'examples/pitfalls';
const slugs = readdirSync(join(root, folder), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
}

async function lint(path: string, preset: string | undefined): Promise<readonly Found[]> {
  const more = preset === undefined ? [] : ['--preset', preset];
  const { stdout, stderr } = await plimsoll(root, ['lint', '--format=json', ...more, path]);
  assert.equal(stderr, '');
  const { files, skipped } = JSON.parse(stdout) as {
    files: { findings: Found[] }[];
    skipped: { rule?: string }[];
  };
  // Rules that want a cluster are listed; nothing else is left out.
  assert.deepEqual(
    skipped.filter(({ rule }) => rule === undefined),
    [],
  );
  return files.flatMap(({ findings }) => findings);
}

function header(text: string, name: string): string | undefined {
  return new RegExp(`^# ${name}: (.+)$`, 'm').exec(text)?.[1];
}

const isLoud = ({ severity }: Found): boolean => severity === 'error' || severity === 'warning';
const shown = ({ rule, severity, message }: Found): string => `${severity} ${rule}: ${message}`;

describe('pitfalls', () => {
  for (const slug of slugs) {
    test(slug, async () => {
      const path = `${folder}/${slug}/wrong/manifests.yaml`;
      const text = readFileSync(join(root, path), 'utf8');
      assert.match(header(text, 'Pitfall') ?? '', /^\S.*[^.]$/);
      const rules = (header(text, 'Finding') ?? '').split(', ');
      const preset = header(text, 'Preset');
      const wrong = await lint(path, preset);
      for (const rule of rules) {
        assert.ok(
          wrong.some((found) => found.rule === rule),
          `${rule} is not among: ${wrong.map(shown).join('\n')}`,
        );
      }
      // The pitfall is what there is to see: no other loud finding draws the eye away.
      assert.deepEqual(wrong.filter((found) => isLoud(found) && !rules.includes(found.rule)).map(shown), []);

      const right = `${folder}/${slug}/right/manifests.yaml`;
      assert.match(header(readFileSync(join(root, right), 'utf8'), 'Instead') ?? '', /^\S.*[^.]$/);
      const rest = await lint(right, preset);
      assert.deepEqual(rest.filter(isLoud).map(shown), []);
      assert.deepEqual(rest.filter(({ rule }) => rules.includes(rule)).map(shown), []);
    });
  }

  test('each item of the checklist has one', () => {
    const byItem: Readonly<Record<string, readonly string[]>> = {
      'requests-and-limits': ['requests-missing', 'limits-missing'],
      'memory-request-above-model': ['memory-request-below-model'],
      'memory-limit-headroom': ['memory-limit-below-model'],
      'termination-grace-period': ['shutdown-cuts-requests'],
      'probes-configured': ['no-readiness-probe', 'no-liveness-probe', 'liveness-kills-while-loading'],
      'probes-decoupled': ['probes-identical'],
      'scaling-bounds': ['minimum-above-maximum', 'minimum-is-maximum', 'minimum-of-one'],
      'scaling-target': ['target-without-room', 'target-without-request'],
      'scale-down-window': ['scale-down-window-too-short', 'scale-down-unbounded'],
      'custom-metrics': ['cpu-for-gpu-workload'],
      'instance-types': ['one-instance-type'],
      'spot-and-on-demand': ['spot-only', 'on-demand-only'],
      'gpu-placement': ['taint-not-tolerated', 'label-that-no-node-has'],
      'consolidation-and-expiry': ['consolidation-empties-busy-gpus', 'nodes-expire-too-soon'],
      'topology-spread': ['replicas-in-one-zone', 'spread-that-selects-nothing'],
      'disruption-budget': ['no-disruption-budget', 'budget-blocks-drains'],
      'alarm-scaling': ['alarm-for-scaling-is-silent'],
      'alarm-node-launch': ['alarm-for-node-launches-is-silent'],
      'alarm-at-maximum': ['alarm-for-the-maximum-is-silent'],
    };
    assert.deepEqual(
      Object.keys(byItem),
      readinessItems.map(({ id }) => id),
    );
    for (const each of Object.values(byItem).flat()) assert.ok(slugs.includes(each), each);
  });
});
