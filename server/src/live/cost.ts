import type { NodeUsePart, NodeView, PodView, Resources } from './cluster';
import { isActive, isAccelerator, requestOf } from './pods';
import { absent } from './reading';
import type { Absent, Observed, Part, Reading } from './reading';
import { lastValues, meanOf, partValue } from './readings';
import type { Readings } from './readings';
import { ranges } from './want';

/** What an hour of a node costs, in dollars. */
export type NodePrice =
  | { readonly kind: 'exact'; readonly dollars: number; readonly basis: string }
  /** A spot node whose price is not known: it costs at most its on-demand price. */
  | { readonly kind: 'at-most'; readonly dollars: number; readonly basis: string }
  | { readonly kind: 'unknown'; readonly why: string };

export type PriceOf = (node: NodeView) => NodePrice;

/** How sure a sum is. `at-most`: spot nodes at their on-demand price. `at-least`: nodes without a price left out. */
export type Bound = 'exact' | 'at-most' | 'at-least' | 'rough';

export interface Money {
  readonly kind: 'money';
  /** Dollars. */
  readonly value: number;
  readonly bound: Bound;
}

export interface NodeCost {
  readonly node: NodeView;
  readonly price: NodePrice;
  /** The workload's share of it, 0 to 1. */
  readonly share: number;
  readonly pods: number;
  /** What the share was measured by: `2 of 4 nvidia.com/gpu`. */
  readonly by: string;
  /** Share that nobody has asked for; absent where the pods of other namespaces cannot be read. */
  readonly free?: number;
}

export interface GroupCost {
  /** A namespace, or the value of a label; empty for pods without it. */
  readonly name: string;
  readonly pods: number;
  readonly perHour: Money;
}

export interface WorkloadCost {
  readonly perHour: Money | Absent;
  readonly perMillionTokens: Money | Absent;
  /** Share of the GPU time that is paid for and not used, over the range. */
  readonly idleShare: Observed;
  readonly idlePerHour: Money | Absent;
  readonly nodes: readonly NodeCost[];
  readonly byNamespace: Part<readonly GroupCost[]>;
  readonly byLabel: readonly { readonly label: string; readonly groups: Part<readonly GroupCost[]> }[];
  readonly caveats: readonly string[];
}

/**
 * What share of a node some requests are: on nodes with accelerators their share of these, because they are what is
 * paid for; elsewhere the mean of the shares of CPU and memory.
 */
