import {
  given,
  isClosed,
  listIn,
  partIn,
  partsIn,
  textAt,
  textOf,
  wholeAt,
  type Part,
} from '../../kube/part';
import { entryOf, isNull, isScalar, isSequence } from '../../yaml/node';
import { byText, shown, type Inspection } from './inspection';

const rule = 'nodepool-invalid';

/** Labels that Karpenter and its AWS provider know; their other ones are reserved (CRDs of Karpenter 1.14). */
const ownLabels: readonly string[] = ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'];
const awsLabels: readonly string[] = [
  'instance-tenancy',
  'capacity-reservation-type',
  'capacity-reservation-id',
  'capacity-reservation-interruptible',
  'ec2nodeclass',
  'instance-encryption-in-transit-supported',
  'instance-category',
  'instance-hypervisor',
  'instance-family',
  'instance-generation',
  'instance-local-nvme',
  'instance-size',
  'instance-cpu',
  'instance-cpu-manufacturer',
  'instance-cpu-sustained-clock-speed-mhz',
  'instance-memory',
  'instance-ebs-bandwidth',
  'instance-network-bandwidth',
  'instance-gpu-name',
  'instance-gpu-manufacturer',
  'instance-gpu-count',
  'instance-gpu-memory',
  'instance-accelerator-name',
  'instance-accelerator-manufacturer',
  'instance-accelerator-count',
  'instance-capability-flex',
  'placement-group-id',
  'placement-group-partition',
].map((name) => `karpenter.k8s.aws/${name}`);

export function checkNodePool(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  checkLimits(cx, partIn(spec, 'limits'));
  const template = partIn(spec, 'template');
  const nodes = partIn(template, 'spec');
  checkRequirements(cx, nodes, true);
  checkClassReference(cx, partIn(nodes, 'nodeClassRef'));
  for (const { key } of partIn(template, 'metadata', 'labels')?.map.entries ?? []) {
    if (!key.unknown) checkReserved(cx, key, key.text, true);
  }
  const disruption = partIn(spec, 'disruption');
  for (const budget of partsIn(disruption, 'budgets')) checkBudget(cx, budget);
  if (given(spec, 'replicas') !== undefined && cx.isCertain) checkStatic(cx, spec);
}

export function checkNodeClaim(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  checkRequirements(cx, spec, false);
  checkClassReference(cx, partIn(spec, 'nodeClassRef'));
}

/** Amounts are whole numbers or texts of the form of quantities, and unlike in Kubernetes itself nothing is cut off. */
function checkLimits(cx: Inspection, limits: Part | undefined): void {
  for (const { key, value } of limits?.map.entries ?? []) {
    if (key.unknown || !isScalar(value) || value.unknown) continue;
    if (typeof value.value === 'number' && !Number.isInteger(value.value)) {
      cx.add(
        rule,
        value,
        `The limit of ${key.text} is the broken number ${value.text}, which stands in quotes`,
        {
          fixes: [
            value.borrowed || value.style !== 'plain'
              ? undefined
              : {
                  title: `Write "${value.text}"`,
                  safe: true,
                  edits: [{ start: value.start, end: value.end, newText: `"${value.text}"` }],
                },
          ],
        },
      );
    } else if (typeof value.value === 'string' && value.value !== value.value.trim()) {
      cx.add(rule, value, `The limit of ${key.text} has white space at its end`, {
        fixes: [cx.write(value, value.value.trim(), 'Remove the white space')],
      });
    }
  }
}

/** A pool of a fixed size has no weight, and no limits but that of its nodes. */
function checkStatic(cx: Inspection, spec: Part): void {
  const weight = given(spec, 'weight');
  if (weight !== undefined) {
    cx.add(rule, weight, 'A NodePool with replicas has no weight', {
      fixes: [cx.removal(spec, 'weight', 'Remove weight')],
    });
  }
  for (const { key } of partIn(spec, 'limits')?.map.entries ?? []) {
    if (!key.unknown && key.text !== 'nodes')
      cx.add(rule, key, `A NodePool with replicas limits its nodes only, and here ${shown(key.text)}`);
  }
}

