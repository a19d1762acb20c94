import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import { poolOf } from '../../server/src/rules/placement/surroundings';
import { fit, prepareFit } from '../../server/src/sizing/nodes/fit';
import type { FitOptions } from '../../server/src/sizing/nodes/options';
import { readPod } from '../../server/src/sizing/nodes/read-pod';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';
import { at, type Api, type JsonObject, type KubeObject } from './lab/api';
import { spotShare, zones } from './lab/instance-types';
import { apply } from './lab/manifest';
import { conditionOf, deadlineMs, eventsOf, podPath, removeNode } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';

/**
 * Pods and NodePools that nobody wrote, as Karpenter and Plimsoll decide about them: the verdict, the pool, the types that
 * come into question, and the cheapest. Other cases each time; `PLIMSOLL_FIT_SEED` runs the same ones again, and
 * `PLIMSOLL_FIT_CASES` more of them.
 *
 * Not among them: `limits`, of which the simulated provider counts only what pods ask for, and `minValues`, which it never
 * finds met, since it has the labels of AWS on what is offered and not on the types.
 */

const seed = Number(process.env['PLIMSOLL_FIT_SEED'] ?? Date.now() % 1_000_000);
const count = Number(process.env['PLIMSOLL_FIT_CASES'] ?? 45);
/** Karpenter decides about this many pods at a time. */
const batch = 45;
/** Karpenter puts no more types than these, the cheapest, into a NodeClaim. */
const mostTypes = 60;