function shareOf(
  node: NodeView,
  amount: (resource: string) => number,
): { readonly share: number; readonly by: string } {
  const accelerators = Object.keys(node.allocatable).filter(
    (name) => isAccelerator(name) && (node.allocatable[name] ?? 0) > 0,
  );
  if (accelerators.length > 0) {
    const parts = accelerators.map((name) => ({
      name,
      asked: amount(name),
      share: amount(name) / (node.allocatable[name] ?? 1),
    }));
    const largest = parts.reduce((a, b) => (b.share > a.share ? b : a));
    return {
      share: clamp(largest.share),
      by: `${largest.asked} of ${node.allocatable[largest.name] ?? 0} ${largest.name}`,
    };
  }
  const of = (name: string): number => {
    const whole = node.allocatable[name] ?? 0;
    return whole > 0 ? clamp(amount(name) / whole) : 0;
  };
  return { share: (of('cpu') + of('memory')) / 2, by: 'mean of its shares of CPU and memory' };
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

export function workloadCost(readings: Readings, priceOf: PriceOf): WorkloadCost {
  const { cluster, want } = readings.snapshot;
  const caveats = new Set<string>();
  const nodes = nodeCosts(readings, priceOf);
  const perHour: Money | Absent = nodes.kind === 'known' ? total(nodes.value, caveats) : nodes;
  const used = utilization(readings);
  const idleShare: Observed = used.kind === 'absent' ? used : { ...used, value: clamp(1 - used.value) };
  const idlePerHour: Money | Absent =
    perHour.kind === 'absent'
      ? perHour
      : idleShare.kind === 'absent'
        ? idleShare
        : { ...perHour, value: perHour.value * idleShare.value };
  const tokens = tokenRate(readings);
  const perMillionTokens: Money | Absent =
    perHour.kind === 'absent'
      ? perHour
      : tokens.kind === 'absent'
        ? tokens
        : tokens.value <= 0
          ? absent('no-data', 'no tokens were made, so a million of them has no price')
          : { ...perHour, value: (perHour.value / (tokens.value * 3600)) * 1e6 };
  const use = cluster.nodeUse;
  const priced = new Map(
    (partValue(cluster.nodes) ?? []).map((node) => [node.name, { node, price: priceOf(node) }]),
  );
  const groupsBy = (key: (part: NodeUsePart) => string): Part<readonly GroupCost[]> => {
    if (use.kind === 'absent') return use;
    if (cluster.nodes.kind === 'absent') return cluster.nodes;
    return { kind: 'known', at: use.at, value: groups(use.value, priced, key) };
  };
  return {
    perHour,
    perMillionTokens,
    idleShare,
    idlePerHour,
    nodes: nodes.kind === 'known' ? nodes.value : [],
    byNamespace: groupsBy(({ namespace }) => namespace),
    byLabel: want.allocationLabels.map((label) => ({
      label,
      groups: groupsBy(({ labels }) => labels[label] ?? ''),
    })),
    caveats: [...caveats],
  };
}

function nodeCosts(readings: Readings, priceOf: PriceOf): Part<readonly NodeCost[]> {
  const { cluster } = readings.snapshot;
  if (cluster.pods.kind === 'absent') return cluster.pods;
  if (cluster.nodes.kind === 'absent') return cluster.nodes;
  const byNode = new Map<string, PodView[]>();
  for (const pod of cluster.pods.value) {
    if (pod.node === undefined || !isActive(pod)) continue;
    const list = byNode.get(pod.node);
    if (list === undefined) byNode.set(pod.node, [pod]);
    else list.push(pod);
  }
  const use = new Map((partValue(cluster.nodeUse) ?? []).map((entry) => [entry.node, entry]));
  const views = new Map(cluster.nodes.value.map((node) => [node.name, node]));
  const result: NodeCost[] = [];
  for (const [name, pods] of byNode) {
    const node = views.get(name);
    if (node === undefined) continue;
    const { share, by } = shareOf(node, (resource) =>
      pods.reduce((sum, pod) => sum + requestOf(pod, resource), 0),
    );
    const all = use.get(name);
    const free =
      all === undefined ? {} : { free: clamp(1 - shareOf(node, (one) => all.requested[one] ?? 0).share) };
    result.push({ node, price: priceOf(node), share, pods: pods.length, by, ...free });
  }
  return {
    kind: 'known',
    at: cluster.pods.at,
    value: result.sort((a, b) => a.node.name.localeCompare(b.node.name)),
  };
}

function total(nodes: readonly NodeCost[], caveats: Set<string>): Money | Absent {
  if (nodes.length === 0) return absent('no-data', 'none of its pods is on a node');
  const amounts = nodes.flatMap(({ price, share }) => (price.kind === 'unknown' ? [] : [{ price, share }]));
  const missing = nodes.flatMap(({ price }) => (price.kind === 'unknown' ? [price.why] : []));
  for (const why of missing) caveats.add(why);
  if (amounts.length === 0) return absent('no-data', missing[0] ?? 'no price is known');
  const spot = amounts.some(({ price, share }) => price.kind === 'at-most' && share > 0);
  if (spot) caveats.add('spot nodes are counted at their on-demand price, which is the most that they cost');
  return {
    kind: 'money',
    value: amounts.reduce((sum, { price, share }) => sum + price.dollars * share, 0),
    bound: boundOf(spot, missing.length > 0),
  };
}

function boundOf(atMost: boolean, atLeast: boolean): Bound {
  if (atMost && atLeast) return 'rough';
  return atMost ? 'at-most' : atLeast ? 'at-least' : 'exact';
}

/** Mean over the range of the GPUs, or NeuronCores, of the workload. */
function utilization(readings: Readings): Observed {
  const { want, at } = readings.snapshot;
  const gpu = readings.fresh('gpu.utilization');
  const metric =
    gpu.kind === 'absent' && readings.fresh('neuron.core.utilization').kind === 'reading'
      ? 'neuron.core.utilization'
      : 'gpu.utilization';
  const current = readings.fresh(metric);
  const window = ranges[want.range].duration;
  const values = lastValues(readings.history(metric), at, window);
  const mean = meanOf(values);
  if (mean === undefined || current.kind === 'absent') return current;
  return { ...current, value: mean, window } satisfies Reading;
}

/** Tokens in and out per second, mean over the range. */
function tokenRate(readings: Readings): Observed {
  const { want, at } = readings.snapshot;
  const window = ranges[want.range].duration;
  let sum: Reading | undefined;
  for (const metric of ['tokens.prompt.rate', 'tokens.generation.rate'] as const) {
    const current = readings.fresh(metric);
    if (current.kind === 'absent') return current;
    const value = meanOf(lastValues(readings.history(metric), at, window)) ?? current.value;
    sum = { ...current, value: (sum?.value ?? 0) + value };
  }
  return sum ?? absent('no-data', 'no source counts tokens');
}

function groups(
  use: readonly { readonly node: string; readonly parts: readonly NodeUsePart[] }[],
  priced: ReadonlyMap<string, { readonly node: NodeView; readonly price: NodePrice }>,
  key: (part: NodeUsePart) => string,
): readonly GroupCost[] {
  const sums = new Map<string, { value: number; pods: number; atMost: boolean; atLeast: boolean }>();
  for (const { node: name, parts } of use) {
    const found = priced.get(name);
    const byKey = new Map<string, { requested: Record<string, number>; pods: number }>();
    for (const part of parts) {
      const entry = byKey.get(key(part)) ?? { requested: {}, pods: 0 };
      addTo(entry.requested, part.requested);
      entry.pods += part.pods;
      byKey.set(key(part), entry);
    }
    for (const [group, { requested, pods }] of byKey) {
      const sum = sums.get(group) ?? { value: 0, pods: 0, atMost: false, atLeast: false };
      sum.pods += pods;
      if (found === undefined || found.price.kind === 'unknown') sum.atLeast = true;
      else {
        const { share } = shareOf(found.node, (resource) => requested[resource] ?? 0);
        sum.value += found.price.dollars * share;
        sum.atMost ||= found.price.kind === 'at-most' && share > 0;
      }
      sums.set(group, sum);
    }
  }
  return [...sums]
    .map(([name, { value, pods, atMost, atLeast }]): GroupCost => ({
      name,
      pods,
      perHour: { kind: 'money', value, bound: boundOf(atMost, atLeast) },
    }))
    .sort((a, b) => b.perHour.value - a.perHour.value);
}

function addTo(sum: Record<string, number>, more: Resources): void {
  for (const [name, amount] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + amount;
}
