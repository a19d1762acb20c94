import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ruleMeta } from '../../server/src/engine/registry';
import { allocatable } from '../../server/src/sizing/nodes/allocatable';
import { findInstanceType } from '../../server/src/sizing/nodes/instances';
import {
  claimsOf,
  fixedBundle,
  fixtureBundle,
  fixturesByRule,
  hasUnknowns,
  piecesOf,
  saidToBeRejected,
  type Bundle,
  type Piece,
} from './claims';
import { at, type Api, type JsonObject, type KubeObject } from './lab/api';
import { apply, objectsIn } from './lab/manifest';
import {
  addNode,
  conditionOf,
  conditionsText,
  deadlineMs,
  eventsOf,
  podPath,
  removePod,
  podsIn,
  removeNode,
} from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';
import { podsOf } from './verdict';

/**
 * What Plimsoll says that never runs: the scheduler finds no node for it, and Karpenter launches none. After the fix it
 * launches one.
 */

/** Rules whose errors say that a pod stays Pending. */
const pendingRules: readonly string[] = [
  'gpu-taint-not-tolerated',
  'no-instance-type-fits',
  'unknown-node-label',
];

let lab: Lab;
let api: Api;
before(() => {
  lab = useLab();
  api = lab.admin;
});
after(async () => {
  await lab.close();
  await removeNodes();
});

function objectsOf(pieces: readonly Piece[]): readonly JsonObject[] {
  return pieces
    .filter(({ role, placed }) => role === 'resource' && !hasUnknowns(placed.document.root))
    .filter((piece) => claimsOf(piece).length === 0)
    .flatMap(({ placed }) => objectsIn(placed.document.text).map(({ object }) => object));
}

const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

/** Launches whatever the lab has, for pods whose files have no pool. */
const anyPool: JsonObject = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'any' },
  spec: { template: { spec: { nodeClassRef, requirements: [] } } },
};

/** The pools of a bundle, made for the nodes that the lab can launch. */
function poolsIn(pieces: readonly Piece[]): readonly JsonObject[] {
  return objectsOf(pieces)
    .filter(({ kind, apiVersion }) => kind === 'NodePool' && apiVersion === 'karpenter.sh/v1')
    .map((object) => {
      const spec = object['spec'] as JsonObject;
      const template = spec['template'] as JsonObject;
      const templateSpec = { ...(template['spec'] as JsonObject), nodeClassRef };
      return { ...object, spec: { ...spec, template: { ...template, spec: templateSpec } } };
    });
}

interface GroupNode {
  readonly name: string;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly JsonObject[];
}

/** A node for each node group of an eksctl configuration. */
function groupNodesIn(pieces: readonly Piece[]): readonly GroupNode[] {
  return objectsOf(pieces)
    .filter(({ kind }) => kind === 'ClusterConfig')
    .flatMap((config) => (config['managedNodeGroups'] ?? []) as readonly JsonObject[])
    .flatMap((group): readonly GroupNode[] => {
      const type = findInstanceType(String(group['instanceType']));
      if (type === undefined) return [];
      const amounts = Object.entries(allocatable(type)).filter(([, amount]) => amount > 0);
      return [
        {
          name: `group-${String(group['name'])}`,
          allocatable: Object.fromEntries(
            amounts.map(([name, amount]) => [name, name === 'cpu' ? `${amount}m` : String(amount)]),
          ),
          labels: {
            'node.kubernetes.io/instance-type': type.name,
            ...((group['labels'] ?? {}) as Readonly<Record<string, string>>),
          },
          taints: (group['taints'] ?? []) as readonly JsonObject[],
        },
      ];
    });
}

/** Makes what the files of a bundle say that there is of nodes; answers whether Karpenter has a part in it. */
async function makeNodes(namespace: string, pieces: readonly Piece[]): Promise<boolean> {
  await removeNodes();
  const nodes = groupNodesIn(pieces);
  for (const { name, allocatable, labels, taints } of nodes)
    await addNode(api, name, allocatable, { labels, taints });
  const own = poolsIn(pieces);
  const pools = own.length > 0 || nodes.length > 0 ? own : [anyPool];
  for (const pool of pools) await apply(api, JSON.stringify(pool), namespace);
  return pools.length > 0;
}

