import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { actions } from '../../server/src/sources/cloudwatch-api';
import type { KubeResource } from '../../server/src/sources/kube-client';
import * as kinds from '../../server/src/sources/kube-kinds';

/** docs/permissions.md, compared with what the sources ask for. */

const page = readFileSync(join(__dirname, '../../docs/permissions.md'), 'utf8');

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([^]*?)\n\`\`\``).exec(page)?.[1];
  assert.ok(found !== undefined, `a block of ${language}`);
  return found;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const { rules } = parse(block('yaml')) as { rules: readonly Rule[] };

function allows(group: string, resource: string, verb: string): boolean {
  return rules.some(
    ({ apiGroups, resources, verbs }) =>
      apiGroups.includes(group) && resources.includes(resource) && verbs.includes(verb),
  );
}

describe('the ClusterRole', () => {
  const { workloadKinds, podMetrics, workloadKind, ...others } = kinds;
  void workloadKind;
  const watched: readonly KubeResource[] = [...workloadKinds, ...Object.values(others)];

  test('allows every list and watch that is asked for', () => {
    for (const { group, plural } of watched) {
      for (const verb of ['get', 'list', 'watch'])
        assert.ok(allows(group, plural, verb), `${verb} ${plural}.${group}`);
    }
    assert.ok(allows(podMetrics.group, podMetrics.plural, 'list'));
    for (const resource of ['pods/log', 'pods/proxy', 'services/proxy'])
      assert.ok(allows('', resource, 'get'), resource);
  });

  test('allows nothing that is not asked for', () => {
    const asked = new Set([
      ...[...watched, podMetrics].map(({ group, plural }) => `${plural}.${group}`),
      ...['pods/log', 'pods/proxy', 'services/proxy', 'namespaces'].map((resource) => `${resource}.`),
    ]);
    for (const { apiGroups, resources, verbs } of rules) {
      for (const group of apiGroups)
        for (const resource of resources)
          assert.ok(asked.has(`${resource}.${group}`), `${resource}.${group}`);
      for (const verb of verbs) assert.ok(['get', 'list', 'watch'].includes(verb), verb);
    }
  });

  test('is about no secret', () => {
    assert.ok(
      rules.every(({ resources }) => !resources.some((resource) => /secret|configmap|\*/.test(resource))),
    );
  });
});

test('the IAM policy allows the actions that are asked for, and no others', () => {
  const { Statement } = JSON.parse(block('json')) as {
    Statement: readonly { Effect: string; Action: readonly string[] }[];
  };
  const allowed = Statement.flatMap(({ Action }) => Action).sort();
  assert.deepEqual(allowed, [...Object.values(actions).map(([action]) => action), 'aps:QueryMetrics'].sort());
});
