import { maxInt64, readMilli } from './milli';
import type { Milli } from './milli';

/** The metadata of a trigger, whose values are text. */
export type TriggerMetadata = Readonly<Record<string, string | undefined>>;

/** What the HPA compares a trigger's metric with, or why that cannot be told from the manifest. */
export type TriggerTarget =
  { readonly ok: true; readonly target: Milli } | { readonly ok: false; readonly why: string };

/** Where a trigger type has its target, with KEDA's default. `fixed`: not in the metadata at all. */
type TargetSource =
  | { readonly fixed: string }
  | { readonly field: string; readonly default?: string }
  | ((metadata: TriggerMetadata) => { readonly field: string; readonly default?: string });

/** Field names and defaults are those of the struct tags in kedacore/keda pkg/scalers, commit 8b4f083 (2026-08). */
const targets: Readonly<Record<string, TargetSource>> = {
  'apache-kafka': { field: 'lagThreshold', default: '10' },
  'aws-cloudwatch': { field: 'targetMetricValue' },
  'aws-dynamodb': { field: 'targetValue' },
  'aws-dynamodb-streams': { field: 'shardCount', default: '2' },
  'aws-kinesis-stream': { field: 'shardCount', default: '2' },
  'aws-sqs-queue': { field: 'queueLength', default: '5' },
  // The metric of a cron trigger is the wanted number of replicas itself.
  cron: { fixed: '1' },
  // Both names are read; with useClusterAgentProxy only the second.
  datadog: (metadata) => ({ field: isSet(metadata['queryValue']) ? 'queryValue' : 'targetValue' }),
  graphite: { field: 'threshold', default: '100' },
  influxdb: { field: 'thresholdValue' },
  kafka: { field: 'lagThreshold', default: '10' },
  'kubernetes-workload': { field: 'value' },
  loki: { field: 'threshold' },
  'metrics-api': { field: 'targetValue' },
  'nats-jetstream': { field: 'lagThreshold', default: '10' },
  'new-relic': { field: 'threshold' },
  postgresql: { field: 'targetQueryValue' },
  prometheus: { field: 'threshold' },
  rabbitmq: (metadata) =>
    isSet(metadata['value']) ? { field: 'value' } : { field: 'queueLength', default: '20' },
  redis: { field: 'listLength', default: '5' },
  'redis-cluster': { field: 'listLength', default: '5' },
  'redis-sentinel': { field: 'listLength', default: '5' },
  'redis-streams': redisStreams,
  'redis-cluster-streams': redisStreams,
  'redis-sentinel-streams': redisStreams,
  temporal: { field: 'targetQueueSize', default: '5' },
};

function redisStreams(metadata: TriggerMetadata): { readonly field: string; readonly default?: string } {
  if (!isSet(metadata['consumerGroup'])) return { field: 'streamLength', default: '5' };
  const lag = metadata['lagCount'];
  return isSet(lag) && Number(lag) !== 0
    ? { field: 'lagCount' }
    : { field: 'pendingEntriesCount', default: '5' };
}

/** An empty value counts as absent, and spaces around it are cut. */
function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

/** A JSON number, which is what KEDA reads; `.5`, `05` and `100m` are none. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The target that KEDA puts into the HPA for a trigger that is not cpu or memory. */
export function targetOf(type: string, metadata: TriggerMetadata): TriggerTarget {
  const source = targets[type];
  if (source === undefined) return { ok: false, why: `the target of a trigger of type ${type} is not known` };
  const place = typeof source === 'function' ? source(metadata) : source;
  const written = 'fixed' in place ? place.fixed : metadata[place.field]?.trim() || place.default;
  if (written === undefined) {
    const field = 'field' in place ? place.field : '';
    return { ok: false, why: `${type} has no ${field} in its metadata` };
  }
  const value = jsonNumber.test(written) ? Number(written) : Number.NaN;
  if (!Number.isFinite(value)) return { ok: false, why: `"${written}" is no number that KEDA reads` };
  // KEDA cuts the number to whole thousandths.
  const milli = readMilli(`${Math.trunc(value * 1000)}m`) ?? maxInt64;
  if (milli <= 0n)
    return { ok: false, why: `a target of ${written} is not above 0, so the API server refuses the HPA` };
  return { ok: true, target: milli };
}

/** The part of the metric's name after `s<index>-`; `exact` where it is what KEDA itself makes. */
export function metricNameOf(
  type: string,
  metadata: TriggerMetadata,
): { readonly name: string; readonly exact: boolean } {
  const exact = (name: string) => ({ name: name.replace(/[/.:%()]/g, '-'), exact: true });
  switch (type) {
    case 'prometheus':
    case 'aws-cloudwatch':
      return exact(type);
    case 'aws-sqs-queue': {
      const url = metadata['queueURL']?.trim();
      return isSet(url)
        ? exact(`aws-sqs-${url.slice(url.lastIndexOf('/') + 1)}`)
        : { name: type, exact: false };
    }
    case 'kafka':
    case 'apache-kafka': {
      const topic = metadata['topic']?.trim();
      if (isSet(topic)) return exact(`kafka-${topic}`);
      const group = metadata['consumerGroup']?.trim();
      return isSet(group) ? exact(`kafka-${group}-topics`) : { name: type, exact: false };
    }
    default:
      return { name: type, exact: false };
  }
}
