import { fillBehavior } from './defaults';
import { metricNameOf, targetOf } from './keda-triggers';
import type { TriggerMetadata } from './keda-triggers';
import { readMilli } from './milli';
import type { Milli } from './milli';
import { plainReader } from './plain-data';
import type { PlainReader } from './plain-data';
import { readHpaSpec } from './read-spec';
import type { AmountTarget, Behavior, HpaSpec, MetricSpec } from './spec';

/**
 * What KEDA does with a ScaledObject.
 *
 * - `hpa`: it makes this HPA, which scales from the HPA's minimum upwards
 * - `paused`: it deletes the HPA and, where a number is given, sets the target to it
 * - `unknown`: some part cannot be told from the manifest, or KEDA would refuse it
 */
export type KedaMapping =
  | {
      readonly kind: 'hpa';
      readonly name: string;
      readonly spec: HpaSpec;
      /** In the order of `spec.metrics`. */
      readonly triggers: readonly TriggerMetric[];
      readonly activation: Activation;
    }
  | { readonly kind: 'paused'; readonly name: string; readonly replicas: number | undefined }
  | { readonly kind: 'unknown'; readonly name: string | undefined; readonly problems: readonly string[] };

export interface TriggerMetric {
  /** Of the trigger in `spec.triggers`; `undefined` for the one metric of scalingModifiers. */
  readonly index: number | undefined;
  readonly type: string;
  readonly metric: MetricSpec;
  /** False where KEDA makes the metric's name in a way that is not modelled; it begins with the same `s<index>-`. */
  readonly nameIsExact: boolean;
}

/** The part that KEDA does without the HPA: between zero (or the idle count) and the first replicas. */
export interface Activation {
  readonly scalesToZero: boolean;
  readonly idleReplicaCount: number | undefined;
  /** Where an active trigger takes the target from zero to. */
  readonly firstReplicas: number;
  /** Rules only the way to zero or to the idle count; seconds. */
  readonly cooldownPeriod: number;
  /** How often the triggers are asked while the target is at zero; seconds. */
  readonly pollingInterval: number;
}

/** kedacore/keda controllers/keda/hpa.go and apis/keda/v1alpha1/scaledobject_types.go, commit 8b4f083 (2026-08). */
const defaults = { hpaMinReplicas: 1, maxReplicaCount: 100, cooldownPeriod: 300, pollingInterval: 30 };

/** Maps a ScaledObject (keda.sh/v1alpha1), as plain data with `metadata` and `spec`, to the HPA that KEDA makes of it. */
export function hpaOfScaledObject(value: unknown): KedaMapping {
  const reader = plainReader();
  const object = reader.map(value, 'ScaledObject');
  const metadata = reader.map(object?.['metadata'], 'metadata') ?? {};
  const own = reader.text(metadata['name'], 'metadata.name');
  const spec = reader.map(object?.['spec'], 'spec');
  if (spec === undefined) return unknown(own && `keda-hpa-${own}`, reader, 'spec: missing');
  const advanced = reader.map(spec['advanced'], 'spec.advanced') ?? {};
  const config =
    reader.map(advanced['horizontalPodAutoscalerConfig'], 'spec.advanced.horizontalPodAutoscalerConfig') ??
    {};
  const given = reader.text(config['name'], 'spec.advanced.horizontalPodAutoscalerConfig.name');
  const name = given !== undefined && given !== '' ? given : own && `keda-hpa-${own}`;
  if (name === undefined) return unknown(undefined, reader, 'metadata.name: missing');

  const annotations = reader.map(metadata['annotations'], 'metadata.annotations') ?? {};
  const paused = pausedAt(annotations);
  if (paused !== undefined) return { kind: 'paused', name, replicas: paused === 'now' ? undefined : paused };

  const whole = (key: string, min = 0): number | undefined =>
    reader.integer(spec[key], `spec.${key}`, { min });
  const minReplicaCount = whole('minReplicaCount') ?? 0;
  const maxReplicaCount = whole('maxReplicaCount', 1) ?? defaults.maxReplicaCount;
  const idleReplicaCount = whole('idleReplicaCount');
  const minReplicas = minReplicaCount > 0 ? minReplicaCount : defaults.hpaMinReplicas;
  const triggers = metricsOf(reader, spec['triggers'], advanced['scalingModifiers']);
  const behavior = behaviorOf(reader, config['behavior'], annotations);
  if (maxReplicaCount < minReplicas) {
    reader.problem(
      'spec.maxReplicaCount',
      `must not be below minReplicaCount (${minReplicas}), found ${maxReplicaCount}`,
    );
  }
  if (reader.problems.length > 0) return { kind: 'unknown', name, problems: reader.problems };
  return {
    kind: 'hpa',
    name,
    spec: {
      minReplicas,
      maxReplicas: maxReplicaCount,
      metrics: triggers.map(({ metric }) => metric),
      behavior,
    },
    triggers,
    activation: {
      scalesToZero: minReplicaCount === 0,
      idleReplicaCount,
      firstReplicas: minReplicas,
      cooldownPeriod: whole('cooldownPeriod') ?? defaults.cooldownPeriod,
      pollingInterval: whole('pollingInterval') ?? defaults.pollingInterval,
    },
  };
}

