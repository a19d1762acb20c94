import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { explain, requirementEffects } from '../../server/src/sizing/nodes/explain';
import type { Exclusion, PoolExplanation } from '../../server/src/sizing/nodes/explain';
import type { FitOptions } from '../../server/src/sizing/nodes/options';
import type { PodSpec } from '../../server/src/sizing/nodes/pod';
import { allocatableIn, fit, poolCandidates, prepareFit } from '../../server/src/sizing/nodes/fit';
import type { Fit } from '../../server/src/sizing/nodes/fit';
import { findInstanceType } from '../../server/src/sizing/nodes/instances';
import type { NodeGroupSpec, NodePoolSpec, PoolSpec } from '../../server/src/sizing/nodes/pool';
import type { RequirementSpec } from '../../server/src/kube/value-set';
import { recordedUnder } from '../vectors/data/fit';
import { recordedCases } from '../vectors/data/fit-cases';
import { assumed, difference, run } from '../vectors/fit';

const karpenter = 'karpenter.k8s.aws/';

function need(key: string, operator: string, ...values: string[]): RequirementSpec {
  return { key, operator, values };
}

const al2023 = { kind: 'EC2NodeClass', spec: { amiFamily: 'AL2023' }, reservations: false } as const;

function pool(requirements: readonly RequirementSpec[], more: Partial<NodePoolSpec> = {}): NodePoolSpec {
  return { kind: 'node-pool', name: 'gpu', provider: 'karpenter', requirements, nodeClass: al2023, ...more };
}

function pod(requests: Readonly<Record<string, unknown>>, more: Partial<PodSpec> = {}): PodSpec {
  return { resources: { containers: [{ requests }] }, ...more };
}

function ask(pools: PoolSpec | readonly PoolSpec[], asked: PodSpec, options: FitOptions = {}): Fit {
  return fit(
    prepareFit(Array.isArray(pools) ? (pools as readonly PoolSpec[]) : [pools as PoolSpec], options),
    asked,
  );
}

function names(answer: Fit): readonly string[] {
  return answer.launch?.candidates.map(({ type }) => type.name) ?? [];
}

function why(spec: PoolSpec, asked: PodSpec, options: FitOptions = {}): PoolExplanation {
  const [explanation] = explain(prepareFit([spec], options), asked);
  assert.ok(explanation);
  return explanation;
}

function kinds(exclusions: readonly Exclusion[]): readonly string[] {
  return exclusions.map((exclusion) =>
    exclusion.kind === 'resource' || exclusion.kind === 'limit'
      ? `${exclusion.kind} ${exclusion.resource}`
      : exclusion.kind === 'label' || exclusion.kind === 'requirement' || exclusion.kind === 'min-values'
        ? `${exclusion.kind} ${exclusion.key}`
        : exclusion.kind,
  );
}

const category = (...values: string[]): RequirementSpec =>
  need(`${karpenter}instance-category`, 'In', ...values);
const family = (...values: string[]): RequirementSpec => need(`${karpenter}instance-family`, 'In', ...values);
const types = (...values: string[]): RequirementSpec =>
  need('node.kubernetes.io/instance-type', 'In', ...values);

describe('recorded answers of Karpenter', () => {
  const options = assumed(recordedUnder);
  test('are 150', () => assert.equal(recordedCases.length, 150));
  for (const one of recordedCases) {
    test(`case ${one.id}`, () => assert.equal(difference(one, options), undefined));
  }

  test('a case that differs is printed', async () => {
    const result = await run(
      {
        meta: { assumes: recordedUnder },
        cases: [
          {
            id: 'x',
            nodepool: {
              requirements: [
                { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['g5.xlarge'] },
              ],
            },
            pod: { containers: [{ resources: { requests: { 'nvidia.com/gpu': '1' } } }] },
            answer: { result: 'launched', type: 'g6.xlarge', capacity: 'spot', candidates: ['g6.xlarge'] },
          },
        ],
      },
      [],
    );
    assert.equal(result.summary, '0 of 1');
    assert.deepEqual(result.differences, [
      'case x: type g6.xlarge expected, g5.xlarge computed; candidates missing: g6.xlarge; candidates too many: g5.xlarge',
    ]);
  });
});