const nodePools = '/apis/karpenter.sh/v1/nodepools';
const nodeClaims = '/apis/karpenter.sh/v1/nodeclaims';

/** Takes all pools away, waits until Karpenter has taken their nodes away, and takes ours. */
async function removeNodes(): Promise<void> {
  for (const { metadata } of await api.list(nodePools)) await api.delete(`${nodePools}/${metadata.name}`);
  let left: readonly KubeObject[] = [];
  await waitFor(
    'Karpenter takes its nodes away',
    async () => {
      left = [...(await api.list(nodePools)), ...(await api.list(nodeClaims))];
      return left.length === 0 ? true : undefined;
    },
    deadlineMs,
    () => left.map((object) => `${object.metadata.name} ${conditionsText(object)}`).join('\n'),
  );
  for (const { metadata } of await api.list('/api/v1/nodes')) await removeNode(api, metadata.name);
}

interface Placed {
  readonly name: string;
  /** Why it is said to stay Pending; `undefined` when nothing says so. */
  readonly claims: readonly string[];
}

/** Runs the pods of a bundle whose templates no variable touches, each by itself, and answers what is said of them. */
async function placePods(namespace: string, pieces: readonly Piece[]): Promise<readonly Placed[]> {
  const placed: Placed[] = [];
  for (const piece of pieces) {
    if (piece.role !== 'resource') continue;
    for (const { pod, node } of piece.resources.flatMap(podsOf)) {
      if (hasUnknowns(node)) continue;
      const name = `pod-${placed.length}`;
      const { offset } = piece.placed;
      const claims = piece.findings.filter(
        ({ rule, severity, at: { start, end } }) =>
          pendingRules.includes(rule) &&
          severity === 'error' &&
          start >= node.start + offset &&
          end <= node.end + offset,
      );
      const metadata = { ...(pod['metadata'] as JsonObject), name };
      await apply(api, JSON.stringify({ ...pod, metadata }), namespace);
      placed.push({ name, claims: claims.map(({ rule, message }) => `${rule}: ${message}`) });
    }
  }
  return placed;
}

/** What became of a pod: it has a node, or whoever could give it one has said why it has none. */
type Outcome = { readonly node: string } | { readonly why: string };

async function outcomeOf(namespace: string, name: string, withKarpenter: boolean): Promise<Outcome> {
  let events: readonly string[] = [];
  let pod: JsonObject | undefined;
  return waitFor(
    `a decision on pod ${name}`,
    async () => {
      pod = await api.get(podPath(namespace, name));
      const node = at(pod, 'spec', 'nodeName');
      if (typeof node === 'string') return { node };
      const condition = conditionOf(pod, 'PodScheduled');
      if (condition?.['reason'] !== 'Unschedulable') return undefined;
      const scheduler = `scheduler: ${String(condition['message'])}`;
      if (!withKarpenter) return { why: scheduler };
      events = await eventsOf(api, namespace, name);
      const karpenter = events.find((event) => /^FailedScheduling: .*[Ff]ailed to schedule pod/.test(event));
      return karpenter === undefined ? undefined : { why: `${scheduler}; Karpenter: ${karpenter}` };
    },
    deadlineMs,
    () => `${conditionsText(pod)}\n${events.join('\n')}`,
  );
}

interface Ran extends Placed {
  readonly outcome: Outcome;
}

/** Runs the pods of a bundle, and answers what became of those that are chosen. */
async function run(
  name: string,
  bundle: Bundle,
  rule: string,
  choose: (placed: Placed) => boolean,
): Promise<readonly Ran[]> {
  const namespace = await lab.namespace(name);
  const { pieces } = piecesOf(bundle, rule);
  const withKarpenter = await makeNodes(namespace, pieces);
  const chosen = (await placePods(namespace, pieces)).filter(choose);
  const ran: Ran[] = [];
  for (const each of chosen)
    ran.push({ ...each, outcome: await outcomeOf(namespace, each.name, withKarpenter) });
  await removePods(namespace);
  return ran;
}

