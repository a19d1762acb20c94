import type { ClusterView, PodView } from './cluster';
import { durationText } from './format';
import type { DeviceKind, Measurement, PodName, Series, Subject } from './measurement';
import { absent } from './reading';
import type { Absent, Duration, Instant, Observed, Part, Reading, SourceId } from './reading';
import type { LiveSnapshot } from './snapshot';
import { vocabulary } from './vocabulary';
import type { MetricId } from './vocabulary';

export type Device = Extract<Subject, { kind: 'device' }>;

/** The device as one of a list, with all that is known of it. */
export interface DeviceReadings {
  readonly device: Device;
  /** Whose it is, by its labels. Without one nobody knows, also where only one pod could have it. */
  readonly use: 'workload' | 'other' | 'unattributed';
  readonly of: (metric: MetricId) => Observed;
}

/** A value made of those of several pods or devices; `known` of `total` had one. */
export interface Combined {
  readonly observed: Observed;
  readonly known: number;
  readonly total: number;
}

/** Columns on one time axis. */
export interface History {
  readonly at: readonly Instant[];
  readonly values: readonly (number | null)[];
  readonly step: Duration;
  readonly sources: readonly string[];
}

/** A snapshot, prepared for questions. Made once for each snapshot; all answers are worked out when asked. */
export interface Readings {
  readonly snapshot: LiveSnapshot;
  readonly pods: readonly PodView[] | undefined;
  /** The metric for the whole workload: as a source says it, else put together from pods or devices. */
  now(metric: MetricId): Combined;
  /** As {@link now}, but values older than two refreshes are absent with `stale`: verdicts judge by what holds now. */
  fresh(metric: MetricId): Observed;
  ofPod(metric: MetricId, pod: PodName, container?: string): Observed;
  /** Devices on nodes of the workload, or of all nodes that are known when none of its pods is scheduled. */
  devices(kind: DeviceKind): readonly DeviceReadings[];
  /** Every series of a metric; those of pods and devices that are not the workload's left out. */
  series(metric: MetricId): readonly Series[];
  /** The metric of the workload over the range. */
  history(metric: MetricId): History | undefined;
}

/** Which source is believed where several answer: the nearest to the process first. */
const preference: readonly SourceId[] = ['demo', 'engine-metrics', 'kubernetes', 'prometheus', 'cloudwatch'];

/**
 * What a source may be late by of itself. CloudWatch gives a period about two minutes after its end. A watch of the API
 * server is up to date as long as it stands, and is heard of once a minute when nothing changes (bookmarks).
 */
const lateness: Readonly<Partial<Record<SourceId, Duration>>> = { cloudwatch: 180_000, kubernetes: 150_000 };

/** How old a value may be before it counts as old: two refreshes. What is measured over a window comes with it. */
export function isStale(reading: Reading, snapshot: Pick<LiveSnapshot, 'at' | 'refresh'>): boolean {
  const allowed = Math.max(2 * snapshot.refresh, 3 * reading.window);
  return snapshot.at - reading.at > allowed + (lateness[reading.source.source] ?? 0);
}

/** A value for use where only what holds now counts. */
export function freshOf(observed: Observed, snapshot: Pick<LiveSnapshot, 'at' | 'refresh'>): Observed {
  if (observed.kind === 'absent' || !isStale(observed, snapshot)) return observed;
  return absent('stale', `the last value is ${durationText(snapshot.at - observed.at)} old`, {
    source: observed.source.source,
  });
}

/** Of a part that may be absent: its value, or nothing. */
export function partValue<T>(part: Part<T>): T | undefined {
  return part.kind === 'known' ? part.value : undefined;
}

export function isSamePod(a: PodName, b: PodName): boolean {
  return a.name === b.name && a.namespace === b.namespace;
}

const prepared = new WeakMap<LiveSnapshot, Readings>();

export function readingsOf(snapshot: LiveSnapshot): Readings {
  const known = prepared.get(snapshot);
  if (known !== undefined) return known;
  const made = make(snapshot);
  prepared.set(snapshot, made);
  return made;
}

