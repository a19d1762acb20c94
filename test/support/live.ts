import type { ClusterView, ContainerView, PodView } from '../../server/src/live/cluster';
import type { Measurement, Series, Subject } from '../../server/src/live/measurement';
import { absent } from '../../server/src/live/reading';
import type { Instant, Part } from '../../server/src/live/reading';
import { emptyCluster } from '../../server/src/live/readings';
import type { AppliedObject } from '../../server/src/live/lookup';
import type { LiveSnapshot } from '../../server/src/live/snapshot';
import { metricIds, unitOf } from '../../server/src/live/vocabulary';

/**
 * What a cluster said, as fixtures of rules write it (`live.json`): a snapshot with everything left out that the case
 * is not about. Times are `now`, `now-2m`, `now-1h`; a part of the cluster that is written is known; pods and
 * containers have the fields of healthy ones where they say nothing else. A series is `{"metric", "values": [...]}` or
 * `{"metric", "value": 0.1, "points": 60}`, one point a minute up to now.
 */
export const fixtureNow: Instant = Date.UTC(2026, 11, 1);

type Plain = Readonly<Record<string, unknown>>;

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Replaces times by instants, everywhere. */
function timed(value: unknown): unknown {
  if (typeof value === 'string') {
    const match = /^now(?:-(\d+)([smhd]))?$/.exec(value);
    return match === null ? value : fixtureNow - Number(match[1] ?? 0) * (units[match[2] ?? 's'] ?? 1000);
  }
  if (Array.isArray(value)) return value.map(timed);
  if (isPlain(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, timed(inner)]));
  return value;
}

function listOf(value: unknown): readonly Plain[] {
  return Array.isArray(value) ? value.filter(isPlain) : [];
}

export function liveFixture(text: string, where: string): LiveSnapshot {
  const json = timed(JSON.parse(text) as unknown);
  if (!isPlain(json) || !isPlain(json['object'])) throw new Error(`${where}: it needs an "object"`);
  const known = ['object', 'cluster', 'measurements', 'series', 'exportedNames', 'sources', 'applied'];
  for (const key of Object.keys(json))
    if (!known.includes(key)) throw new Error(`${where}: unknown "${key}"`);
  const object = {
    apiVersion: '',
    namespace: 'default',
    ...json['object'],
  } as LiveSnapshot['want']['object'];
  const nothing = absent('not-configured', 'the fixture does not say it');
  const part = <T>(value: T): Part<T> => ({ kind: 'known', value, at: fixtureNow });
  const given = isPlain(json['cluster']) ? json['cluster'] : {};
  const cluster: Record<string, unknown> = {
    ...emptyCluster(nothing),
    hpa: absent('no-data', 'there is no HPA'),
  };
  for (const [key, value] of Object.entries(given)) {
    if (!(key in cluster)) throw new Error(`${where}: a cluster has no part "${key}"`);
    cluster[key] = part(key === 'pods' ? listOf(value).map((one) => podOf(one, object.namespace)) : value);
  }
  return {
    want: {
      object,
      engine: 'unknown',
      range: '1h',
      now: fixtureNow,
      metrics: [],
      allocationLabels: [],
      history: true,
    },
    at: fixtureNow,
    context: { name: 'fixture', namespace: object.namespace, demo: false },
    sources: [],
    cluster: cluster as unknown as ClusterView,
    measurements: listOf(json['measurements']).map((one) => measurementOf(one, where)),
    series: listOf(json['series']).map((one) => seriesOf(one, where)),
    alarms: nothing,
    logsQueries: [],
    exportedNames: Array.isArray(json['exportedNames'])
      ? part(json['exportedNames'] as readonly string[])
      : nothing,
    refresh: 15_000,
  };
}

/** Objects of a fixture that were asked for by themselves: `"applied": [{"kind": "PersistentVolumeClaim", ...}]`. */
export function appliedFixture(text: string): readonly AppliedObject[] {
  const json = JSON.parse(text) as unknown;
  return listOf(isPlain(json) ? json['applied'] : []).map((object) => {
    const metadata = isPlain(object['metadata']) ? object['metadata'] : {};
    const words = (value: unknown, otherwise: string): string =>
      typeof value === 'string' ? value : otherwise;
    return {
      ref: {
        apiVersion: words(object['apiVersion'], ''),
        kind: words(object['kind'], ''),
        namespace: words(metadata['namespace'], 'default'),
        name: words(metadata['name'], ''),
      },
      object,
    };
  });
}

function podOf(given: Plain, namespace: string): PodView {
  const { name, containers, ...rest } = given;
  const ready = given['ready'] !== false;
  const pod: Plain = {
    pod: { namespace, name: String(name) },
    uid: String(name),
    createdAt: fixtureNow - 3_600_000,
    phase: 'Running',
    node: 'node-0',
    labels: {},
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', reason: '', message: '' }],
    containers: listOf(containers).map(containerOf),
    ...rest,
  };
  // `"node": null` takes away what healthy pods have.
  return Object.fromEntries(Object.entries(pod).filter(([, value]) => value !== null)) as unknown as PodView;
}

function containerOf(given: Plain): ContainerView {
  return {
    image: '',
    role: 'main',
    ready: true,
    restarts: 0,
    state: { kind: 'running' },
    requests: {},
    limits: {},
    ports: [],
    ...given,
  } as unknown as ContainerView;
}

function metricOf(given: Plain, where: string): Measurement['metric'] {
  const found = metricIds.find((id) => id === given['metric']);
  if (found === undefined) throw new Error(`${where}: no metric "${String(given['metric'])}"`);
  return found;
}

function measurementOf(given: Plain, where: string): Measurement {
  const metric = metricOf(given, where);
  return {
    metric,
    subject: (given['subject'] ?? { kind: 'workload' }) as Subject,
    observed: {
      kind: 'reading',
      value: Number(given['value']),
      unit: unitOf(metric),
      at: fixtureNow,
      window: Number(given['window'] ?? 0),
      source: { source: 'prometheus', from: metric },
    },
  };
}

function seriesOf(given: Plain, where: string): Series {
  const metric = metricOf(given, where);
  const values = Array.isArray(given['values'])
    ? (given['values'] as (number | null)[])
    : Array.from({ length: Number(given['points']) }, () => Number(given['value']));
  return {
    metric,
    subject: (given['subject'] ?? { kind: 'workload' }) as Subject,
    unit: unitOf(metric),
    at: values.map((_, index) => fixtureNow - (values.length - 1 - index) * 60_000),
    values,
    step: 60_000,
    source: { source: 'prometheus', from: metric },
  };
}