function unknown(name: string | undefined, reader: PlainReader, problem: string): KedaMapping {
  return { kind: 'unknown', name, problems: reader.problems.length > 0 ? reader.problems : [problem] };
}

/** `now`: paused at whatever the target has. */
function pausedAt(annotations: Readonly<Record<string, unknown>>): number | 'now' | undefined {
  const replicas = annotations['autoscaling.keda.sh/paused-replicas'];
  if (replicas !== undefined && /^\d+$/.test(String(replicas))) return Number(replicas);
  return isOn(annotations['autoscaling.keda.sh/paused']) ? 'now' : undefined;
}

/** What Go's ParseBool takes for false turns an annotation off; KEDA takes anything else that is written for a wish to pause. */
function isOn(value: unknown): boolean {
  return value !== undefined && !['0', 'f', 'F', 'false', 'False', 'FALSE'].includes(String(value));
}

/** Copied as it is, but for the annotations that freeze one direction. */
function behaviorOf(
  reader: PlainReader,
  value: unknown,
  annotations: Readonly<Record<string, unknown>>,
): Behavior | undefined {
  const written = readBehavior(reader, value);
  const freezeDown = isOn(annotations['autoscaling.keda.sh/paused-scale-in']);
  const freezeUp = isOn(annotations['autoscaling.keda.sh/paused-scale-out']);
  if (!freezeDown && !freezeUp) return written;
  const { scaleUp, scaleDown } = written ?? fillBehavior(undefined, undefined);
  return {
    scaleUp: freezeUp ? { ...scaleUp, selectPolicy: 'Disabled' } : scaleUp,
    scaleDown: freezeDown ? { ...scaleDown, selectPolicy: 'Disabled' } : scaleDown,
  };
}

/** The behavior is an HPA's own, so it is read as part of one. */
function readBehavior(reader: PlainReader, behavior: unknown): Behavior | undefined {
  if (behavior === undefined || behavior === null) return undefined;
  const reading = readHpaSpec({ maxReplicas: defaults.maxReplicaCount, behavior });
  if (reading.ok) return reading.spec.behavior;
  for (const problem of reading.problems) {
    reader.problem('spec.advanced.horizontalPodAutoscalerConfig', problem.replace(/^spec\./, ''));
  }
  return undefined;
}

function metricsOf(reader: PlainReader, value: unknown, modifiers: unknown): readonly TriggerMetric[] {
  const triggers = reader.list(value, 'spec.triggers') ?? [];
  if (triggers.length === 0) reader.problem('spec.triggers', 'needs at least one trigger');
  const composite = compositeOf(reader, modifiers);
  const metrics = triggers.flatMap((trigger, index) => {
    const metric = metricOf(reader, trigger, index, composite !== undefined);
    return metric === undefined ? [] : [metric];
  });
  const all = composite === undefined ? metrics : [...metrics, composite];
  // KEDA sorts the metrics by type, so that the HPA does not change with the order in which scalers answer.
  return all.sort((a, b) => (a.metric.type < b.metric.type ? -1 : a.metric.type > b.metric.type ? 1 : 0));
}