function make(snapshot: LiveSnapshot): Readings {
  const pods = partValue(snapshot.cluster.pods);
  const own = pods === undefined ? undefined : new Set(pods.map(({ pod }) => podKey(pod)));
  const byMetric = new Map<MetricId, Measurement[]>();
  for (const measurement of snapshot.measurements) {
    const list = byMetric.get(measurement.metric);
    if (list === undefined) byMetric.set(measurement.metric, [measurement]);
    else list.push(measurement);
  }
  const seriesByMetric = new Map<MetricId, Series[]>();
  for (const series of snapshot.series) {
    const list = seriesByMetric.get(series.metric);
    if (list === undefined) seriesByMetric.set(series.metric, [series]);
    else list.push(series);
  }
  if (!seriesByMetric.has('gpu.memory.usage')) {
    const shares = usageSeries(seriesByMetric.get('gpu.memory.used'), seriesByMetric.get('gpu.memory.total'));
    if (shares.length > 0) seriesByMetric.set('gpu.memory.usage', shares);
  }
  const memo = new Map<string, Combined>();
  const podMemo = new Map<MetricId, Map<string, Measurement[]>>();
  const deviceMemo = new Map<DeviceKind, readonly DeviceReadings[]>();
  const historyMemo = new Map<MetricId, History | undefined>();
  const nodes = new Set((pods ?? []).flatMap(({ node }) => (node === undefined ? [] : [node])));

  const isOwn = (subject: Subject): boolean => {
    if (subject.kind === 'pod') return own === undefined || own.has(podKey(subject.pod));
    if (subject.kind === 'device') {
      if (subject.pod !== undefined) return own === undefined || own.has(podKey(subject.pod));
      return false;
    }
    return subject.kind === 'workload' || subject.kind === 'cluster';
  };

  const readings: Readings = {
    snapshot,
    pods,
    now(metric) {
      const known = memo.get(metric);
      if (known !== undefined) return known;
      const all = withoutSplits(metric, byMetric.get(metric) ?? []);
      const result = combine(snapshot, metric, all, isOwn, readings);
      memo.set(metric, result);
      return result;
    },
    fresh: (metric) => freshOf(readings.now(metric).observed, snapshot),
    ofPod(metric, pod, container) {
      let table = podMemo.get(metric);
      if (table === undefined) {
        table = new Map();
        for (const one of byMetric.get(metric) ?? []) {
          if (one.subject.kind !== 'pod') continue;
          const key = podKey(one.subject.pod);
          const list = table.get(key);
          if (list === undefined) table.set(key, [one]);
          else list.push(one);
        }
        podMemo.set(metric, table);
      }
      const found = (table.get(podKey(pod)) ?? []).filter(
        ({ subject }) =>
          container === undefined ||
          (subject.kind === 'pod' && (subject.container ?? container) === container),
      );
      return addUp(metric, onePerSubject(found)).observed ?? nothing(snapshot, metric);
    },
    devices(kind) {
      const known = deviceMemo.get(kind);
      if (known !== undefined) return known;
      const result = devicesOf(snapshot, kind, own, nodes);
      deviceMemo.set(kind, result);
      return result;
    },
    series(metric) {
      return (seriesByMetric.get(metric) ?? []).filter(
        ({ subject }) => isOwn(subject) || subject.kind === 'node' || isNear(subject, nodes),
      );
    },
    history(metric) {
      if (historyMemo.has(metric)) return historyMemo.get(metric);
      const result = historyOf(
        metric,
        (seriesByMetric.get(metric) ?? []).filter(({ subject }) => isOwn(subject)),
      );
      historyMemo.set(metric, result);
      return result;
    },
  };
  return readings;
}

function podKey({ namespace, name }: PodName): string {
  return `${namespace}/${name}`;
}

/** A device that no label explains, on a node of the workload. */
function isNear(subject: Subject, nodes: ReadonlySet<string>): boolean {
  return subject.kind === 'device' && subject.pod === undefined && nodes.has(subject.node);
}

