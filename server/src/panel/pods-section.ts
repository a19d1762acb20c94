import type { PodView } from '../live/cluster';
import { counted, countText, durationText, percentText, agoText } from '../live/format';
import {
  acceleratorsOf,
  failuresOf,
  isActive,
  isReady,
  restartsOf,
  statusWord,
  isUnscheduled,
} from '../live/pods';
import type { Instant } from '../live/reading';
import { partValue } from '../live/readings';
import type { Readings } from '../live/readings';
import type { Action, Cell, Row, Section, State, Table } from './model';
import { column, empty, numberCell, section, sectionOf, table, textCell } from './shown';
import { describeCommand } from './scaling';
import type { Places } from './places';

const columns = [
  column('pod', 'Pod', 'name'),
  column('status', 'Status', 'state'),
  column('ready', 'Ready', 'number', 'Containers that are ready, of all'),
  column('restarts', 'Restarts', 'number'),
  column('last', 'Last end'),
  column('node', 'Node', 'name'),
  column('type', 'Instance type', 'name'),
  column('gpus', 'GPUs', 'number', 'What it asks for'),
  column('gpu', 'GPU', 'number', 'Utilisation of its GPUs, mean'),
  column('vram', 'VRAM', 'number', 'Its fullest GPU'),
  column('waiting', 'Queue', 'number', 'Requests that wait'),
  column('kv', 'KV cache', 'number'),
  column('age', 'Age', 'number'),
];

export function podsSection(readings: Readings, places: Places, now: Instant): Section<Table> {
  return sectionOf(readings.snapshot.cluster.pods, (pods) => {
    if (pods.length === 0) return empty('The workload has no pods', '', 'info');
    const nodes = new Map(
      (partValue(readings.snapshot.cluster.nodes) ?? []).map((node) => [node.name, node]),
    );
    const devices = devicesByPod(readings);
    const rows = pods.map((pod) => rowOf(pod, readings, nodes, devices.get(key(pod)) ?? [], places, now));
    const active = pods.filter(isActive);
    const ready = active.filter(isReady).length;
    const pending = pods.filter(isUnscheduled).length;
    const summary = [
      ready === active.length
        ? `${counted(active.length, 'pod')}, all ready`
        : `${countText(active.length - ready)} of ${counted(active.length, 'pod')} ${active.length - ready === 1 ? 'is' : 'are'} not ready`,
      pending > 0 ? `${countText(pending)} without a node` : '',
      strangersText(readings),
    ]
      .filter((part) => part !== '')
      .join(', ');
    return section(table('pods', columns, rows, summary, { column: 'status', descending: false }));
  });
}

function key({ pod }: PodView): string {
  return `${pod.namespace}/${pod.name}`;
}

type DeviceList = ReturnType<Readings['devices']>;

function devicesByPod(readings: Readings): ReadonlyMap<string, DeviceList> {
  const result = new Map<string, DeviceList[number][]>();
  for (const kind of ['gpu', 'neuron-core'] as const) {
    for (const one of readings.devices(kind)) {
      const { pod } = one.device;
      if (pod === undefined) continue;
      const name = `${pod.namespace}/${pod.name}`;
      const list = result.get(name);
      if (list === undefined) result.set(name, [one]);
      else list.push(one);
    }
  }
  return result;
}

function strangersText(readings: Readings): string {
  const strangers = readings.devices('gpu').filter(({ use }) => use === 'unattributed').length;
  return strangers === 0
    ? ''
    : `${counted(strangers, 'GPU')} on its nodes unattributed: no label tells whose they are`;
}

