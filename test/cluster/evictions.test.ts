import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ruleMeta } from '../../server/src/engine/registry';
import { fixedBundle, fixtureBundle, fixturesByRule, type Bundle } from './claims';
import { at, type Api, type JsonObject } from './lab/api';
import { addNode, conditionsText, deadlineMs, podPath, podsIn, removeNode } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';
import { autoscalerKinds, createIn, givenBy, runWorkload, workloadKinds, type Given } from './workloads';

/** What Plimsoll says that cannot be drained: the API server refuses the eviction. */

const rule = 'pdb-blocks-drain';
const node = 'evictions';

let lab: Lab;
let api: Api;
before(async () => {
  lab = useLab();
  api = lab.admin;
  await addNode(api, node, { cpu: '4000', memory: '16Ti', pods: '500', 'nvidia.com/gpu': '512' });
});
after(async () => {
  await lab.close();
  await removeNode(api, node);
});

/** The workload with as many pods as its autoscaler leaves at the least. */
function atMinimum(given: readonly Given[], object: JsonObject): JsonObject {
  const autoscaler = given.find(
    (other) =>
      autoscalerKinds.includes(other.object['kind']) &&
      at(other.object, 'spec', 'scaleTargetRef', 'name') === at(object, 'metadata', 'name'),
  )?.object;
  if (autoscaler === undefined) return object;
  const spec = autoscaler['spec'] as JsonObject;
  const minimum = Number(
    spec['minReplicas'] ?? spec['minReplicaCount'] ?? (autoscaler['kind'] === 'ScaledObject' ? 0 : 1),
  );
  return { ...object, spec: { ...(object['spec'] as JsonObject), replicas: Math.max(minimum, 1) } };
}

/** Whether a pod that the budget selects may be evicted; `undefined` when no pod of these files is selected. */
async function mayBeEvicted(namespace: string, budget: JsonObject): Promise<boolean | undefined> {
  const name = String(at(budget, 'metadata', 'name'));
  const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${name}`;
  await createIn(api, namespace, budget);
  let seen: JsonObject | undefined;
  try {
    const labels = (at(budget, 'spec', 'selector', 'matchLabels') ?? {}) as Readonly<Record<string, string>>;
    const selector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    const pods = await podsIn(api, namespace, selector);
    const [pod] = pods;
    if (pod === undefined) return undefined;
    await waitFor(
      `the controller has counted the pods of ${name}`,
      async () => {
        seen = await api.get(path);
        const isCounted =
          at(seen, 'status', 'observedGeneration') === at(seen, 'metadata', 'generation') &&
          at(seen, 'status', 'currentHealthy') === pods.length;
        return isCounted ? true : undefined;
      },
      deadlineMs,
      () => `${JSON.stringify(at(seen, 'status'))} ${conditionsText(seen)}`,
    );
    const answer = await api.call('POST', `${podPath(namespace, pod.metadata.name)}/eviction?dryRun=All`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.metadata.name, namespace } },
    });
    if (answer.status === 429) return false;
    assert.ok(answer.status < 300, `eviction: ${answer.status} ${JSON.stringify(answer.body)}`);
    return true;
  } finally {
    await api.delete(path);
  }
}

interface Budget {
  readonly name: string;
  readonly isSaid: boolean;
  readonly evicts: boolean | undefined;
}

async function budgetsOf(bundle: Bundle): Promise<readonly Budget[]> {
  const given = givenBy(bundle, rule);
  const namespace = await lab.namespace(rule);
  for (const { object } of given)
    if (workloadKinds.includes(object['kind'])) await runWorkload(api, namespace, atMinimum(given, object));
  const budgets: Budget[] = [];
  for (const { object, piece } of given) {
    if (object['kind'] !== 'PodDisruptionBudget') continue;
    const selector = at(object, 'spec', 'selector') as JsonObject | undefined;
    // Labels are all that a list of pods is asked by here.
    if (selector?.['matchExpressions'] !== undefined) continue;
    const isSaid = piece.findings.some((finding) => finding.rule === rule);
    budgets.push({ name: piece.name, isSaid, evicts: await mayBeEvicted(namespace, object) });
  }
  return budgets;
}

describe(`what ${rule} says`, { skip: ruleMeta(rule) === undefined }, () => {
  let total = 0;
  for (const fixture of fixturesByRule().get(rule) ?? []) {
    if (!fixture.name.startsWith('bad')) continue;
    test(`${fixture.name}: no pod may be evicted, and one when it is fixed`, async () => {
      const budgets = await budgetsOf(fixtureBundle(fixture));
      const said = budgets.filter(({ isSaid, evicts }) => isSaid && evicts !== undefined);
      total += said.length;
      assert.deepEqual(
        said.filter(({ evicts }) => evicts !== false),
        [],
        'a pod may be evicted all the same',
      );
      const fixed = fixedBundle(fixture);
      if (fixed === undefined) return;
      const after = (await budgetsOf(fixed)).filter(({ isSaid, evicts }) => !isSaid && evicts !== undefined);
      assert.deepEqual(
        after.filter(({ evicts }) => evicts !== true),
        [],
        'no pod may be evicted after the fix',
      );
    });
  }
  test('budgets were looked at', () => assert.ok(total > 3, `only ${total}`));
});

describe('what pdbs-overlap says', () => {
  test('a pod in two budgets is not evicted, and is in one', async () => {
    const [fixture] = (fixturesByRule().get('pdbs-overlap') ?? []).filter(({ name }) =>
      name.startsWith('bad'),
    );
    assert.ok(fixture !== undefined, 'there is a fixture');
    const given = givenBy(fixtureBundle(fixture), 'pdbs-overlap');
    const namespace = await lab.namespace('pdbs-overlap');
    for (const { object } of given)
      if (workloadKinds.includes(object['kind'])) await runWorkload(api, namespace, object);
    const budgets = given.filter(({ object }) => object['kind'] === 'PodDisruptionBudget');
    const [first, second] = budgets;
    assert.ok(first !== undefined && second !== undefined && budgets.length === 2, 'it has two budgets');
    assert.ok(second.piece.findings.some((finding) => finding.rule === 'pdbs-overlap'));
    assert.equal(await mayBeEvicted(namespace, first.object), true, 'one budget lets a pod go');
    await createIn(api, namespace, first.object);
    const [pod] = await podsIn(api, namespace, 'app=chat');
    assert.ok(pod !== undefined, 'there are pods');
    await createIn(api, namespace, second.object);
    const answer = await api.call('POST', `${podPath(namespace, pod.metadata.name)}/eviction?dryRun=All`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.metadata.name, namespace } },
    });
    assert.equal(answer.status, 500, JSON.stringify(answer.body));
    assert.match(String(at(answer.body, 'message')), /more than one PodDisruptionBudget/);
  });
});