/** What is split by a label (finish reasons), put together for each subject and source. */
function withoutSplits(metric: MetricId, measurements: readonly Measurement[]): readonly Measurement[] {
  if (measurements.every(({ labels }) => labels === undefined)) return measurements;
  const groups = new Map<string, Measurement[]>();
  for (const one of measurements) {
    const from = one.observed.kind === 'reading' ? one.observed.source.source : (one.observed.source ?? '');
    const key = `${from} ${subjectKey(one.subject)}`;
    const list = groups.get(key);
    if (list === undefined) groups.set(key, [one]);
    else list.push(one);
  }
  return [...groups.values()].flatMap((group): readonly Measurement[] => {
    const [first] = group;
    const whole = group.filter(({ labels }) => labels === undefined);
    const parts = (whole.length > 0 ? whole : group).map(({ observed }) => observed);
    const { observed } = addUp(metric, parts);
    return first === undefined || observed === undefined
      ? []
      : [{ metric, subject: first.subject, observed }];
  });
}

/** The best of several answers to one question: readings before reasons, then by {@link preference}. */
function best(answers: readonly Observed[]): Observed | undefined {
  let chosen: Observed | undefined;
  for (const answer of answers) {
    if (chosen === undefined || rank(answer) < rank(chosen)) chosen = answer;
  }
  return chosen;
}

const absentRank: readonly Absent['why'][] = [
  'too-few-points',
  'stale',
  'denied',
  'failed',
  'no-data',
  'not-configured',
];

function rank(observed: Observed): number {
  if (observed.kind === 'absent') return 100 + absentRank.indexOf(observed.why);
  return preference.indexOf(observed.source.source);
}

function subjectKey(subject: Subject): string {
  switch (subject.kind) {
    case 'pod':
      return `pod ${podKey(subject.pod)} ${subject.container ?? ''}`;
    case 'device':
      return `${subject.device} ${subject.node} ${subject.id}`;
    case 'node':
      return `node ${subject.node}`;
    case 'namespace':
      return `namespace ${subject.namespace}`;
    case 'workload':
    case 'cluster':
      return subject.kind;
  }
}

/** One answer for each subject. */
function onePerSubject(measurements: readonly Measurement[]): readonly Observed[] {
  const groups = new Map<string, { readonly subject: Subject; observed: Observed }>();
  const byContainer = new Map<string, string[]>();
  for (const { subject, observed } of measurements) {
    const key = subjectKey(subject);
    const known = groups.get(key);
    if (known !== undefined) {
      if (rank(observed) < rank(known.observed)) known.observed = observed;
      continue;
    }
    groups.set(key, { subject, observed });
    if (subject.kind !== 'pod' || subject.container === undefined) continue;
    const pod = podKey(subject.pod);
    const list = byContainer.get(pod);
    if (list === undefined) byContainer.set(pod, [key]);
    else list.push(key);
  }
  // A pod as a whole and its containers are two ways to say one thing.
  for (const [pod, containers] of byContainer) {
    const whole = groups.get(`pod ${pod} `);
    if (whole === undefined) continue;
    if (whole.observed.kind === 'reading') for (const key of containers) groups.delete(key);
    else groups.delete(`pod ${pod} `);
  }
  return [...groups.values()].map(({ observed }) => observed);
}

function addUp(
  metric: MetricId,
  answers: readonly Observed[],
): { readonly observed: Observed | undefined; readonly known: number; readonly total: number } {
  const known = answers.filter((one): one is Reading => one.kind === 'reading');
  const total = answers.length;
  const [first] = known;
  if (first === undefined) return { observed: best(answers), known: 0, total };
  if (known.length === 1) return { observed: first, known: 1, total };
  const { combine: how, unit } = vocabulary[metric];
  if (how === 'none') {
    const message = `it is known for ${known.length} pods, and makes no sense when put together`;
    return { observed: absent('no-data', message), known: known.length, total };
  }
  const values = known.map(({ value }) => value);
  const sum = values.reduce((all, value) => all + value, 0);
  const value =
    how === 'sum'
      ? sum
      : how === 'mean'
        ? sum / values.length
        : how === 'max'
          ? Math.max(...values)
          : Math.min(...values);
  const at = Math.min(...known.map((one) => one.at));
  const window = Math.max(...known.map((one) => one.window));
  const observed: Reading = { kind: 'reading', value, unit, at, window, source: first.source };
  return { observed, known: known.length, total };
}