function checkBudget(cx: Inspection, budget: Part): void {
  const schedule = given(budget, 'schedule');
  const duration = given(budget, 'duration');
  if (cx.isCertain && !budget.map.open) {
    if (schedule !== undefined && duration === undefined && cx.lacks(budget, 'duration')) {
      cx.add(rule, schedule, 'A disruption budget has a schedule and no duration');
    } else if (duration !== undefined && schedule === undefined && cx.lacks(budget, 'schedule')) {
      cx.add(rule, duration, 'A disruption budget has a duration and no schedule');
    }
  }
  cx.unique(
    listIn(budget, 'reasons')?.items ?? [],
    (item) => byText(textOf(item)),
    (key) => `The reason ${key} stands twice in a disruption budget`,
  );
}

function checkClassReference(cx: Inspection, reference: Part | undefined): void {
  if (reference === undefined) return;
  for (const key of ['group', 'kind', 'name']) {
    const text = textAt(reference, key);
    if (text?.text === '') cx.missing(reference, key, `The ${key} of nodeClassRef`, rule);
  }
}

function checkReserved(
  cx: Inspection,
  at: Parameters<Inspection['write']>[0],
  key: string,
  isPool: boolean,
): void {
  const domain = /^([^/]+)/.exec(key)?.[0] ?? '';
  const reserved =
    key === 'kubernetes.io/hostname'
      ? 'it is the name of a node'
      : isPool && key === 'karpenter.sh/nodepool'
        ? 'it is the name of the pool'
        : domain.endsWith('karpenter.sh') && !ownLabels.includes(key)
          ? 'Karpenter has no such label, and keeps its domain to itself'
          : domain.endsWith('karpenter.k8s.aws') && !awsLabels.includes(key)
            ? 'Karpenter has no such label, and keeps its domain to itself'
            : undefined;
  if (reserved === undefined) return;
  cx.add(rule, at, `The label ${shown(key)} cannot be asked for: ${reserved}`, {
    fixes: [cx.meant(at, [...ownLabels.filter((label) => label !== 'karpenter.sh/nodepool'), ...awsLabels])],
  });
}

const comparisons: readonly string[] = ['Gt', 'Lt', 'Gte', 'Lte'];

function checkRequirements(cx: Inspection, spec: Part | undefined, isPool: boolean): void {
  for (const requirement of partsIn(spec, 'requirements')) {
    const key = textAt(requirement, 'key');
    if (key !== undefined && key.text !== '') checkReserved(cx, key.node, key.text, isPool);
    const operator = textAt(requirement, 'operator')?.text;
    const entry = entryOf(requirement.map, 'values');
    const list = listIn(requirement, 'values');
    const what = key === undefined || key.text === '' ? 'A requirement' : `The requirement on ${key.text}`;
    const count =
      list === undefined
        ? cx.lacks(requirement, 'values')
          ? 0
          : undefined
        : isClosed(list)
          ? list.items.length
          : undefined;
    const at = entry ?? requirement.place;
    if (
      count === undefined ||
      !cx.isCertain ||
      (entry !== undefined && !isNull(entry.value) && !isSequence(entry.value))
    )
      continue;
    if (operator === 'In') {
      if (count === 0) {
        cx.add(rule, at, `${what} has the operator In and no values`);
        continue;
      }
      const least = wholeAt(requirement, 'minValues');
      if (least !== undefined && least.value > count) {
        cx.add(
          rule,
          least.node,
          `${what} has minValues ${least.value} and ${count} ${count === 1 ? 'value' : 'values'}`,
        );
      }
    } else if (operator !== undefined && comparisons.includes(operator)) {
      const first = list?.items[0];
      const isNumber = isScalar(first) && /^\+?\d+$/.test(first.text);
      if (count !== 1)
        cx.add(
          rule,
          at,
          `${what} has the operator ${operator}, which compares with one number, and ${count} values`,
        );
      else if (first !== undefined && !isNumber && isScalar(first) && typeof first.value === 'string') {
        cx.add(
          rule,
          first.end > first.start ? first : at,
          `${what} has the operator ${operator}, and ${shown(first.text)} is no whole number from 0 up`,
        );
      }
    }
  }
}
