import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  itemsIn,
  mapIn,
  scalarIn,
  type Entry,
  type MapNode,
  type ScalarNode,
} from '../yaml/node';
import { countAt, unknownCount, type Count } from './count';
import { isAbsent, isPathAbsent, type Resource } from './resource';

/** A resource metric of an autoscaler: `cpu` or `memory` of the target's pods, or of one container of them. */
export interface ResourceMetric {
  readonly name: string;
  /** Where the resource is named; the key that implies it (`targetCPUUtilizationPercentage`) or nothing for a default. */
  readonly at: ScalarNode | Entry | undefined;
  /** The item of `metrics` or `triggers`; `undefined` for a default and for autoscaling/v1. */
  readonly node: MapNode | undefined;
  /** Only this container is measured. */
  readonly container: string | undefined;
  /** `Utilization` is a share of the request; `AverageValue` needs none. `undefined` when only known later. */
  readonly target: 'Utilization' | 'AverageValue' | undefined;
  /** The number aimed at, where it is written: a percentage for Utilization. */
  readonly value: ScalarNode | undefined;
}

export interface Autoscaler {
  readonly resource: Resource;
  readonly kind: 'HorizontalPodAutoscaler' | 'ScaledObject';
  readonly minReplicas: Count;
  readonly maxReplicas: Count;
  /** Metrics on cpu and memory, in order; the API's default (cpu at 80 %) where none is written. */
  readonly resourceMetrics: readonly ResourceMetric[];
  /** How many metrics or triggers there are in all; `undefined` when a template can add some. */
  readonly metricCount: number | undefined;
  /** The map that holds `scaleUp` and `scaleDown`, when it is written. */
  readonly behavior: MapNode | undefined;
  /** Keys from the object down to the behaviour. */
  readonly behaviorPath: readonly string[];
  /** False for the versions of the HPA from before there was a behaviour: the API server rejects one in `autoscaling/v1`. */
  readonly takesBehavior: boolean;
}

export const autoscalerKinds: readonly string[] = ['HorizontalPodAutoscaler', 'ScaledObject'];

const hpaBehavior: readonly string[] = ['spec', 'behavior'];
const kedaBehavior: readonly string[] = ['spec', 'advanced', 'horizontalPodAutoscalerConfig', 'behavior'];

const memo = new WeakMap<Resource, Autoscaler>();

/** Reads an HPA (any version) or a ScaledObject; `undefined` for other kinds. */
export function autoscalerOf(resource: Resource): Autoscaler | undefined {
  const known = memo.get(resource);
  if (known !== undefined) return known;
  const read =
    resource.kind === 'HorizontalPodAutoscaler' && resource.group === 'autoscaling'
      ? readHpa(resource)
      : resource.kind === 'ScaledObject' && resource.group === 'keda.sh'
        ? readScaledObject(resource)
        : undefined;
  if (read !== undefined) memo.set(resource, read);
  return read;
}

function readHpa(resource: Resource): Autoscaler {
  const spec = mapIn(resource.root, 'spec');
  return {
    resource,
    kind: 'HorizontalPodAutoscaler',
    minReplicas: countAt(resource, spec, 'minReplicas', 1),
    maxReplicas: spec === undefined ? unknownCount : countAt(resource, spec, 'maxReplicas', undefined),
    ...hpaMetrics(resource, spec),
    behavior: mapIn(resource.root, ...hpaBehavior),
    behaviorPath: hpaBehavior,
    takesBehavior: resource.version !== 'v1' && resource.version !== 'v2beta1',
  };
}

type Metrics = Pick<Autoscaler, 'resourceMetrics' | 'metricCount'>;

/** What the API server writes where no metric is given: `autoscaling/v2` defaults.go, `DefaultCPUUtilization` 80. */
const defaultMetric: ResourceMetric = {
  name: 'cpu',
  at: undefined,
  node: undefined,
  container: undefined,
  target: 'Utilization',
  value: undefined,
};