function combine(
  snapshot: LiveSnapshot,
  metric: MetricId,
  measurements: readonly Measurement[],
  isOwn: (subject: Subject) => boolean,
  readings: Readings,
): Combined {
  const direct = measurements.filter(
    ({ subject }) => subject.kind === 'workload' || subject.kind === 'cluster',
  );
  const whole = best(direct.map(({ observed }) => observed));
  if (whole?.kind === 'reading') return { observed: whole, known: 1, total: 1 };
  const parts = measurements.filter(({ subject }) => subject.kind === 'pod' && isOwn(subject));
  const ofDevices = metric.startsWith('gpu.')
    ? readings.devices('gpu')
    : metric.startsWith('neuron.core') || metric.startsWith('neuron.memory')
      ? readings.devices('neuron-core')
      : [];
  const answers = [
    ...onePerSubject(parts),
    ...ofDevices.filter(({ use }) => use === 'workload').map(({ of }) => of(metric)),
  ];
  const { observed, known, total } = addUp(metric, answers);
  if (observed !== undefined) return { observed, known, total };
  if (whole !== undefined) return { observed: whole, known: 0, total: 1 };
  const strangers = ofDevices.filter(({ use }) => use === 'unattributed').length;
  if (strangers > 0) {
    const message = `${strangers} GPUs on its nodes carry no label of a pod, so they are unattributed`;
    const remedy =
      'Let the DCGM exporter map pods (DCGM_EXPORTER_KUBERNETES=true), or honor its labels in Prometheus';
    return { observed: absent('no-data', message, { remedy }), known: 0, total: strangers };
  }
  return { observed: nothing(snapshot, metric), known: 0, total: 0 };
}

/** Why nobody said anything about a metric: what the sources that could have say of themselves. */
function nothing(snapshot: LiveSnapshot, metric: MetricId): Absent {
  const able = snapshot.sources.filter(
    ({ source, state }) => canTell(source, metric) && state !== 'not-configured',
  );
  const unset = snapshot.sources.filter(
    ({ source, state }) => canTell(source, metric) && state === 'not-configured',
  );
  const denied = able.find(({ state }) => state === 'denied');
  const failed = able.find(({ state }) => state === 'failed' || state === 'slow');
  const waiting = able.find(({ state }) => state === 'reading');
  const first = denied ?? failed;
  if (first !== undefined) {
    const problem = first.problems[0];
    return absent(
      first.state === 'denied' ? 'denied' : 'failed',
      problem?.message ?? `the source is ${first.state}`,
      {
        source: first.source,
        ...(problem?.remedy === undefined ? {} : { remedy: problem.remedy }),
      },
    );
  }
  if (waiting !== undefined) {
    return absent('too-few-points', 'the first answer is on its way', { source: waiting.source });
  }
  if (able.length === 0) {
    const names = unset.map(({ source }) => source);
    return absent('not-configured', 'no source that could tell is set up', {
      ...(names.length === 0 ? {} : { remedy: `Set up ${names.join(' or ')}` }),
    });
  }
  const problem = able.flatMap(({ problems }) => problems)[0];
  return absent(
    'no-data',
    problem === undefined ? 'no source has it' : `no source has it; ${problem.message}`,
    {
      ...(problem?.remedy === undefined ? {} : { remedy: problem.remedy }),
    },
  );
}

function canTell(source: SourceId, metric: MetricId): boolean {
  switch (source) {
    case 'demo':
      return false;
    case 'kubernetes':
      return /^(cpu|memory|restarts|replicas|scaler|cluster)\./.test(metric);
    case 'engine-metrics':
      return !/^(cpu|memory|restarts|replicas|scaler|cluster|api-server|efa)\./.test(metric);
    case 'prometheus':
      return true;
    case 'cloudwatch':
      return !/^(queue|kv-cache|prefix-cache)\./.test(metric);
  }
}

