import {
  amountState,
  effectiveRequest,
  runningContainers,
  type Container,
  type ResourceAmount,
} from '../../kube/containers';
import { modelServerOf, type ModelServer } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { formatBytes, toMemoryQuantity, toNumber } from '../../kube/quantity';
import { nodeDemandOf } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { allocatable } from '../../sizing/nodes/allocatable';
import { findInstanceType, instanceTypes, type InstanceType } from '../../sizing/nodes/instances';
import { instanceTypeLabel } from '../../sizing/nodes/labels';
import { replaceScalar } from '../../yaml/edit';
import type { YamlNode } from '../../yaml/node';
import { defineRule, type Fix, type Related, type Severity } from '../rule';
import { hasRoomFor } from '../placement/room';
import { amountText, containerField, containerTitle, scalarLike, soleAmount } from '../resources/wording';
import { hostNeedOf, isShort, type HostNeed } from './host-memory';

/** Room that a full `/dev/shm` may lack before that is worth a word. */
const roomForSharedMemory = 1.1;
/** Kinds whose resources the InferenceService may overrule. */
const runtimes: readonly string[] = ['ServingRuntime', 'ClusterServingRuntime'];
/** Smaller amounts are slips in the unit, about which suspicious-quantity speaks. */
const leastBytes = 1 << 20;

export default defineRule({
  id: 'host-ram-below-model',
  summary: 'Host memory must hold the weights while they load',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, models }) {
    for (const container of podTemplates(resource).flatMap(runningContainers)) {
      const bound = memoryBound(container);
      const server = bound === undefined ? undefined : modelServerOf(container);
      if (bound === undefined || server === undefined) continue;
      const need = hostNeedOf(server, models);
      if (need === undefined) continue;
      const severity = judge(container, bound, need);
      if (severity === undefined) continue;
      const wanted = toMemoryQuantity(need.wanted);
      const bytes = Number.parseInt(wanted, 10) * 2 ** 30;
      const instance = pinnedInstance(container, bytes);
      const hasRoom = instance?.fits ?? hasRoomFor(container, 'memory', bytes);
      report({
        at: bound.amount.entry.value,
        severity,
        message: messageFor(container, bound, need, severity),
        related: relatedOf(resource, server, need, instance, wanted),
        evidence: need.evidence,
        fixes: hasRoom ? [raise(resource, container, wanted)] : [],
        ...containerField(container),
      });
    }
  },
});

/** The memory that a container may use: its limit, else what it requests. */
interface Bound {
  readonly amount: ResourceAmount;
  readonly bytes: number;
  readonly isLimit: boolean;
}

function memoryBound(container: Container): Bound | undefined {
  const limit = soleAmount(container.limits, 'memory');
  const isLimit = limit !== undefined;
  if (!isLimit && amountState(container, 'limits', 'memory') !== 'absent') return undefined;
  const amount = limit ?? soleAmount(container.requests, 'memory');
  if (amount?.quantity === undefined) return undefined;
  const bytes = toNumber(amount.quantity);
  return bytes < leastBytes ? undefined : { amount, bytes, isLimit };
}

function judge(container: Container, bound: Bound, need: HostNeed): Severity | undefined {
  const { bytes, isLimit } = bound;
  if (isShort(bytes, need.likely)) {
    // What a serving runtime says is the default of the services that use it.
    if (runtimes.includes(container.template.resource.kind)) return 'info';
    // Nothing stops at a request: below the need, but not below the weights, it only misleads the scheduler.
    return isLimit || bytes < need.weights ? 'warning' : 'info';
  }
  // Volumes that are above the limit by themselves are shared-memory-above-limit's.
  return isLimit && bytes * roomForSharedMemory < need.full && need.volumes <= bytes ? 'info' : undefined;
}