describe('fit', () => {
  test('names the types that will do, cheapest first', () => {
    const answer = ask(pool([family('g5', 'g6')]), pod({ cpu: '4', memory: '30Gi', 'nvidia.com/gpu': 1 }));
    assert.equal(answer.verdict, 'fits');
    const prices = answer.launch?.candidates.map(({ onDemandPrice }) => onDemandPrice ?? 0) ?? [];
    assert.deepEqual(
      prices,
      prices.toSorted((a, b) => a - b),
    );
    assert.equal(names(answer)[0], 'g6.4xlarge');
    assert.ok(!names(answer).includes('g5.xlarge'), 'an xlarge has less than 4 CPUs to give');
  });

  test('chooses spot where it is allowed, and knows its price only when told', () => {
    const both = ask(pool([types('g5.xlarge')]), pod({ cpu: '1' }));
    assert.deepEqual(
      [both.launch?.candidates[0]?.capacityType, both.launch?.candidates[0]?.price],
      ['spot', undefined],
    );
    const cheap = ask(pool([types('g5.xlarge')]), pod({ cpu: '1' }), { spotPriceFactor: 0.5 });
    assert.equal(cheap.launch?.candidates[0]?.price, 1.006 * 0.5);
    const onDemand = pool([types('g5.xlarge'), need('karpenter.sh/capacity-type', 'In', 'on-demand')]);
    const [candidate] = ask(onDemand, pod({ cpu: '1' })).launch?.candidates ?? [];
    assert.deepEqual([candidate?.capacityType, candidate?.price], ['on-demand', 1.006]);
  });

  test('the pod can narrow the capacity type', () => {
    const asked = pod({ cpu: '1' }, { nodeSelector: { 'karpenter.sh/capacity-type': 'on-demand' } });
    assert.equal(ask(pool([types('g5.xlarge')]), asked).launch?.candidates[0]?.capacityType, 'on-demand');
    const spotOnly = pool([types('g5.xlarge'), need('karpenter.sh/capacity-type', 'In', 'spot')]);
    assert.equal(ask(spotOnly, asked).verdict, 'none');
    assert.deepEqual(kinds(why(spotOnly, asked).exclusions), ['label karpenter.sh/capacity-type']);
  });

  test('the heavier pool is taken, of equal ones the later in the alphabet', () => {
    const pools = [
      pool([family('g5')], { name: 'a', weight: 10 }),
      pool([family('g6')], { name: 'b' }),
      pool([family('g6e')], { name: 'c' }),
    ];
    const asked = pod({ 'nvidia.com/gpu': 1 });
    assert.equal(ask(pools, asked).launch?.pool.name, 'a');
    assert.deepEqual(
      ask(pools, asked).pools.map((one) => one.pool.name),
      ['a', 'c', 'b'],
    );
    assert.equal(
      ask(pools, pod({ 'nvidia.com/gpu': 1 }, { nodeSelector: { 'karpenter.sh/nodepool': 'b' } })).launch
        ?.pool.name,
      'b',
    );
  });

  test('alternatives of the affinity are tried in order, over all pools', () => {
    const pools = [pool([family('g5')], { name: 'a' }), pool([family('g6')], { name: 'b' })];
    const asked = pod(
      { 'nvidia.com/gpu': 1 },
      {
        requiredTerms: [
          { matchExpressions: [need(`${karpenter}instance-gpu-name`, 'In', 'l40s')] },
          { matchExpressions: [need(`${karpenter}instance-gpu-name`, 'In', 'a10g')] },
          { matchExpressions: [need(`${karpenter}instance-gpu-name`, 'In', 'l4')] },
        ],
      },
    );
    const answer = ask(pools, asked);
    assert.equal(answer.launch?.pool.name, 'a');
    assert.deepEqual(
      answer.pools.map(({ verdict }) => verdict),
      ['fits', 'fits'],
    );
  });

  test('a term without expressions matches no node', () => {
    assert.equal(ask(pool([family('g5')]), pod({ cpu: 1 }, { requiredTerms: [{}] })).verdict, 'none');
  });

  test('a preference is required until nothing satisfies it', () => {
    const wish = (name: string): PodSpec =>
      pod(
        { 'nvidia.com/gpu': 1 },
        {
          preferredTerms: [
            { weight: 1, term: { matchExpressions: [need(`${karpenter}instance-gpu-name`, 'In', name)] } },
          ],
        },
      );
    const open = pool([family('g5', 'g6')]);
    assert.ok(names(ask(open, wish('a10g'))).every((name) => name.startsWith('g5.')));
    assert.ok(names(ask(open, wish('h100'))).some((name) => name.startsWith('g6.')));
  });

  test('a taint PreferNoSchedule is avoided, not obeyed', () => {
    const shunned = pool([family('g5')], { name: 'z', taints: [{ key: 'x', effect: 'PreferNoSchedule' }] });
    const other = pool([family('g6')], { name: 'a' });
    assert.equal(ask([shunned, other], pod({ 'nvidia.com/gpu': 1 })).launch?.pool.name, 'a');
    assert.equal(ask(shunned, pod({ 'nvidia.com/gpu': 1 })).verdict, 'fits');
  });

  test('startup taints keep no pod off, other taints do', () => {
    const startup = pool([family('g5')], { startupTaints: [{ key: 'x', effect: 'NoSchedule' }] });
    assert.equal(ask(startup, pod({ cpu: 1 })).verdict, 'fits');
    const tainted = pool([family('g5')], { taints: [{ key: 'x', effect: 'NoExecute' }] });
    assert.equal(ask(tainted, pod({ cpu: 1 })).verdict, 'none');
    assert.deepEqual(why(tainted, pod({ cpu: 1 })).exclusions, [
      { kind: 'taint', taint: { key: 'x', effect: 'NoExecute' } },
    ]);
  });

  test('EKS adds the toleration of the extended resource', () => {
    const tainted = pool([family('g5')], { taints: [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }] });
    assert.equal(ask(tainted, pod({ 'nvidia.com/gpu': 1 })).verdict, 'fits');
    assert.equal(ask(tainted, pod({ cpu: 1 })).verdict, 'none');
    assert.equal(
      ask(tainted, pod({ 'nvidia.com/gpu': 1 }), { extendedResourceToleration: false }).verdict,
      'none',
    );
  });

  test('volumes pin the zone', () => {
    const oneZone = pool([family('g5'), need('topology.kubernetes.io/zone', 'In', 'us-west-2a')]);
    const asked = (...volumeZones: string[][]): PodSpec => pod({ cpu: 1 }, { volumeZones });
    assert.equal(ask(oneZone, asked(['us-west-2a', 'us-west-2b'])).verdict, 'fits');
    assert.equal(ask(oneZone, asked(['us-west-2b'])).verdict, 'none');
    const [exclusion] = why(oneZone, asked(['us-west-2b'])).exclusions;
    assert.deepEqual(exclusion, {
      kind: 'label',
      key: 'topology.kubernetes.io/zone',
      asked: [{ source: 'volume', key: 'topology.kubernetes.io/zone' }],
      wants: 'in [us-west-2b]',
      poolHas: 'in [us-west-2a]',
    });
    const zones = ['us-west-2a', 'us-west-2b'];
    assert.equal(ask(pool([family('g5')]), asked(['us-west-2a'], ['us-west-2b']), { zones }).verdict, 'none');
    assert.equal(ask(pool([family('g5')]), asked(['us-east-1a']), { zones }).verdict, 'none');
  });

  test('a required topology key must be on the nodes', () => {
    const asked = (key: string): PodSpec => pod({ cpu: 1 }, { topologyKeys: [key] });
    assert.equal(ask(pool([family('g5')]), asked('topology.kubernetes.io/zone')).verdict, 'fits');
    assert.equal(ask(pool([family('g5')]), asked('example.com/rack')).verdict, 'none');
    assert.equal(
      ask(pool([family('g5')], { labels: { 'example.com/rack': 'r1' } }), asked('example.com/rack')).verdict,
      'fits',
    );
  });

  test('limits hold against the capacity of one new node', () => {
    const limited = (limits: Readonly<Record<string, string>>): NodePoolSpec =>
      pool([family('g5')], { limits });
    assert.deepEqual(names(ask(limited({ cpu: '8' }), pod({ 'nvidia.com/gpu': 1 }))), [
      'g5.xlarge',
      'g5.2xlarge',
    ]);
    assert.equal(ask(limited({ 'nvidia.com/gpu': '0' }), pod({ cpu: '1' })).verdict, 'none');
    assert.equal(ask(limited({ nodes: '0' }), pod({ cpu: '1' })).verdict, 'none');
    assert.equal(ask(limited({ cpu: '{{ .Values.cpu }}' }), pod({ cpu: '1' })).verdict, 'unknown');
    assert.deepEqual(why(limited({ cpu: '2' }), pod({ cpu: '1' })).exclusions, [
      { kind: 'limit', resource: 'cpu', limit: 2000, smallest: 4000, type: 'g5.xlarge' },
    ]);
  });

  test('minValues must be left over', () => {
    const flexible = (minValues: number): NodePoolSpec => pool([{ ...family('g5', 'g6', 'g6e'), minValues }]);
    const eight = pod({ 'nvidia.com/gpu': 8 });
    assert.equal(ask(flexible(3), eight).verdict, 'fits');
    assert.equal(ask(flexible(4), eight).verdict, 'none');
    assert.equal(ask(flexible(4), eight, { minValuesPolicy: 'BestEffort' }).verdict, 'fits');
    assert.deepEqual(kinds(why(flexible(4), eight).exclusions), [`min-values ${karpenter}instance-family`]);
  });

  test('DaemonSets take room on the nodes that they match', () => {
    const exact = pool([types('g5.xlarge')]);
    const asked = pod({ cpu: '3900m' });
    const agent = (more: Partial<PodSpec> = {}): FitOptions => ({ daemonSets: [pod({ cpu: '100m' }, more)] });
    assert.equal(ask(exact, asked).verdict, 'fits');
    assert.equal(ask(exact, asked, agent()).verdict, 'none');
    assert.equal(
      ask(exact, asked, agent({ nodeSelector: { [`${karpenter}instance-family`]: 'g6' } })).verdict,
      'fits',
    );
    const tainted = pool([types('g5.xlarge')], { taints: [{ key: 'x', effect: 'NoSchedule' }] });
    assert.equal(ask(tainted, { ...asked, tolerations: [{ operator: 'Exists' }] }, agent()).verdict, 'fits');
    const [exclusion] = why(exact, asked, agent()).exclusions;
    assert.deepEqual(exclusion, {
      kind: 'resource',
      resource: 'cpu',
      requested: 3900,
      available: 3820,
      type: 'g5.xlarge',
      types: ['g5.xlarge'],
      daemonSets: 100,
    });
    // Pods are a resource as well.
    const few = pool([types('g5.xlarge')], {
      nodeClass: {
        kind: 'EC2NodeClass',
        spec: { amiFamily: 'AL2023', kubelet: { maxPods: 1 } },
        reservations: false,
      },
    });
    assert.equal(ask(few, pod({ cpu: '1' }), agent()).verdict, 'none');
  });

  test('equal pods are answered once and different ones are not mixed up', () => {
    const context = prepareFit([pool([family('g5')])]);
    assert.equal(fit(context, pod({ 'nvidia.com/gpu': 1 })), fit(context, pod({ 'nvidia.com/gpu': 1 })));
    assert.equal(fit(context, pod({ 'nvidia.com/gpu': 8 })).launch?.candidates.length, 1);
    assert.equal(fit(context, pod({ 'nvidia.com/gpu': 9 })).verdict, 'none');
  });
});