function hpaMetrics(resource: Resource, spec: MapNode | undefined): Metrics {
  const none: Metrics = { resourceMetrics: [], metricCount: undefined };
  if (spec === undefined) return none;
  const short = entryOf(spec, 'targetCPUUtilizationPercentage');
  if (short !== undefined && !isNull(short.value)) {
    const value = isScalar(short.value) ? short.value : undefined;
    return { resourceMetrics: [{ ...defaultMetric, at: short, value }], metricCount: 1 };
  }
  const list = entryOf(spec, 'metrics')?.value;
  if (list === undefined || isNull(list)) {
    return isAbsent(resource, spec, 'metrics') && isAbsent(resource, spec, 'targetCPUUtilizationPercentage')
      ? { resourceMetrics: [defaultMetric], metricCount: 1 }
      : none;
  }
  if (list.kind !== 'sequence') return none;
  if (list.items.length === 0 && !list.open) return { resourceMetrics: [defaultMetric], metricCount: 1 };
  const resourceMetrics = list.items.flatMap((item) => (isMap(item) ? (resourceMetric(item) ?? []) : []));
  return {
    resourceMetrics,
    metricCount: list.open || !list.items.every(isMap) ? undefined : list.items.length,
  };
}

function resourceMetric(item: MapNode): ResourceMetric | undefined {
  const block = mapIn(item, 'resource') ?? mapIn(item, 'containerResource');
  const name = scalarIn(block, 'name');
  if (block === undefined || name === undefined || name.unknown || name.value === null) return undefined;
  const target = mapIn(block, 'target');
  // autoscaling/v2beta1 wrote the number beside the name.
  const utilization = scalarIn(target, 'averageUtilization') ?? scalarIn(block, 'targetAverageUtilization');
  const average = scalarIn(target, 'averageValue') ?? scalarIn(block, 'targetAverageValue');
  const container = scalarIn(block, 'container');
  return {
    name: name.text,
    at: name,
    node: item,
    container: container === undefined || container.unknown ? undefined : container.text,
    target: targetOf(scalarIn(target, 'type'), utilization, average),
    value: utilization ?? average,
  };
}

function targetOf(
  type: ScalarNode | undefined,
  utilization: ScalarNode | undefined,
  average: ScalarNode | undefined,
): ResourceMetric['target'] {
  if (type !== undefined && !isNull(type)) {
    return type.unknown
      ? undefined
      : type.text === 'Utilization' || type.text === 'AverageValue'
        ? type.text
        : undefined;
  }
  if (utilization !== undefined) return 'Utilization';
  return average === undefined ? undefined : 'AverageValue';
}

function readScaledObject(resource: Resource): Autoscaler {
  const spec = mapIn(resource.root, 'spec');
  const list = entryOf(spec, 'triggers')?.value;
  const closed = list?.kind === 'sequence' && !list.open && list.items.every(isMap);
  return {
    resource,
    kind: 'ScaledObject',
    // KEDA's own defaults: 0 and 100 (`apis/keda/v1alpha1/scaledobject_types.go`).
    minReplicas: spec === undefined ? unknownCount : countAt(resource, spec, 'minReplicaCount', 0),
    maxReplicas: spec === undefined ? unknownCount : countAt(resource, spec, 'maxReplicaCount', 100),
    resourceMetrics: itemsIn(list).flatMap((item) => (isMap(item) ? (resourceTrigger(item) ?? []) : [])),
    metricCount: closed ? list.items.length : undefined,
    behavior: mapIn(resource.root, ...kedaBehavior),
    behaviorPath: kedaBehavior,
    takesBehavior: true,
  };
}

function resourceTrigger(item: MapNode): ResourceMetric | undefined {
  const type = scalarIn(item, 'type');
  if (type === undefined || type.unknown || (type.text !== 'cpu' && type.text !== 'memory')) return undefined;
  const metricType = scalarIn(item, 'metricType') ?? scalarIn(item, 'metadata', 'type');
  const container = scalarIn(item, 'metadata', 'containerName');
  return {
    name: type.text,
    at: type,
    node: item,
    container: container === undefined || container.unknown ? undefined : container.text,
    target: targetOf(metricType, undefined, undefined),
    value: scalarIn(item, 'metadata', 'value'),
  };
}

/** True when every metric that the autoscaler has is one on cpu or memory. */
export function readsOnlyResources(autoscaler: Autoscaler): boolean {
  const { metricCount, resourceMetrics } = autoscaler;
  return metricCount !== undefined && metricCount > 0 && resourceMetrics.length === metricCount;
}

/** True when nothing is written at a path below the behaviour, and no template can add it. */
export function isBehaviorAbsent(autoscaler: Autoscaler, ...path: readonly string[]): boolean {
  const { resource, behaviorPath } = autoscaler;
  return isPathAbsent(resource, resource.root, ...behaviorPath, ...path);
}
