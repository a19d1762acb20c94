import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ruleMeta } from '../../server/src/engine/registry';
import {
  fixedBundle,
  fixtureBundle,
  fixturesByRule,
  hasUnknowns,
  piecesOf,
  type Bundle,
  type Piece,
} from './claims';
import { at, type Api, type JsonObject, type KubeObject } from './lab/api';
import { apply, objectsIn } from './lab/manifest';
import { conditionOf, conditionsText, deadlineMs, eventsOf, podPath, podsIn } from './lab/nodes-and-pods';
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
after(() => removePools(api));

/** The pools of a bundle, made for the nodes that the lab can launch. */
function poolsIn(pieces: readonly Piece[]): readonly JsonObject[] {
  return pieces
    .filter(({ role, placed }) => role === 'resource' && !hasUnknowns(placed.document.root))
    .flatMap(({ placed }) => objectsIn(placed.document.text).map(({ object }) => object))
    .filter(({ kind, apiVersion }) => kind === 'NodePool' && apiVersion === 'karpenter.sh/v1')
    .map((object) => {
      const spec = object['spec'] as JsonObject;
      const template = spec['template'] as JsonObject;
      const templateSpec = template['spec'] as JsonObject;
      const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
      return {
        ...object,
        spec: { ...spec, template: { ...template, spec: { ...templateSpec, nodeClassRef } } },
      };
    });
}

const nodePools = '/apis/karpenter.sh/v1/nodepools';
const nodeClaims = '/apis/karpenter.sh/v1/nodeclaims';

/** Takes all pools away, and waits until Karpenter has taken their nodes away. */
async function removePools(api: Api): Promise<void> {
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

/** What became of a pod: it has a node, or both the scheduler and Karpenter have said why it has none. */
type Outcome = { readonly node: string } | { readonly scheduler: string; readonly karpenter: string };

async function outcomeOf(namespace: string, name: string): Promise<Outcome> {
  let events: readonly string[] = [];
  let pod: JsonObject | undefined;
  return waitFor(
    `a decision on pod ${name}`,
    async () => {
      pod = await api.get(podPath(namespace, name));
      const node = at(pod, 'spec', 'nodeName');
      if (typeof node === 'string') return { node };
      const condition = conditionOf(pod, 'PodScheduled');
      events = await eventsOf(api, namespace, name);
      const karpenter = events.find((event) => /^FailedScheduling: .*[Ff]ailed to schedule pod/.test(event));
      return condition?.['reason'] === 'Unschedulable' && karpenter !== undefined
        ? { scheduler: String(condition['message']), karpenter }
        : undefined;
    },
    deadlineMs,
    () => `${conditionsText(pod)}\n${events.join('\n')}`,
  );
}

/** Runs a bundle; answers for each pod what was said of it and what became of it. */
async function run(
  namespace: string,
  bundle: Bundle,
  rule: string,
): Promise<readonly (Placed & { readonly outcome: Outcome })[]> {
  await removePools(api);
  await lab.namespace(namespace);
  const { pieces } = piecesOf(bundle, rule);
  for (const pool of poolsIn(pieces)) await apply(api, JSON.stringify(pool), namespace);
  const placed = await placePods(namespace, pieces);
  const outcomes = [];
  for (const each of placed) {
    if (each.claims.length === 0) continue;
    outcomes.push({ ...each, outcome: await outcomeOf(namespace, each.name) });
  }
  return outcomes;
}

async function removePods(namespace: string): Promise<void> {
  for (const { metadata } of await podsIn(api, namespace)) {
    await api.send('DELETE', podPath(namespace, metadata.name), { body: { gracePeriodSeconds: 0 } });
  }
}

/** After a fix, the pods of which something was said before, in order. */
async function fixedOutcomes(
  namespace: string,
  bundle: Bundle,
  rule: string,
  names: readonly string[],
): Promise<readonly { readonly name: string; readonly outcome: Outcome }[]> {
  await removePools(api);
  await lab.namespace(namespace);
  const { pieces } = piecesOf(bundle, rule);
  for (const pool of poolsIn(pieces)) await apply(api, JSON.stringify(pool), namespace);
  const still = (await placePods(namespace, pieces)).filter(({ claims }) => claims.length > 0);
  const outcomes = [];
  for (const name of names) {
    if (still.some((each) => each.name === name)) continue;
    outcomes.push({ name, outcome: await outcomeOf(namespace, name) });
  }
  return outcomes;
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
      test(`${fixture.name} stays Pending, and runs when it is fixed`, async () => {
        const claimed = await run(namespace, bundle, rule);
        await removePods(namespace);
        const wrong = claimed.flatMap(({ name, claims, outcome }) =>
          'node' in outcome ? [`${name} runs on ${outcome.node}, but: ${claims.join('; ')}`] : [],
        );
        assert.deepEqual(wrong, []);
        const fixed = fixedBundle(fixture);
        if (fixed === undefined) return;
        const names = claimed.map(({ name }) => name);
        const outcomes = await fixedOutcomes(`${namespace}-fixed`, fixed, rule, names);
        await removePods(`${namespace}-fixed`);
        const pending = outcomes.flatMap(({ name, outcome }) =>
          'node' in outcome ? [] : [`${name}: ${outcome.karpenter} | ${outcome.scheduler}`],
        );
        assert.deepEqual(pending, [], 'what is fixed has a node');
      });
    }
  });
}