/** With scalingModifiers one composite metric stands for all triggers but cpu and memory. */
function compositeOf(reader: PlainReader, value: unknown): TriggerMetric | undefined {
  const path = 'spec.advanced.scalingModifiers';
  const modifiers = reader.map(value, path);
  const formula = reader.text(modifiers?.['formula'], `${path}.formula`);
  if (modifiers === undefined || formula === undefined || formula === '') return undefined;
  const text = String(modifiers['target'] ?? '');
  const target = text === '' || !Number.isFinite(Number(text)) ? undefined : Math.trunc(Number(text) * 1000);
  if (target === undefined || target <= 0)
    return reader.problem(`${path}.target`, 'must be a number above 0');
  const metric: MetricSpec = {
    type: 'External',
    metric: 'composite-metric',
    target: amountTarget(reader, modifiers['metricType'], `${path}.metricType`, BigInt(target)),
  };
  return { index: undefined, type: 'scalingModifiers', metric, nameIsExact: true };
}

function metricOf(
  reader: PlainReader,
  value: unknown,
  index: number,
  composed: boolean,
): TriggerMetric | undefined {
  const path = `spec.triggers[${index}]`;
  const trigger = reader.map(value, path);
  const type = reader.text(trigger?.['type'], `${path}.type`);
  if (trigger === undefined || type === undefined) return reader.problem(`${path}.type`, 'missing');
  const metadata = metadataOf(reader, trigger['metadata'], `${path}.metadata`);
  if (type === 'cpu' || type === 'memory') {
    const metric = resourceMetric(reader, type, trigger['metricType'], metadata, path);
    return metric === undefined ? undefined : { index, type, metric, nameIsExact: true };
  }
  if (composed) return undefined;
  const target = targetOf(type, metadata);
  if (!target.ok) return reader.problem(path, target.why);
  const { name, exact } = metricNameOf(type, metadata);
  return {
    index,
    type,
    nameIsExact: exact,
    metric: {
      type: 'External',
      metric: `s${index}-${name}`,
      target: amountTarget(reader, trigger['metricType'], `${path}.metricType`, target.target),
    },
  };
}

function amountTarget(reader: PlainReader, metricType: unknown, path: string, target: Milli): AmountTarget {
  const type = reader.oneOf(metricType === '' ? undefined : metricType, path, [
    'AverageValue',
    'Value',
  ] as const);
  return type === 'Value' ? { type, value: target } : { type: 'AverageValue', averageValue: target };
}

function resourceMetric(
  reader: PlainReader,
  resource: 'cpu' | 'memory',
  metricType: unknown,
  metadata: TriggerMetadata,
  path: string,
): MetricSpec | undefined {
  const type = reader.oneOf(metricType, `${path}.metricType`, ['Utilization', 'AverageValue'] as const);
  if (type === undefined) {
    return metricType === undefined
      ? reader.problem(`${path}.metricType`, `missing, ${resource} needs it`)
      : undefined;
  }
  const written = metadata['value']?.trim() ?? '';
  const amount = type === 'AverageValue' ? readMilli(written) : undefined;
  const percent = type === 'Utilization' && /^\d+$/.test(written) ? Number(written) : undefined;
  if ((amount === undefined || amount <= 0n) && (percent === undefined || percent <= 0)) {
    const expected = type === 'Utilization' ? 'a whole percentage above 0, without %' : 'a quantity above 0';
    return reader.problem(`${path}.metadata.value`, `expected ${expected}, found "${written}"`);
  }
  const target =
    percent !== undefined
      ? ({ type: 'Utilization', averageUtilization: percent } as const)
      : ({ type: 'AverageValue', averageValue: amount ?? 0n } as const);
  const container = metadata['containerName']?.trim() ?? '';
  return container === ''
    ? { type: 'Resource', resource, target }
    : { type: 'ContainerResource', resource, container, target };
}

function metadataOf(reader: PlainReader, value: unknown, path: string): TriggerMetadata {
  const map = reader.map(value, path) ?? {};
  return Object.fromEntries(
    Object.entries(map).map(([key, one]) => [key, reader.text(one, `${path}.${key}`)]),
  );
}