describe('what cannot be known', () => {
  test('a family without figures makes a CPU pod unknown and a GPU pod none', () => {
    const graviton = pool([family('c7gn')]);
    const answer = ask(graviton, pod({ cpu: '4' }));
    assert.equal(answer.verdict, 'unknown');
    assert.deepEqual(answer.pools[0]?.possible, ['c7gn.*']);
    assert.equal(ask(graviton, pod({ 'nvidia.com/gpu': 1 })).verdict, 'none');
    assert.equal(
      ask(graviton, pod({ cpu: '4' }, { nodeSelector: { 'kubernetes.io/arch': 'amd64' } })).verdict,
      'none',
    );
    assert.equal(ask(pool([types('c7gn.4xlarge')]), pod({ cpu: '4' })).verdict, 'unknown');
  });

  test('a value that nothing carries may name a newer type, unless no type could be so named', () => {
    const asked = pod({ 'nvidia.com/gpu': 16 });
    assert.equal(ask(pool([family('g5', 'g9')]), asked).verdict, 'unknown');
    assert.equal(ask(pool([family('g5')]), asked).verdict, 'none');
    assert.equal(
      ask(pool([family('g5', 'g9')]), { ...asked, nodeSelector: { [`${karpenter}instance-family`]: 'g5' } })
        .verdict,
      'none',
    );
    assert.equal(
      ask(pool([need(`${karpenter}instance-gpu-name`, 'In', 'L40S')]), pod({ cpu: 1 })).verdict,
      'none',
    );
    assert.equal(ask(pool([types('g5.3xlarge')]), pod({ cpu: 1 })).verdict, 'unknown');
  });

  test('without its NodeClass a pool may have larger disks', () => {
    const loose = pool([family('g5')], { nodeClass: { kind: 'unknown' } });
    assert.equal(ask(loose, pod({ 'ephemeral-storage': '10Gi' })).verdict, 'fits');
    assert.equal(ask(loose, pod({ 'ephemeral-storage': '100Gi' })).verdict, 'unknown');
    assert.equal(ask(pool([family('g5')]), pod({ 'ephemeral-storage': '100Gi' })).verdict, 'none');
  });

  test('memory between the guess and what nodes were seen to have is unknown', () => {
    const exact = pool([types('g5.xlarge')]);
    const bounds = allocatableIn(prepareFit([exact]), 'gpu', 'g5.xlarge');
    assert.ok(bounds);
    const [least, most] = [bounds.least['memory'] ?? 0, bounds.most['memory'] ?? 0];
    assert.ok(least < most);
    const asked = (bytes: number): PodSpec => pod({ memory: String(bytes) });
    assert.equal(ask(exact, asked(least)).verdict, 'fits');
    assert.equal(ask(exact, asked(least + 1)).verdict, 'unknown');
    assert.equal(ask(exact, asked(least + 1), { discoveredMemory: false }).verdict, 'none');
    assert.equal(ask(exact, asked(most + 1)).verdict, 'none');
  });

  test('values that cannot be read leave everything open that they could allow', () => {
    const templated = pool([family('g5')], { unknownKeys: [`${karpenter}instance-size`] });
    assert.equal(ask(templated, pod({ 'nvidia.com/gpu': 1 })).verdict, 'unknown');
    assert.equal(ask(templated, pod({ 'nvidia.com/gpu': 9 })).verdict, 'none');
    const label = pool([family('g5')], { unknownKeys: ['team'] });
    assert.equal(ask(label, pod({ cpu: 1 })).verdict, 'fits');
    assert.equal(ask(label, pod({ cpu: 1 }, { nodeSelector: { team: 'ml' } })).verdict, 'unknown');
    assert.equal(ask(pool([family('g5')]), pod({ cpu: 1 }, { unknownKeys: ['team'] })).verdict, 'unknown');
    assert.equal(ask(pool([family('g5')]), pod({ cpu: '${CPU}' })).verdict, 'unknown');
    assert.equal(ask(pool([family('g5')], { incomplete: true }), pod({ cpu: 1 })).verdict, 'unknown');
    assert.equal(ask(pool([family('g5')]), pod({ cpu: 1 }, { incomplete: true })).verdict, 'unknown');
    assert.equal(
      ask(pool([family('g5')], { incomplete: true }), pod({ 'nvidia.com/gpu': 9 })).verdict,
      'none',
    );
  });

  test('labels of Karpenter whose values are not in the catalogue are unknown', () => {
    const asked = pod(
      { cpu: 1 },
      { nodeSelector: { [`${karpenter}instance-encryption-in-transit-supported`]: 'true' } },
    );
    assert.equal(ask(pool([family('g5')]), asked).verdict, 'unknown');
  });

  test('a reservation that nobody sees is unknown, and none where the NodeClass selects none', () => {
    const reserved = (reservations: boolean): NodePoolSpec =>
      pool([family('g5'), need('karpenter.sh/capacity-type', 'In', 'reserved')], {
        nodeClass: { kind: 'EC2NodeClass', spec: { amiFamily: 'AL2023' }, reservations },
      });
    assert.equal(ask(reserved(true), pod({ cpu: 1 })).verdict, 'unknown');
    assert.equal(ask(reserved(false), pod({ cpu: 1 })).verdict, 'none');
  });

  test('a static pool fits only where each of its types would do', () => {
    const fixed = (...values: string[]): NodePoolSpec =>
      pool([types(...values)], { replicas: 2, limits: { nodes: '2' } });
    assert.equal(ask(fixed('g5.2xlarge'), pod({ cpu: '7' })).verdict, 'fits');
    assert.equal(ask(fixed('g5.xlarge', 'g5.2xlarge'), pod({ cpu: '7' })).verdict, 'unknown');
    assert.equal(ask(fixed('g5.xlarge'), pod({ cpu: '7' })).verdict, 'none');
  });

  test('resources that a NodeOverlay may add are open', () => {
    const asked = pod({ 'nvidia.com/gpu.shared': 4 });
    assert.equal(ask(pool([family('g5')]), asked).verdict, 'none');
    assert.equal(
      ask(pool([family('g5')]), asked, { overlayResources: ['nvidia.com/gpu.shared'] }).verdict,
      'unknown',
    );
  });

  test('Windows needs its AMI family', () => {
    const asked = pod({ cpu: 1 }, { nodeSelector: { 'kubernetes.io/os': 'windows' } });
    const windows = {
      kind: 'EC2NodeClass',
      spec: { amiFamily: 'Windows2022' },
      reservations: false,
    } as const;
    assert.equal(ask(pool([family('m5')], { nodeClass: windows }), asked).verdict, 'fits');
    assert.equal(ask(pool([family('m5')]), asked).verdict, 'none');
    assert.equal(ask(pool([family('m5')], { nodeClass: { kind: 'unknown' } }), asked).verdict, 'unknown');
  });
});

