import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultConfig } from '../../server/src/engine/config';
import { lint } from '../../server/src/engine/run';
import { supersedes } from '../../server/src/engine/supersedes';
import type { Report, Rule, Severity } from '../../server/src/rules/rule';
import { defineRule } from '../../server/src/rules/rule';
import type { Resource } from '../../server/src/kube/resource';
import type { Workspace } from '../../server/src/workspace/workspace';
import { entryOf, mapIn } from '../../server/src/yaml/node';
import { workspaceOf } from '../support/workspace';

interface Options {
  readonly severity?: Severity;
  readonly kinds?: readonly string[];
  readonly rejects?: boolean;
  readonly needs?: Rule['needs'];
}

function rule(
  id: string,
  reports: (resource: Resource, workspace: () => Workspace) => readonly Report[],
  { severity = 'warning', kinds = ['Service'], rejects = false, needs = 'document' }: Options = {},
): Rule {
  return defineRule({
    id,
    summary: '',
    severity,
    needs,
    kinds,
    fixable: 'none',
    ...(rejects ? { apiServerRejects: true } : {}),
    check(resource, context) {
      for (const report of reports(resource, () => context.workspace)) context.report(report);
    },
  });
}

const service =
  'apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec:\n  type: ClusterIP\n  clusterIP: None\n';

/** A report on a key of the spec, or on its value. */
function on(key: string, part: 'key' | 'value' = 'key', container?: string) {
  return (resource: Resource): readonly Report[] => {
    const entry = entryOf(mapIn(resource.root, 'spec'), key);
    if (entry === undefined) return [];
    const at = part === 'key' ? entry : entry.value;
    return [{ at, message: `On ${key}`, ...(container === undefined ? {} : { container }) }];
  };
}

function said(
  rules: readonly Rule[],
  files: Readonly<Record<string, string>> = { 'a.yaml': service },
): string[] {
  const config = defaultConfig();
  const result = lint(workspaceOf(files), () => config, { rules });
  assert.deepEqual(result.internalErrors, []);
  return result.files.flatMap(({ findings }) => findings.map((finding) => finding.rule));
}

describe('one cause, one finding', () => {
  test('on one field the more exact rule speaks, on its key or value', () => {
    const exact = rule('outdated-node-label', on('type', 'key'));
    const softer = rule('unknown-node-label', on('type', 'value'));
    assert.deepEqual(said([exact, softer]), ['outdated-node-label']);
    assert.deepEqual(said([softer, exact]), ['outdated-node-label']);
  });

  test('on another field both speak', () => {
    const exact = rule('outdated-node-label', on('clusterIP'));
    const softer = rule('unknown-node-label', on('type'));
    assert.deepEqual(said([exact, softer]).sort(), ['outdated-node-label', 'unknown-node-label']);
  });

  test('of one container the more exact rule speaks, wherever it does', () => {
    const exact = rule('weights-exceed-vram', on('type', 'key', 'vllm'));
    assert.deepEqual(said([exact, rule('context-exceeds-kv-cache', on('clusterIP', 'key', 'vllm'))]), [
      'weights-exceed-vram',
    ]);
    assert.deepEqual(said([exact, rule('context-exceeds-kv-cache', on('clusterIP', 'key', 'other'))]), [
      'weights-exceed-vram',
      'context-exceeds-kv-cache',
    ]);
  });

  test('what the API server rejects silences softer findings on the field, and nothing else', () => {
    const rejected = rule('rejected', on('type', 'value'), { severity: 'error', rejects: true });
    assert.deepEqual(said([rejected, rule('softer', on('type'))]), ['rejected']);
    assert.deepEqual(said([rejected, rule('other', on('clusterIP'))]), ['rejected', 'other']);
    assert.deepEqual(said([rejected, rule('as-bad', on('type'), { severity: 'error' })]), [
      'as-bad',
      'rejected',
    ]);
  });

  test('a rejected name does not silence what is reported on the name for want of a better place', () => {
    const onName = (resource: Resource): readonly Report[] => {
      const entry = entryOf(mapIn(resource.root, 'metadata'), 'name');
      return entry === undefined ? [] : [{ at: entry.value, message: 'Here' }];
    };
    const rejected = rule('rejected', onName, { severity: 'error', rejects: true });
    assert.deepEqual(said([rejected, rule('missing', onName)]), ['rejected', 'missing']);
  });

  test('a cause in another file is looked up there', () => {
    const pool =
      'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: gpu }\nspec: { template: {}, weight: 1 }\n';
    const exact = rule('nodepool-matches-no-instance', on('weight'), { kinds: ['NodePool'] });
    const softer = rule(
      'no-instance-type-fits',
      (resource, workspace) => {
        const [nodePool] = workspace().byKind('NodePool');
        const [report] = on('type')(resource);
        if (report === undefined || nodePool === undefined) return [];
        return [{ ...report, related: [{ resource: nodePool, at: nodePool.root, message: 'The pool' }] }];
      },
      { needs: 'workspace' },
    );
    const files = { 'a.yaml': service, 'pool.yaml': pool };
    assert.deepEqual(said([exact, softer], files), ['nodepool-matches-no-instance']);
    assert.deepEqual(said([softer], files), ['no-instance-type-fits']);
    const fine = { ...files, 'pool.yaml': pool.replace(', weight: 1', '') };
    assert.deepEqual(said([exact, softer], fine), ['no-instance-type-fits']);
  });

  test('the table has no pair twice and no pair both ways', () => {
    const pairs = supersedes.map(({ exact, softer }) => `${exact} ${softer}`);
    assert.equal(new Set(pairs).size, pairs.length);
    for (const { exact, softer } of supersedes) assert.ok(!pairs.includes(`${softer} ${exact}`));
  });
});

test('a suppression of a finding that another one silences is not unused', () => {
  const rejected = rule('rejected', on('type', 'value'), { severity: 'error', rejects: true });
  const softer = rule('request-above-limit', on('type'));
  const text = service.replace(
    '  type',
    '  # plimsoll-disable-next-line request-above-limit -- known\n  type',
  );
  assert.deepEqual(said([rejected, softer], { 'a.yaml': text }), ['rejected']);
  assert.deepEqual(said([softer], { 'a.yaml': text }), []);
  const elsewhere = text.replace('ClusterIP', 'ClusterIP\n  externalName: a');
  const moved = rule('request-above-limit', on('externalName'));
  assert.deepEqual(said([moved], { 'a.yaml': elsewhere }).sort(), [
    'request-above-limit',
    'unused-suppression',
  ]);
});