function devicesOf(
  snapshot: LiveSnapshot,
  kind: DeviceKind,
  own: ReadonlySet<string> | undefined,
  nodes: ReadonlySet<string>,
): readonly DeviceReadings[] {
  const byDevice = new Map<string, { device: Device; metrics: Map<MetricId, Observed[]> }>();
  for (const { metric, subject, observed } of snapshot.measurements) {
    if (subject.kind !== 'device' || subject.device !== kind) continue;
    const key = `${subject.node} ${subject.id}`;
    let entry = byDevice.get(key);
    if (entry === undefined) byDevice.set(key, (entry = { device: subject, metrics: new Map() }));
    // One exporter may know the pod where another does not.
    else if (entry.device.pod === undefined && subject.pod !== undefined) entry.device = subject;
    const list = entry.metrics.get(metric);
    if (list === undefined) entry.metrics.set(metric, [observed]);
    else list.push(observed);
  }
  return [...byDevice.values()]
    .filter(({ device }) => device.pod !== undefined || nodes.size === 0 || nodes.has(device.node))
    .map(({ device, metrics }): DeviceReadings => {
      const use =
        device.pod === undefined
          ? 'unattributed'
          : own === undefined || own.has(podKey(device.pod))
            ? 'workload'
            : 'other';
      return {
        device,
        use,
        of(metric) {
          const answer = best(metrics.get(metric) ?? []);
          if (answer !== undefined) return answer;
          return metric === 'gpu.memory.usage' ? usage(metrics) : nothing(snapshot, metric);
        },
      };
    })
    .sort(
      (a, b) =>
        compareNames(a.device.node, b.device.node) || compareNames(nameOf(a.device), nameOf(b.device)),
    );
}

const compareNames = new Intl.Collator('en', { numeric: true }).compare;

function nameOf({ index, id }: Device): string {
  return index ?? id;
}

/** Memory in use as a share, of the two amounts. */
function usage(metrics: ReadonlyMap<MetricId, Observed[]>): Observed {
  const used = best(metrics.get('gpu.memory.used') ?? []);
  const total = best(metrics.get('gpu.memory.total') ?? []);
  if (used === undefined || total === undefined) {
    return absent('no-data', 'memory in use and in total are not both known');
  }
  if (used.kind === 'absent') return used;
  if (total.kind === 'absent') return total;
  if (total.value <= 0) return absent('failed', 'the memory of the device is said to be 0');
  const from = `${used.source.from} / ${total.source.from}`;
  return { ...used, value: used.value / total.value, unit: 'ratio', source: { ...used.source, from } };
}

/** Memory in use as a share over time, for devices of which both amounts have a history. */
function usageSeries(used: readonly Series[] = [], total: readonly Series[] = []): Series[] {
  const totals = new Map(total.map((series) => [subjectKey(series.subject), series]));
  return used.flatMap((series): readonly Series[] => {
    const whole = totals.get(subjectKey(series.subject));
    // What a device has does not change; the latest that is known holds.
    const size = whole?.values.findLast((value) => value !== null && value > 0);
    if (whole === undefined || size === undefined || size === null) return [];
    const from = `${series.source.from} / ${whole.source.from}`;
    const values = series.values.map((value) => (value === null ? null : value / size));
    return [
      { ...series, metric: 'gpu.memory.usage', unit: 'ratio', values, source: { ...series.source, from } },
    ];
  });
}

/** The workload's own series where a source has it, else pods and devices put together on the grid of the finest. */
function historyOf(metric: MetricId, all: readonly Series[]): History | undefined {
  const whole = all
    .filter(
      ({ subject, labels }) =>
        subject.kind === 'workload' && (labels === undefined || labels['reason'] === undefined),
    )
    .sort((a, b) => preference.indexOf(a.source.source) - preference.indexOf(b.source.source))[0];
  if (whole !== undefined) {
    return { at: whole.at, values: whole.values, step: whole.step, sources: [sourceText(whole)] };
  }
  const parts = onePerSeries(
    all.filter(({ subject }) => subject.kind === 'pod' || subject.kind === 'device'),
  );
  const how = vocabulary[metric].combine;
  if (parts.length === 0 || (how === 'none' && parts.length > 1)) return undefined;
  const step = Math.min(...parts.map((series) => series.step));
  const grid = gridOf(parts, step);
  const sums = new Float64Array(grid.length);
  const counts = new Uint32Array(grid.length);
  for (const series of parts) {
    onGrid(series, grid, step).forEach((value, index) => {
      if (value === null) return;
      const sum = sums[index] ?? 0;
      const first = counts[index] === 0;
      if (how === 'max') sums[index] = first ? value : Math.max(sum, value);
      else if (how === 'min') sums[index] = first ? value : Math.min(sum, value);
      else sums[index] = sum + value;
      counts[index] = (counts[index] ?? 0) + 1;
    });
  }
  const values = grid.map((_, index) => {
    const count = counts[index] ?? 0;
    if (count === 0) return null;
    const sum = sums[index] ?? 0;
    return how === 'mean' || how === 'none' ? sum / count : sum;
  });
  return { at: grid, values, step, sources: [...new Set(parts.map(sourceText))] };
}