describe('EKS Auto Mode', () => {
  const auto = (requirements: readonly RequirementSpec[], more: Partial<NodePoolSpec> = {}): NodePoolSpec =>
    pool(requirements, {
      provider: 'auto-mode',
      nodeClassRef: { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' },
      nodeClass: { kind: 'NodeClass', spec: {}, reservations: false },
      ...more,
    });
  const gpus = need('eks.amazonaws.com/instance-gpu-name', 'In', 'l40s');

  test('has labels of its own', () => {
    assert.ok(
      names(ask(auto([gpus]), pod({ 'nvidia.com/gpu': 1 }))).every((name) => name.startsWith('g6e.')),
    );
    const selector = { 'eks.amazonaws.com/compute-type': 'auto', 'eks.amazonaws.com/instance-family': 'g6e' };
    assert.equal(ask(auto([gpus]), pod({ 'nvidia.com/gpu': 1 }, { nodeSelector: selector })).verdict, 'fits');
    assert.equal(ask(pool([family('g6e')]), pod({ cpu: 1 }, { nodeSelector: selector })).verdict, 'none');
  });

  test('labels of the open source provider have no known meaning there', () => {
    assert.equal(ask(auto([family('g6e')]), pod({ cpu: 1 })).verdict, 'unknown');
    const asked = pod({ cpu: 1 }, { nodeSelector: { [`${karpenter}instance-family`]: 'g6e' } });
    assert.equal(ask(auto([gpus]), asked).verdict, 'unknown');
  });

  test('sizes that EKS does not document are doubted, not excluded', () => {
    assert.equal(ask(auto([types('t3.small')]), pod({ cpu: '500m' })).verdict, 'unknown');
  });

  test('the disk is 80 GiB or the local disks, unless the NodeClass says otherwise', () => {
    const small = auto([types('m5.large')]);
    assert.equal(ask(small, pod({ 'ephemeral-storage': '60Gi' })).verdict, 'fits');
    assert.equal(ask(small, pod({ 'ephemeral-storage': '100Gi' })).verdict, 'none');
    assert.equal(ask(auto([gpus]), pod({ 'ephemeral-storage': '200Gi' })).verdict, 'unknown');
    const large = auto([types('m5.large')], {
      nodeClass: { kind: 'NodeClass', spec: { ephemeralStorage: '500Gi' }, reservations: false },
    });
    assert.equal(ask(large, pod({ 'ephemeral-storage': '400Gi' })).verdict, 'fits');
  });
});

describe('node groups', () => {
  const group = (more: Partial<NodeGroupSpec> = {}): NodeGroupSpec => ({
    kind: 'node-group',
    name: 'ng',
    instanceTypes: ['g5.xlarge', 'g5.2xlarge'],
    ...more,
  });

  test('offer their types at the price of their capacity', () => {
    const answer = ask(group({ spot: true }), pod({ cpu: '6', 'nvidia.com/gpu': 1 }));
    assert.deepEqual(names(answer), ['g5.2xlarge']);
    assert.equal(answer.launch?.candidates[0]?.capacityType, 'spot');
    assert.equal(ask(group(), pod({ 'nvidia.com/gpu': 2 })).verdict, 'none');
  });

  test('carry the labels that EKS and eksctl give, and none of Karpenter', () => {
    const select = (nodeSelector: Readonly<Record<string, string>>): string =>
      ask(group({ labels: { team: 'ml' }, zones: ['eu-west-1a'] }), pod({ cpu: 1 }, { nodeSelector }))
        .verdict;
    assert.equal(
      select({ 'eks.amazonaws.com/nodegroup': 'ng', 'eks.amazonaws.com/capacityType': 'ON_DEMAND' }),
      'fits',
    );
    assert.equal(select({ team: 'ml' }), 'fits');
    assert.equal(select({ team: 'web' }), 'none');
    assert.equal(select({ 'topology.kubernetes.io/zone': 'eu-west-1b' }), 'none');
    assert.equal(select({ 'node.kubernetes.io/instance-type': 'g5.2xlarge' }), 'fits');
    assert.equal(select({ 'karpenter.sh/capacity-type': 'on-demand' }), 'none');
    // GPU Feature Discovery and others label nodes that exist.
    assert.equal(select({ 'nvidia.com/gpu.product': 'NVIDIA-A10G' }), 'unknown');
  });

  test('types that are chosen otherwise leave the answer open', () => {
    assert.equal(ask(group({ instanceTypes: [] }), pod({ cpu: 1 })).verdict, 'unknown');
  });

  test('memory that was measured is known, and more than Karpenter guesses', () => {
    const bounds = allocatableIn(prepareFit([group()]), 'ng', 'g5.xlarge');
    const guess = allocatableIn(prepareFit([pool([family('g5')])]), 'gpu', 'g5.xlarge');
    assert.ok((bounds?.least['memory'] ?? 0) > (guess?.least['memory'] ?? 0));
  });
});

describe('explain', () => {
  test('four faults of one manifest are four exclusions', () => {
    const g4dn = pool([types('g4dn.2xlarge', 'g4dn.4xlarge')], {
      taints: [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }],
    });
    const asked = pod(
      { cpu: '17', memory: '16Gi', 'ephemeral-storage': '32Gi', 'nvidia.com/gpu': 2 },
      { nodeSelector: { 'karpenter.k8s.aws/instance-gpu-type': 't4' } },
    );
    assert.equal(ask(g4dn, asked).verdict, 'none');
    const { exclusions, nearest } = why(g4dn, asked);
    assert.deepEqual(kinds(exclusions), [
      'label karpenter.k8s.aws/instance-gpu-type',
      'resource cpu',
      'resource ephemeral-storage',
      'resource nvidia.com/gpu',
    ]);
    assert.deepEqual(exclusions[3], {
      kind: 'resource',
      resource: 'nvidia.com/gpu',
      requested: 2,
      available: 1,
      type: 'g4dn.2xlarge',
      types: ['g4dn.2xlarge', 'g4dn.4xlarge'],
      daemonSets: 0,
    });
    assert.equal(nearest?.type.name, 'g4dn.4xlarge');
    assert.deepEqual(
      nearest.shortages.map(
        (shortage) => shortage.kind === 'resource' && [shortage.resource, shortage.available],
      ),
      [
        ['cpu', 15890],
        ['ephemeral-storage', 17 * 2 ** 30],
        ['nvidia.com/gpu', 1],
      ],
    );
  });

  test('AMD GPUs and slices are no nvidia.com/gpu, and Graviton is not amd64', () => {
    for (const name of ['g4ad', 'g6f', 'gr6f']) {
      const { exclusions } = why(pool([family(name)]), pod({ 'nvidia.com/gpu': 1 }));
      assert.deepEqual(kinds(exclusions), ['resource nvidia.com/gpu'], name);
      assert.equal(exclusions[0]?.kind === 'resource' && exclusions[0].type, undefined);
    }
    const amd64 = pod({ 'nvidia.com/gpu': 1 }, { nodeSelector: { 'kubernetes.io/arch': 'amd64' } });
    const [exclusion] = why(pool([family('g5g')]), amd64).exclusions;
    assert.deepEqual(exclusion, {
      kind: 'requirement',
      key: 'kubernetes.io/arch',
      asked: [{ source: 'nodeSelector', key: 'kubernetes.io/arch' }],
      wants: 'in [amd64]',
      typesHave: ['arm64'],
    });
  });

  test('a MIG profile is offered by no type', () => {
    const { exclusions } = why(pool([family('p4d')]), pod({ 'nvidia.com/mig-1g.5gb': 1 }));
    assert.deepEqual(kinds(exclusions), ['resource nvidia.com/mig-1g.5gb']);
  });

  test('the key as the pod writes it is kept', () => {
    const asked = pod({ cpu: 1 }, { nodeSelector: { 'beta.kubernetes.io/arch': 'arm64' } });
    const [exclusion] = why(pool([family('g5')]), asked).exclusions;
    assert.ok(exclusion?.kind === 'requirement');
    assert.deepEqual(exclusion.asked, [{ source: 'nodeSelector', key: 'beta.kubernetes.io/arch' }]);
    assert.equal(exclusion.key, 'kubernetes.io/arch');
  });

  test('reasons that only together exclude every type leave the nearest type', () => {
    // A g5.xlarge has one GPU and too few CPUs, a c5 has the CPUs and no GPU.
    const mixed = pool([types('g5.xlarge', 'c5.4xlarge')]);
    const asked = pod({ cpu: '8', 'nvidia.com/gpu': 1 });
    assert.equal(ask(mixed, asked).verdict, 'none');
    const { exclusions, nearest } = why(mixed, asked);
    assert.deepEqual(exclusions, []);
    assert.equal(nearest?.type.name, 'g5.xlarge');
    assert.deepEqual(nearest.shortages, [
      { kind: 'resource', resource: 'cpu', requested: 8000, available: 3920 },
    ]);
  });

  test('the alternative of the affinity with the fewest reasons is explained', () => {
    const asked = pod(
      { 'nvidia.com/gpu': 9 },
      {
        requiredTerms: [
          { matchExpressions: [need('example.com/a', 'Exists'), need('example.com/b', 'Exists')] },
          { matchExpressions: [need(`${karpenter}instance-family`, 'In', 'g5')] },
        ],
      },
    );
    const { term, exclusions } = why(pool([family('g5')]), asked);
    assert.equal(term, 1);
    assert.deepEqual(kinds(exclusions), ['resource nvidia.com/gpu']);
  });

  test('a pool that admits no type names the key to look at', () => {
    const contradictory = pool([
      category('g', 'p'),
      need(`${karpenter}instance-gpu-count`, 'In', '8'),
      need(`${karpenter}instance-cpu`, 'In', '4', '8', '16'),
    ]);
    const context = prepareFit([contradictory]);
    assert.equal(poolCandidates(context, 'gpu')?.verdict, 'none');
    assert.deepEqual(kinds(why(contradictory, pod({ cpu: 1 })).exclusions), ['empty-pool']);
    const effects = requirementEffects(context, 'gpu');
    assert.equal(effects[0]?.key, `${karpenter}instance-gpu-count`);
    const cpu = effects.find(({ key }) => key === `${karpenter}instance-cpu`);
    assert.ok(cpu?.freed.includes('p5.48xlarge'));
    assert.ok(cpu?.freed.includes('p4d.24xlarge'));
    assert.deepEqual(effects.at(-1)?.freed, []);
  });

  test('a pool is described by what it would launch unasked', () => {
    const answer = poolCandidates(prepareFit([pool([family('g5')])]), 'gpu');
    assert.equal(answer?.candidates.length, 8);
    assert.equal(answer.candidates[0]?.type, findInstanceType('g5.xlarge'));
    assert.equal(poolCandidates(prepareFit([]), 'gpu'), undefined);
  });
});