function messageFor(container: Container, bound: Bound, need: HostNeed, severity: Severity): string {
  const { amount, bytes, isLimit } = bound;
  const sum = need.terms.map(({ label, bytes: term }) => `${label} ${formatBytes(term)}`).join(' + ');
  const what = isLimit
    ? `a memory limit of ${amountText(amount)}`
    : `a memory request of ${amountText(amount)} and no limit`;
  const shared = isShort(bytes, need.likely) ? '' : ' once its memory-backed volumes are full';
  const then =
    bytes < need.weights / 2
      ? isLimit
        ? '; below half of the weights, OOMKilled is likely'
        : '; below half of the weights, the node is likely to run out of memory'
      : severity === 'info' && !isLimit
        ? '; the scheduler may pick a node without that much'
        : '';
  return `${containerTitle(container)} has ${what}, but ${need.model.name} needs ${need.atLeast ? 'at least ' : ''}${formatBytes(need.full)}${shared}: ${sum} (${need.assumption})${then}`;
}

interface PinnedInstance {
  readonly at: YamlNode;
  readonly type: InstanceType;
  /** Bytes that the other containers of the pod leave of what the node has for pods. */
  readonly room: number;
  readonly fits: boolean;
  /** The cheapest type of the family with as many GPUs that has the room. */
  readonly larger: InstanceType | undefined;
}

/** The one instance type that the pod's node selector or affinity names. */
function pinnedInstance(container: Container, bytes: number): PinnedInstance | undefined {
  const { template } = container;
  const pins = nodeDemandOf(template).alternatives.map((requirements) =>
    requirements.find(({ key, operator }) => key === instanceTypeLabel && operator === 'In'),
  );
  const [first] = pins;
  const [name, ...others] = new Set(
    pins.map((pin) => (pin?.values?.length === 1 ? pin.values[0] : undefined)),
  );
  const at = first?.valueNodes[0];
  const type = name === undefined || others.length > 0 ? undefined : findInstanceType(name);
  if (type === undefined || at === undefined) return undefined;
  let beside = 0;
  for (const other of runningContainers(template)) {
    const quantity = other === container ? undefined : effectiveRequest(other, 'memory')?.quantity;
    if (quantity !== undefined) beside += toNumber(quantity);
  }
  const roomOf = (candidate: InstanceType): number => (allocatable(candidate)['memory'] ?? 0) - beside;
  const larger = instanceTypes()
    .filter(
      (candidate) =>
        candidate.family === type.family &&
        candidate.gpus?.count === type.gpus?.count &&
        candidate.onDemandPrice !== undefined &&
        roomOf(candidate) >= bytes,
    )
    .sort((a, b) => (a.onDemandPrice ?? 0) - (b.onDemandPrice ?? 0))[0];
  const room = roomOf(type);
  return { at, type, room, fits: room >= bytes, larger };
}

function relatedOf(
  resource: Resource,
  server: ModelServer,
  { model, weights }: HostNeed,
  instance: PinnedInstance | undefined,
  wanted: string,
): readonly Related[] {
  const related: Related[] = [];
  if (server.model.state === 'known') {
    related.push({
      resource,
      at: server.model.at,
      message: `${model.name}: ${formatBytes(weights)} of weights in this pod`,
    });
  }
  if (instance !== undefined) {
    const { at, type, room, fits, larger } = instance;
    const verdict = fits
      ? `${wanted} fit`
      : `${wanted} do not fit${larger === undefined ? '' : `; on ${larger.name} they do`}`;
    related.push({
      resource,
      at,
      message: `${type.name} has ${formatBytes(room)} left for this container: ${verdict}`,
    });
  }
  return related;
}

/** Limit and request together, so that the node that is chosen has what the container may use. */
function raise(resource: Resource, container: Container, wanted: string): Fix | undefined {
  const limit = soleAmount(container.limits, 'memory');
  const request = soleAmount(container.requests, 'memory');
  const written = [limit, request].filter((amount) => amount?.quantity !== undefined);
  const edits = written.map((amount) => {
    const value = amount?.entry.value;
    if (value?.kind !== 'scalar') return undefined;
    return value.text === wanted
      ? []
      : replaceScalar(resource.placed.document, value, scalarLike(value, wanted));
  });
  if (edits.length === 0 || edits.includes(undefined)) return undefined;
  const what =
    limit === undefined
      ? 'the memory request'
      : request?.quantity === undefined
        ? 'the memory limit'
        : 'memory limit and request';
  return { title: `Raise ${what} to ${wanted}`, safe: false, edits: edits.flatMap((edit) => edit ?? []) };
}