/** Mulberry32. */
function generator(state: number): () => number {
  let a = state >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Case {
  readonly id: string;
  readonly pools: readonly JsonObject[];
  readonly pod: JsonObject;
}

const kwok = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

function makeCase(id: string, random: () => number): Case {
  const chance = (share: number): boolean => random() < share;
  const one = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const some = <T>(from: readonly T[], most: number): readonly T[] => {
    const wanted = 1 + Math.floor(random() * most);
    return [...new Set(Array.from({ length: wanted }, () => one(from)))];
  };
  const prefix = 'karpenter.k8s.aws/instance-';
  const families = [
    'g4dn',
    'g5',
    'g6',
    'g6e',
    'p4d',
    'p5',
    'g5g',
    'g4ad',
    'inf2',
    'trn1',
    'm7i',
    'c7g',
    'r7i',
    'gr6',
  ];
  const requirement = (): JsonObject =>
    one<() => JsonObject>([
      () => ({ key: `${prefix}family`, operator: one(['In', 'In', 'NotIn']), values: some(families, 4) }),
      () => ({
        key: `${prefix}gpu-name`,
        operator: one(['In', 'NotIn']),
        values: some(['t4', 'a10g', 'l4', 'l40s', 'a100', 'h100'], 3),
      }),
      () => ({
        key: `${prefix}gpu-count`,
        operator: one(['Gt', 'Lt']),
        values: [one(['0', '1', '2', '4', '7'])],
      }),
      () => ({ key: `${prefix}gpu-count`, operator: 'In', values: some(['1', '2', '4', '8'], 2) }),
      () => ({
        key: `${prefix}gpu-memory`,
        operator: one(['Gt', 'Lt']),
        values: [one(['16000', '24000', '40000', '80000'])],
      }),
      () => ({
        key: `${prefix}gpu-manufacturer`,
        operator: one(['In', 'NotIn']),
        values: some(['nvidia', 'amd', 'aws'], 2),
      }),
      () => ({
        key: `${prefix}cpu`,
        operator: one(['Gt', 'Lt']),
        values: [one(['3', '7', '15', '31', '63', '95'])],
      }),
      () => ({
        key: `${prefix}cpu`,
        operator: one(['In', 'NotIn']),
        values: some(['4', '8', '16', '32', '48', '96', '192'], 4),
      }),
      () => ({
        key: `${prefix}memory`,
        operator: one(['Gt', 'Lt']),
        values: [one(['16383', '65535', '131071', '524287'])],
      }),
      () => ({
        key: `${prefix}generation`,
        operator: one(['Gt', 'Lt']),
        values: [one(['2', '4', '5', '6'])],
      }),
      () => ({
        key: `${prefix}category`,
        operator: one(['In', 'NotIn']),
        values: some(['g', 'p', 'm', 'c', 'r', 'inf', 'trn'], 3),
      }),
      () => ({
        key: `${prefix}size`,
        operator: one(['In', 'NotIn']),
        values: some(['xlarge', '2xlarge', '4xlarge', '12xlarge', '24xlarge', '48xlarge', 'metal'], 4),
      }),
      () => ({ key: `${prefix}hypervisor`, operator: 'In', values: ['nitro'] }),
      () => ({ key: `${prefix}local-nvme`, operator: one(['Exists', 'DoesNotExist']) }),
      () => ({ key: `${prefix}local-nvme`, operator: 'Gt', values: [one(['100', '900', '3000'])] }),
      () => ({ key: `${prefix}accelerator-count`, operator: one(['Exists', 'DoesNotExist']) }),
      () => ({
        key: 'kubernetes.io/arch',
        operator: one(['In', 'NotIn']),
        values: some(['amd64', 'arm64'], 2),
      }),
      () => ({
        key: 'topology.kubernetes.io/zone',
        operator: one(['In', 'NotIn']),
        values: some(['us-east-1a', 'us-east-1b', 'us-east-1c'], 2),
      }),
      () => ({
        key: 'karpenter.sh/capacity-type',
        operator: 'In',
        values: some(['spot', 'on-demand', 'reserved'], 2),
      }),
      () => ({
        key: 'node.kubernetes.io/instance-type',
        operator: one(['In', 'NotIn']),
        values: some(
          ['g5.xlarge', 'g5.12xlarge', 'g6.4xlarge', 'p5.48xlarge', 'g6e.12xlarge', 'inf2.24xlarge'],
          4,
        ),
      }),
    ])();
  const taints = (): readonly JsonObject[] =>
    some<JsonObject>(
      [
        { key: 'nvidia.com/gpu', effect: 'NoSchedule' },
        { key: 'nvidia.com/gpu', value: 'true', effect: 'NoExecute' },
        { key: 'team', value: 'ml', effect: 'NoSchedule' },
        { key: 'soft', effect: 'PreferNoSchedule' },
      ],
      2,
    );
  const tolerations = (): readonly JsonObject[] =>
    some<JsonObject>(
      [
        { key: 'nvidia.com/gpu', operator: 'Exists' },
        { key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'team', value: 'ml' },
        { key: 'team', operator: 'Equal', value: 'web', effect: 'NoSchedule' },
        { operator: 'Exists' },
      ],
      3,
    );
  const pool = (index: number): JsonObject => {
    const requirements = Array.from({ length: Math.floor(random() * 4) }, requirement);
    return {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: `${id}-${index}` },
      spec: {
        ...(chance(0.5) ? { weight: 1 + Math.floor(random() * 90) } : {}),
        template: {
          metadata: { labels: { case: id, ...(chance(0.3) ? { tier: one(['gold', 'silver']) } : {}) } },
          spec: {
            nodeClassRef: kwok,
            requirements,
            ...(chance(0.5) ? { taints: taints() } : {}),
            ...(chance(0.2) ? { startupTaints: [{ key: 'starting', effect: 'NoSchedule' }] } : {}),
          },
        },
      },
    };
  };
  const device = one([
    '',
    'nvidia.com/gpu',
    'nvidia.com/gpu',
    'nvidia.com/gpu',
    'aws.amazon.com/neuron',
    'amd.com/gpu',
  ]);
  const devices = device === '' ? {} : { [device]: String(one([1, 1, 1, 2, 4, 8])) };
  const resources = (): JsonObject => {
    const limits = {
      ...devices,
      ...(chance(0.1) ? { 'vpc.amazonaws.com/efa': String(one([1, 4, 32])) } : {}),
    };
    return {
      requests: {
        cpu: one(['250m', '1', '3', '7', '17', '40', '90', '190']),
        memory: one(['512Mi', '8Gi', '30Gi', '100Gi', '400Gi', '1000Gi']),
        ...(chance(0.2) ? { 'ephemeral-storage': one(['1Gi', '15Gi', '32Gi']) } : {}),
      },
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    };
  };
  const small = { requests: { cpu: one(['100m', '2', '6']), memory: one(['128Mi', '20Gi']) } };
  const helper = (name: string, sidecar: boolean): JsonObject => ({
    name,
    image: 'registry.k8s.io/pause:3.10',
    resources: small,
    ...(sidecar ? { restartPolicy: 'Always' } : {}),
  });
  const term = (): JsonObject => ({
    matchExpressions: Array.from({ length: 1 + Math.floor(random() * 2) }, requirement),
  });
  const terms = chance(0.35) ? [term(), ...(chance(0.4) ? [term()] : [])] : [];
  const selector = {
    case: id,
    ...(chance(0.12) ? { tier: one(['gold', 'silver']) } : {}),
    ...(chance(0.15) ? { 'topology.kubernetes.io/zone': one(['us-east-1a', 'us-east-1c']) } : {}),
    ...(chance(0.15) ? { 'kubernetes.io/arch': one(['amd64', 'arm64']) } : {}),
    ...(chance(0.1) ? { 'karpenter.sh/capacity-type': one(['spot', 'on-demand']) } : {}),
  };
  const initContainers = [
    ...(chance(0.25) ? [helper('init', false)] : []),
    ...(chance(0.25) ? [helper('sidecar', true)] : []),
  ];
  return {
    id,
    pools: Array.from({ length: chance(0.25) ? 2 : 1 }, (_, index) => pool(index)),
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: id },
      spec: {
        terminationGracePeriodSeconds: 0,
        nodeSelector: selector,
        // The first is what EKS adds to pods that ask for a device; the API server of the lab does not.
        tolerations: [
          ...(device === '' ? [] : [{ key: device, operator: 'Exists' }]),
          ...(chance(0.6) ? tolerations() : []),
        ],
        ...(terms.length === 0
          ? {}
          : {
              affinity: {
                nodeAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
                },
              },
            }),
        ...(initContainers.length === 0 ? {} : { initContainers }),
        containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10', resources: resources() }],
      },
    },
  };
}