describe('public NodePools', () => {
  const corpus = resolve(__dirname, '../../../shared/corpus');

  interface Found {
    readonly file: string;
    readonly name: string;
    readonly verdict: string | undefined;
    readonly keys: string;
  }

  function record(value: unknown): Readonly<Record<string, unknown>> {
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  }

  function list(value: unknown): readonly unknown[] {
    return Array.isArray(value) ? value : [];
  }

  function read(file: string): readonly Found[] {
    const text = readFileSync(file, 'utf8');
    if (!/^kind: NodePool\b/m.test(text)) return [];
    return parseAllDocuments(text).flatMap((document): Found[] => {
      if (document.errors.length > 0) return [];
      const value = record(document.toJS());
      if (value['kind'] !== 'NodePool') return [];
      const spec = record(value['spec']);
      const template = record(record(spec['template'])['spec']);
      const ref = record(template['nodeClassRef']);
      const written = list(template['requirements']).map(record);
      const requirements = written.map((one) => ({
        key: String(one['key']),
        operator: String(one['operator']),
        values: list(one['values']).map(String),
      }));
      const placeholders = requirements.filter(({ values }) => values.some((text) => /[<${]/.test(text)));
      const name = String(record(value['metadata'])['name']);
      const context = prepareFit([
        {
          kind: 'node-pool',
          name,
          provider: ref['group'] === 'eks.amazonaws.com' ? 'auto-mode' : 'karpenter',
          requirements: requirements.filter((one) => !placeholders.includes(one)),
          unknownKeys: placeholders.map(({ key }) => key),
          limits: record(spec['limits']),
          ...(typeof spec['replicas'] === 'number' && { replicas: spec['replicas'] }),
          nodeClass: { kind: 'unknown' },
        },
      ]);
      return [
        { file, name, verdict: poolCandidates(context, name)?.verdict, keys: JSON.stringify(requirements) },
      ];
    });
  }

  test(
    'none is said to match no instance',
    { skip: existsSync(corpus) ? false : 'the public manifests are not here' },
    () => {
      const pools = readdirSync(corpus, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
        .flatMap((entry) => read(join(entry.parentPath, entry.name)));
      assert.ok(pools.length > 50, `${pools.length} pools`);
      assert.deepEqual(
        pools.filter(({ verdict }) => verdict === 'none'),
        [],
      );
    },
  );
});