function sourceText({ source }: Series): string {
  return `${source.source}: ${source.from}`;
}

function onePerSeries(all: readonly Series[]): readonly Series[] {
  const groups = new Map<string, Series>();
  for (const series of all) {
    const key = subjectKey(series.subject);
    const known = groups.get(key);
    if (
      known === undefined ||
      preference.indexOf(series.source.source) < preference.indexOf(known.source.source)
    ) {
      groups.set(key, series);
    }
  }
  return [...groups.values()];
}

/** Multiples of the step from the first to the last point of the series. */
export function gridOf(series: readonly Pick<Series, 'at'>[], step: Duration): readonly Instant[] {
  const starts = series.flatMap(({ at }) => (at[0] === undefined ? [] : [at[0]]));
  const ends = series.flatMap(({ at }) => {
    const end = at.at(-1);
    return end === undefined ? [] : [end];
  });
  if (starts.length === 0 || step <= 0) return [];
  const first = Math.round(Math.min(...starts) / step) * step;
  const last = Math.round(Math.max(...ends) / step) * step;
  // A broken source must not make a page of a million points.
  const count = Math.min(5000, Math.round((last - first) / step) + 1);
  return Array.from({ length: count }, (_, index) => first + index * step);
}

/**
 * The values of a series at the instants of a grid: the last point of each cell, carried on only as far as the
 * series' own step reaches. What is farther apart stays a gap.
 */
export function onGrid(
  { at, values, step }: Pick<Series, 'at' | 'values' | 'step'>,
  grid: readonly Instant[],
  gridStep: Duration,
): readonly (number | null)[] {
  const reach = Math.max(step, gridStep);
  let index = 0;
  let latest: { at: Instant; value: number | null } | undefined;
  return grid.map((instant) => {
    for (;;) {
      const next = at[index];
      if (next === undefined || next > instant + gridStep / 2) break;
      latest = { at: next, value: values[index] ?? null };
      index++;
    }
    if (latest === undefined || instant - latest.at >= reach) return null;
    return latest.value;
  });
}

/** Values of the last `over` milliseconds before `now`; gaps left out. */
export function lastValues(
  history: History | undefined,
  now: Instant,
  over: Duration,
  until: Duration = 0,
): readonly number[] {
  if (history === undefined) return [];
  const result: number[] = [];
  history.at.forEach((at, index) => {
    const value = history.values[index];
    if (at > now - over && at <= now - until && value !== null && value !== undefined) result.push(value);
  });
  return result;
}

export function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function medianOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/**
 * Since when a history holds a condition without a break up to now; `undefined` when it does not now. Gaps of up to
 * three steps do not break it: nothing is known of them.
 */
export function heldSince(
  history: History | undefined,
  now: Instant,
  holds: (value: number) => boolean,
): { readonly since: Instant; readonly wholeRange: boolean } | undefined {
  if (history === undefined) return undefined;
  let since: Instant | undefined;
  for (let index = history.at.length - 1; index >= 0; index--) {
    const at = history.at[index] ?? 0;
    const value = history.values[index];
    if (at > now) continue;
    const edge = since ?? now;
    if (edge - at > 3 * history.step + 1)
      return since === undefined ? undefined : { since, wholeRange: false };
    if (value === null || value === undefined) continue;
    if (!holds(value)) return since === undefined ? undefined : { since, wholeRange: false };
    since = at;
  }
  return since === undefined ? undefined : { since, wholeRange: true };
}

/** The clusters' parts that a snapshot without a cluster has. */
export function emptyCluster(why: Absent): ClusterView {
  return {
    workload: why,
    replicaSets: why,
    pods: why,
    events: why,
    hpa: why,
    scaledObject: why,
    pdbs: why,
    nodes: why,
    nodeUse: why,
    nodePools: why,
    nodeClaims: why,
    logs: why,
    pendingInCluster: why,
  };
}