/** What was decided: the pool, the types and the one that is taken. */
interface Decision {
  readonly kind: 'launched';
  readonly pool: string;
  readonly types: readonly string[];
  readonly launched: string;
}

interface Refusal {
  readonly kind: 'none';
  readonly why: string;
}

let lab: Lab;
let api: Api;
let namespace: string;

const nodePools = '/apis/karpenter.sh/v1/nodepools';
const nodeClaims = '/apis/karpenter.sh/v1/nodeclaims';

before(async () => {
  lab = useLab();
  api = lab.admin;
  await removeNodes();
  namespace = await lab.namespace('fit-random');
});

after(async () => {
  await lab.close();
  await removeNodes();
});

async function removeNodes(): Promise<void> {
  for (const { metadata } of await api.list(nodePools)) await api.delete(`${nodePools}/${metadata.name}`);
  await waitFor(
    'Karpenter takes its nodes away',
    async () => {
      const left = [...(await api.list(nodePools)), ...(await api.list(nodeClaims))];
      return left.length === 0 ? true : undefined;
    },
    deadlineMs,
  );
  for (const { metadata } of await api.list('/api/v1/nodes')) await removeNode(api, metadata.name);
}

function claimDecision(claim: KubeObject): Decision | undefined {
  const { labels } = claim.metadata as { readonly labels?: Readonly<Record<string, string>> };
  const requirements = (at(claim, 'spec', 'requirements') ?? []) as readonly JsonObject[];
  const types = requirements.find(({ key }) => key === 'node.kubernetes.io/instance-type');
  const launched = labels?.['node.kubernetes.io/instance-type'];
  const pool = labels?.['karpenter.sh/nodepool'];
  if (launched === undefined || pool === undefined || types?.['operator'] !== 'In') return undefined;
  return { kind: 'launched', pool, types: types['values'] as readonly string[], launched };
}

/** Asks Karpenter about cases that have nothing to do with each other. */
async function karpenters(cases: readonly Case[]): Promise<ReadonlyMap<string, Decision | Refusal>> {
  for (const { pools } of cases) for (const pool of pools) await apply(api, JSON.stringify(pool), namespace);
  // All pools are ready before the first pod is looked at.
  await waitFor(
    'the NodePools are ready',
    async () => {
      const ready = (await api.list(nodePools)).filter(
        (pool) => conditionOf(pool, 'Ready')?.['status'] === 'True',
      );
      return ready.length === cases.flatMap(({ pools }) => pools).length ? true : undefined;
    },
    deadlineMs,
  );
  for (const { pod } of cases) await apply(api, JSON.stringify(pod), namespace);
  const decided = new Map<string, Decision | Refusal>();
  await waitFor(
    'a decision about each pod',
    async () => {
      const claims = await api.list(nodeClaims);
      for (const { id, pools } of cases) {
        if (decided.has(id)) continue;
        const names = pools.map(({ metadata }) => (metadata as { readonly name: string }).name);
        const claim = claims.find(({ metadata }) =>
          names.some((name) => metadata.name.startsWith(`${name}-`)),
        );
        const decision = claim === undefined ? undefined : claimDecision(claim);
        if (decision !== undefined) decided.set(id, decision);
        else if (claim === undefined) {
          const events = await eventsOf(api, namespace, id);
          const why = events.find((event) => /^FailedScheduling: .*[Ff]ailed to schedule pod/.test(event));
          if (why !== undefined) {
            // What it says of the pools of other cases is no news.
            const own = why.split('; ').filter((part) => !part.includes('key case,'));
            decided.set(id, { kind: 'none', why: own.join('; ') });
          }
        }
      }
      return decided.size === cases.length ? true : undefined;
    },
    deadlineMs * 2,
    () =>
      `undecided: ${cases
        .filter(({ id }) => !decided.has(id))
        .map(({ id }) => id)
        .join(', ')}`,
  );
  for (const { id } of cases) await api.delete(podPath(namespace, id));
  await removeNodes();
  return decided;
}