function rowOf(
  pod: PodView,
  readings: Readings,
  nodes: ReadonlyMap<string, { readonly instanceType?: string; readonly capacityType?: string }>,
  devices: DeviceList,
  places: Places,
  now: Instant,
): Row {
  const state = stateOf(pod, now);
  const status = statusWord(pod);
  const main = pod.containers.filter(({ role }) => role !== 'init');
  const readyCount = main.filter(({ ready }) => ready).length;
  const restarts = restartsOf(pod);
  const [failure] = failuresOf([pod]);
  const node = pod.node === undefined ? undefined : nodes.get(pod.node);
  const gpus = acceleratorsOf(pod);
  const count = gpus.reduce((sum, one) => sum + one.count, 0);
  const why = waitingMessage(pod);
  return {
    id: key(pod),
    state,
    actions: actionsOf(pod, places, restarts),
    cells: [
      textCell(pod.pod.name),
      numberCell(status, statusRank[state], why, state),
      numberCell(`${readyCount}/${main.length}`, readyCount - main.length),
      numberCell(countText(restarts), restarts, undefined, restarts > 0 ? 'warning' : 'good'),
      failure === undefined
        ? textCell('none')
        : textCell(
            `${failure.termination.reason === '' ? 'ended' : failure.termination.reason} (${failure.termination.exitCode})${failure.termination.finishedAt === undefined ? '' : `, ${agoText(failure.termination.finishedAt, now)}`}`,
            failure.termination.message,
            'warning',
          ),
      textCell(pod.node ?? 'none yet'),
      textCell(
        node === undefined
          ? 'not known'
          : [node.instanceType ?? 'not known', node.capacityType === 'spot' ? 'spot' : '']
              .filter((part) => part !== '')
              .join(', '),
      ),
      numberCell(
        count === 0 ? 'none' : countText(count),
        count,
        gpus.map(({ resource, count: each }) => `${each} ${resource}`).join(', '),
      ),
      deviceCell(devices, 'mean'),
      deviceCell(devices, 'fullest'),
      observedCell(readings, pod, 'queue.waiting'),
      observedCell(readings, pod, 'kv-cache.usage'),
      numberCell(durationText(now - pod.createdAt), now - pod.createdAt),
    ],
  };
}

/** What needs attention sorts first. */
const statusRank: Readonly<Record<State, number>> = { critical: 0, warning: 1, info: 2, unknown: 3, good: 4 };

function stateOf(pod: PodView, now: Instant): State {
  if (pod.deletingSince !== undefined || pod.phase === 'Succeeded') return 'info';
  if (pod.phase === 'Failed') return 'critical';
  if (pod.phase === 'Unknown') return 'unknown';
  const bad = pod.containers.some(
    ({ state }) =>
      state.kind === 'waiting' &&
      /BackOff|Err|Invalid|CreateContainer.*Error|RunContainerError/.test(state.reason),
  );
  if (bad) return 'critical';
  if (isReady(pod)) return 'good';
  return now - pod.createdAt > 600_000 ? 'warning' : 'info';
}

function waitingMessage(pod: PodView): string | undefined {
  const waiting = pod.containers.flatMap(({ state, name }) =>
    state.kind === 'waiting' && state.message !== '' ? [`${name}: ${state.message}`] : [],
  );
  return waiting[0] ?? pod.message;
}

function actionsOf(pod: PodView, places: Places, restarts: number): readonly Action[] {
  const main = pod.containers.find(({ role }) => role === 'main');
  const container = main === undefined ? {} : { container: main.name };
  const started = pod.node !== undefined && pod.containers.some(({ state }) => state.kind !== 'waiting');
  const log = (previous: boolean): Action => ({
    title: previous ? 'Open the log before the last restart' : 'Open the log',
    intent: { kind: 'open-log', pod: pod.pod, ...container, previous },
  });
  const describe: Action = {
    title: 'Describe in a terminal',
    intent: { kind: 'terminal', command: describeCommand({ kind: 'pod', ...pod.pod }) },
  };
  const place = places.resources(main?.name) ?? places.object;
  return [
    ...(started ? [log(false)] : [describe]),
    ...(restarts > 0 ? [log(true)] : []),
    ...(place === undefined
      ? []
      : [{ title: 'Open the line', intent: { kind: 'open-place' as const, place } }]),
    ...(started ? [describe] : []),
    {
      title: 'Show the pod as YAML',
      intent: { kind: 'open-live-object', object: { apiVersion: 'v1', kind: 'Pod', ...pod.pod } },
    },
  ];
}

function deviceCell(devices: DeviceList, how: 'mean' | 'fullest'): Cell {
  const values = devices.flatMap(({ device, of }) => {
    const observed =
      how === 'fullest'
        ? of('gpu.memory.usage')
        : of(device.device === 'gpu' ? 'gpu.utilization' : 'neuron.core.utilization');
    return observed.kind === 'reading' ? [observed.value] : [];
  });
  if (values.length === 0) {
    return numberCell(
      'not known',
      null,
      devices.length === 0 ? 'no device carries its label' : 'no source tells it',
    );
  }
  const value =
    how === 'mean' ? values.reduce((sum, one) => sum + one, 0) / values.length : Math.max(...values);
  return numberCell(percentText(value), value, `${how} of ${counted(values.length, 'device')}`);
}

function observedCell(
  readings: Readings,
  { pod }: PodView,
  metric: 'queue.waiting' | 'kv-cache.usage',
): Cell {
  const observed = readings.ofPod(metric, pod);
  if (observed.kind === 'absent') return numberCell('not known', null, observed.message);
  const text = metric === 'queue.waiting' ? countText(observed.value) : percentText(observed.value);
  return numberCell(text, observed.value, observed.source.from);
}