async function removePods(namespace: string): Promise<void> {
  for (const { metadata } of await podsIn(api, namespace)) {
    await removePod(api, namespace, metadata.name);
  }
}

for (const rule of pendingRules.filter((id) => ruleMeta(id) !== undefined)) {
  describe(`what ${rule} says`, () => {
    for (const [index, fixture] of (fixturesByRule().get(rule) ?? []).entries()) {
      const bundle = fixtureBundle(fixture);
      const says = piecesOf(bundle, rule).pieces.some(({ findings }) =>
        findings.some((finding) => finding.rule === rule && finding.severity === 'error'),
      );
      if (!says) continue;
      const namespace = `${rule}-${index}`;
      test(`${fixture.name} stays Pending, and runs when it is fixed`, async (t) => {
        const claimed = await run(namespace, bundle, rule, ({ claims }) => claims.length > 0);
        assert.notEqual(claimed.length, 0, 'a pod that is said to stay Pending');
        for (const { name, outcome } of claimed)
          if ('why' in outcome) t.diagnostic(`${name}: ${outcome.why.slice(0, 200)}`);
        const wrong = claimed.flatMap(({ name, claims, outcome }) =>
          'node' in outcome ? [`${name} runs on ${outcome.node}, but: ${claims.join('; ')}`] : [],
        );
        assert.deepEqual(wrong, []);

        const fixed = fixedBundle(fixture);
        if (fixed === undefined) return;
        const names = new Set(claimed.map(({ name }) => name));
        const after = await run(
          `${namespace}-fixed`,
          fixed,
          rule,
          ({ name, claims }) => names.has(name) && claims.length === 0,
        );
        if (after.length === 0) return;
        // Some select a pool that is in no file: then what keeps them is no longer what was reported.
        const why = new Map(claimed.map(({ name, outcome }) => [name, 'why' in outcome ? outcome.why : '']));
        const same = after.flatMap(({ name, outcome }) =>
          'why' in outcome && outcome.why === why.get(name) ? [`${name}: ${outcome.why}`] : [],
        );
        assert.deepEqual(same, [], 'what was reported is no longer in the way');
        assert.ok(
          after.some(({ outcome }) => 'node' in outcome),
          'something that is fixed runs',
        );
      });
    }
  });
}

const emptyPool = 'nodepool-matches-no-instance';

/** Wants to be on a node of the pool, and takes any. */
function podFor(pool: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `for-${pool}` },
    spec: {
      nodeSelector: { 'karpenter.sh/nodepool': pool },
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'app', image: 'registry.example.com/app:1' }],
    },
  };
}

describe(`what ${emptyPool} says`, () => {
  let total = 0;
  for (const fixture of fixturesByRule().get(emptyPool) ?? []) {
    if (!fixture.name.startsWith('bad')) continue;
    test(`${fixture.name} launches nothing`, async (t) => {
      const claimed = piecesOf(fixtureBundle(fixture), emptyPool).pieces.filter(
        (piece) =>
          saidToBeRejected(piece) === undefined &&
          piece.findings.some(({ rule, severity }) => rule === emptyPool && severity === 'error'),
      );
      await removeNodes();
      const namespace = await lab.namespace(emptyPool);
      const wrong: string[] = [];
      for (const pool of poolsIn(claimed)) {
        const name = String(at(pool, 'metadata', 'name'));
        await apply(api, JSON.stringify(pool), namespace);
        await apply(api, JSON.stringify(podFor(name)), namespace);
        const outcome = await outcomeOf(namespace, `for-${name}`, true);
        total += 1;
        if ('node' in outcome) wrong.push(`NodePool ${name} launched ${outcome.node}`);
        else t.diagnostic(`${name}: ${outcome.why.slice(0, 200)}`);
      }
      await removePods(namespace);
      assert.deepEqual(wrong, []);
    });
  }
  test('pools were looked at', () => assert.ok(total > 3, `only ${total}`));
});