/**
 * The conditions of the lab: these types and no others, of which no real node was seen, these zones, these prices, an API
 * server that adds no toleration.
 */
const conditions: FitOptions = {
  closed: true,
  discoveredMemory: false,
  zones,
  spotPriceFactor: spotShare,
  extendedResourceToleration: false,
};

const aws = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
const nodeClass = {
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: { role: 'nodes', amiSelectorTerms: [{ alias: 'al2023@latest' }] },
};

/** What Plimsoll says of the same manifests, with a node class of AWS in the place of the simulated one. */
function ours({ pools, pod }: Case): Decision | Refusal | 'unknown' {
  const uri = 'file:///case/all.yaml';
  const text = [nodeClass, ...pools, pod].map((object) => JSON.stringify(object)).join('\n---\n');
  const here = text.replaceAll(JSON.stringify(kwok), JSON.stringify(aws));
  const workspace = Workspace.empty.with(parseFile(uri, `${here}\n`));
  const all = workspace.resourcesOf(uri);
  const specs = all.filter(({ kind }) => kind === 'NodePool').map((pool) => poolOf(workspace, pool).spec);
  const [template] = all.filter(({ kind }) => kind === 'Pod').flatMap(podTemplates);
  assert.ok(template !== undefined && specs.length === pools.length, 'all of it is read');
  const { verdict, launch } = fit(prepareFit(specs, conditions), readPod(template));
  if (verdict === 'none') return { kind: 'none', why: 'no type of its pools will do' };
  const [cheapest] = launch?.candidates ?? [];
  if (launch === undefined || cheapest === undefined) return 'unknown';
  return {
    kind: 'launched',
    pool: launch.pool.name,
    types: launch.candidates.map(({ type }) => type.name),
    launched: cheapest.type.name,
  };
}

function difference(one: Case, karpenter: Decision | Refusal | undefined): string | undefined {
  const own = ours(one);
  if (karpenter === undefined) return 'Karpenter was not asked';
  if (own === 'unknown') return `Plimsoll does not know; Karpenter: ${said(karpenter)}`;
  if (own.kind === 'none' || karpenter.kind === 'none')
    return own.kind === karpenter.kind ? undefined : `Plimsoll: ${said(own)}; Karpenter: ${said(karpenter)}`;
  if (own.pool !== karpenter.pool)
    return `Plimsoll launches from ${own.pool}, Karpenter from ${karpenter.pool}`;
  const missing = karpenter.types.filter((type) => !own.types.includes(type));
  const more =
    karpenter.types.length >= mostTypes ? [] : own.types.filter((type) => !karpenter.types.includes(type));
  if (missing.length > 0 || more.length > 0)
    return `types that only Karpenter has: ${missing.join(' ')}; that only Plimsoll has: ${more.join(' ')}`;
  return own.launched === karpenter.launched
    ? undefined
    : `Plimsoll: ${own.launched} of ${own.types.join(' ')}, Karpenter: ${karpenter.launched}`;
}

function said(answer: Decision | Refusal): string {
  return answer.kind === 'none'
    ? `none (${answer.why})`
    : `${answer.launched} of ${answer.types.length}: ${answer.types.slice(0, 5).join(' ')}`;
}

test(`random pods and NodePools, seed ${seed}`, async (context) => {
  const random = generator(seed);
  const cases = Array.from({ length: count }, (_, index) => makeCase(`r${seed}-${index}`, random));
  const wrong: string[] = [];
  let launched = 0;
  for (let from = 0; from < cases.length; from += batch) {
    const some = cases.slice(from, from + batch);
    const decisions = await karpenters(some);
    for (const one of some) {
      const decision = decisions.get(one.id);
      if (decision?.kind === 'launched') launched += 1;
      const text = difference(one, decision);
      if (text !== undefined) wrong.push(`${one.id}: ${text}\n${JSON.stringify([...one.pools, one.pod])}`);
    }
  }
  context.diagnostic(`${cases.length} cases, of which Karpenter launched ${launched}`);
  assert.equal(
    wrong.length,
    0,
    `seed ${seed}: ${wrong.length} of ${cases.length} differ\n${wrong.join('\n')}`,
  );
  assert.ok(launched > cases.length / 8, `seed ${seed}: only ${launched} of ${cases.length} can run at all`);
});
