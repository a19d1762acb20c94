import { amountText } from '../autoscale/number-text';
import { explain, formulaText } from '../autoscale/explain';
import type { MetricOutcome } from '../autoscale/metric-outcome';
import { nameOf } from '../autoscale/spec';
import { chosenStart, coldStarts } from '../live/cold-start';
import type { ColdStart } from '../live/cold-start';
import type { Condition, EventView } from '../live/cluster';
import {
  agoText,
  bytesText,
  counted,
  countText,
  durationText,
  listed,
  percentText,
  secondsText,
} from '../live/format';
import { conditionOf, isUnscheduled, unschedulableReason } from '../live/pods';
import type { Instant } from '../live/reading';
import { partValue } from '../live/readings';
import type { Readings } from '../live/readings';
import type { ColdStartPhase, ColdStartView, Row, ScalingView, Section, State, Table } from './model';
import type { Placements } from './placements';
import type { Scaling } from '../rules/live/scaling-facts';
import { column, empty, emptyOf, numberCell, section, sectionOf, sentence, table, textCell } from './shown';
import type { Places } from './places';

export function scalingSection(
  readings: Readings,
  scaling: Scaling,
  placements: Placements,
  places: Places,
  now: Instant,
): Section<ScalingView> {
  const { cluster } = readings.snapshot;
  const parts = {
    conditions: conditionsSection(readings, scaling),
    events: eventsSection(readings, now),
    pending: pendingSection(readings, placements, now),
    nodeClaims: nodeClaimsSection(readings, now),
    coldStart: coldStartSection(readings, now),
  };
  const openMaximum =
    places.maximum === undefined
      ? []
      : [{ title: 'Open maxReplicas', intent: { kind: 'open-place' as const, place: places.maximum } }];
  if (readings.snapshot.want.object.kind === 'NodePool') return poolSection(readings, parts);
  switch (scaling.kind) {
    case 'known': {
      const { summary, lines } = explain(scaling.decision, scaling.spec);
      const pods = partValue(cluster.pods);
      const blocked = scaling.wanted !== undefined && scaling.wanted > scaling.maximum;
      const failed = scaling.decision.kind === 'failed';
      const caveats = [
        'The status tells nothing of single pods: every ready pod is taken to have a sample',
        'What the controller remembers (recommendations, earlier changes) cannot be seen from outside; its conditions tell whether a window holds the count',
        ...(pods === undefined ? ['Pods cannot be read, so all replicas are taken to be ready'] : []),
      ];
      return section({
        summary,
        state: failed ? 'critical' : blocked ? 'warning' : 'good',
        scaler: scaling.title,
        bounds: `${scaling.minimum} to ${countText(scaling.maximum)} replicas`,
        metrics: metricsTable(scaling, openMaximum),
        steps: lines.map(({ text, holds }) => ({ text, holds })),
        caveats,
        ...parts,
      });
    }
    case 'unreadable':
      return section(
        plain(scaling.title, `${scaling.title} cannot be worked out`, scaling.problems, 'unknown', parts),
      );
    case 'no-hpa':
      return section(
        plain(scaling.title, `${scaling.title} has no HPA now`, kedaWhy(readings, now), 'warning', parts),
      );
    case 'none':
      return section(
        plain(
          'no autoscaler',
          'No autoscaler targets the workload: the number of replicas is what its manifest says',
          [],
          'info',
          parts,
        ),
      );
    case 'absent': {
      const reason = emptyOf(scaling);
      // What is pending and what starts is known without the autoscaler.
      if (parts.pending.kind === 'empty' && parts.coldStart.kind === 'empty') return reason;
      return section(
        plain(
          'autoscaler not known',
          reason.why,
          [reason.whatToDo].filter((text) => text !== ''),
          'unknown',
          parts,
        ),
      );
    }
  }
}

function plain(
  scaler: string,
  summary: string,
  steps: readonly string[],
  state: State,
  parts: Parts,
): ScalingView {
  return {
    summary,
    state,
    scaler,
    bounds: '',
    metrics: table('scaling-metrics', metricColumns, [], ''),
    steps: steps.map((text) => ({ text, holds: true })),
    caveats: [],
    ...parts,
  };
}

type Parts = Pick<ScalingView, 'conditions' | 'events' | 'pending' | 'nodeClaims' | 'coldStart'>;

/** A pool scales nodes: how far it is from its limits, and whether it can launch. */
function poolSection(readings: Readings, parts: Parts): Section<ScalingView> {
  const { want, cluster } = readings.snapshot;
  const title = `NodePool ${want.object.name}`;
  return sectionOf(cluster.nodePools, (pools) => {
    const pool = pools.find(({ ref }) => ref.name === want.object.name);
    if (pool === undefined) return empty(`The cluster has no ${title}`, 'Apply the file', 'warning');
    const uses = Object.entries(pool.limits).map(([resource, limit]) => {
      const used = pool.resources[resource] ?? 0;
      return {
        text: `${resourceText(resource, used)} of ${resourceText(resource, limit)} ${resource}`,
        share: limit > 0 ? used / limit : 1,
      };
    });
    const bad = pool.conditions.filter(({ status }) => status === 'False');
    const full = uses.filter(({ share }) => share >= 0.95);
    const conditions = pool.conditions.map(({ type, status, reason, message }): Row => {
      const state: State = status === 'True' ? 'good' : status === 'False' ? 'critical' : 'unknown';
      return {
        id: type,
        state,
        actions: [],
        cells: [
          textCell('NodePool'),
          textCell(type),
          textCell(status, undefined, state),
          textCell(reason),
          textCell(message),
        ],
      };
    });
    return section({
      ...plain(
        title,
        uses.length === 0
          ? `${title} has no limits`
          : `${title} uses ${listed(uses.map(({ text }) => text))}`,
        [
          ...full.map(({ text }) => `Nearly at a limit: ${text}; no node is launched beyond it`),
          ...bad.map(({ type, message }) => `${type} is False: ${message}`),
        ],
        bad.length > 0 ? 'critical' : full.length > 0 ? 'warning' : 'good',
        parts,
      ),
      conditions:
        conditions.length === 0
          ? empty('There are no conditions to show')
          : section(
              table(
                'scaling-conditions',
                conditionColumns,
                conditions,
                counted(conditions.length, 'condition'),
              ),
            ),
    });
  });
}

function resourceText(resource: string, amount: number): string {
  return resource === 'memory' || resource.endsWith('storage')
    ? bytesText(amount)
    : countText(Math.round(amount * 100) / 100);
}

/** Why KEDA has no HPA at the moment: paused, idle, or not ready. */
function kedaWhy(readings: Readings, now: Instant): readonly string[] {
  const object = partValue(readings.snapshot.cluster.scaledObject);
  if (object === undefined) return [];
  const lines: string[] = [];
  for (const [name, value] of Object.entries(object.annotations)) {
    if (name.startsWith('autoscaling.keda.sh/paused')) lines.push(`annotation ${name}: ${value}`);
  }
  for (const condition of object.conditions) {
    if (condition.status !== 'True' && condition.type !== 'Fallback' && condition.type !== 'Paused') {
      lines.push(`${condition.type} is ${condition.status}: ${condition.message}`);
    }
  }
  if (object.lastActiveAt !== undefined)
    lines.push(`a trigger was active last ${agoText(object.lastActiveAt, now)}`);
  return lines;
}

const metricColumns = [
  column('metric', 'Metric', 'name'),
  column('current', 'Current', 'number'),
  column('target', 'Target', 'number'),
  column('formula', 'Formula'),
  column('replicas', 'Asks for', 'number'),
  column('state', 'State', 'state'),
];

function metricsTable(scaling: Extract<Scaling, { kind: 'known' }>, actions: Row['actions']): Table {
  const { decision } = scaling;
  const outcomes = decision.kind === 'computed' || decision.kind === 'failed' ? decision.outcomes : [];
  const rows = outcomes.map((outcome, index) => metricRow(outcome, index, scaling, actions));
  const summary =
    decision.kind === 'disabled'
      ? 'No metric is read while the target has 0 replicas'
      : decision.kind === 'clamped'
        ? 'No metric is read while the count is outside its bounds'
        : `${counted(rows.length, 'metric')}, the largest proposal counts`;
  return table('scaling-metrics', metricColumns, rows, summary);
}

function metricRow(
  outcome: MetricOutcome,
  index: number,
  scaling: Extract<Scaling, { kind: 'known' }>,
  actions: Row['actions'],
): Row {
  const name = textCell(nameOf(outcome.metric), outcome.metric.type);
  const id = `${index}-${nameOf(outcome.metric)}`;
  if (outcome.kind === 'failed') {
    return {
      id,
      state: 'critical',
      actions,
      cells: [
        name,
        numberCell('not known', null, outcome.message),
        numberCell(targetText(outcome), null),
        textCell(outcome.message),
        numberCell('-', null),
        textCell('failed', outcome.reason, 'critical'),
      ],
    };
  }
  const { working, replicas } = outcome;
  const percent = working.unit === 'percent' ? ' %' : '';
  const decisive =
    scaling.decision.kind === 'computed' && scaling.decision.proposal.by === outcome ? 'decides' : 'known';
  return {
    id,
    state: replicas > scaling.maximum ? 'warning' : 'good',
    actions,
    cells: [
      name,
      numberCell(`${amountText(working.level, working.unit)}${percent}`, Number(working.level)),
      numberCell(targetText(outcome), Number(working.target)),
      textCell(formulaText(working, replicas)),
      numberCell(
        countText(replicas),
        replicas,
        `bounded to ${scaling.minimum}..${scaling.maximum} afterwards`,
      ),
      textCell(decisive),
    ],
  };
}

function targetText(outcome: MetricOutcome): string {
  const { target } = outcome.metric;
  if (target.type === 'Utilization') return `${target.averageUtilization} % of the request`;
  if (outcome.kind === 'failed') return target.type;
  const amount = amountText(outcome.working.target, outcome.working.unit);
  return target.type === 'AverageValue' ? `${amount} a pod` : amount;
}

const conditionColumns = [
  column('of', 'Object'),
  column('type', 'Condition', 'name'),
  column('status', 'Status', 'state'),
  column('reason', 'Reason', 'name'),
  column('message', 'Message'),
];

function conditionsSection(readings: Readings, scaling: Scaling): Section<Table> {
  const own: readonly (Condition & { readonly of: string })[] = [
    ...(scaling.kind === 'known'
      ? scaling.status.conditions.map((condition) => ({ ...condition, of: 'HPA' }))
      : []),
    ...(partValue(readings.snapshot.cluster.scaledObject)?.conditions ?? []).map((condition) => ({
      ...condition,
      of: 'ScaledObject',
    })),
  ];
  if (own.length === 0) return empty('There are no conditions to show');
  const rows = own.map(({ of, type, status, reason, message }): Row => {
    const state = conditionState(type, status);
    return {
      id: `${of}-${type}`,
      state,
      actions: [],
      cells: [
        textCell(of),
        textCell(type),
        textCell(status, undefined, state),
        textCell(reason),
        textCell(message),
      ],
    };
  });
  return section(table('scaling-conditions', conditionColumns, rows, counted(rows.length, 'condition')));
}

/** ScalingLimited, Fallback and Paused are bad when true, the others when false. */
function conditionState(type: string, status: string): State {
  if (status === 'Unknown') return 'unknown';
  const isTrue = status === 'True';
  if (type === 'ScalingLimited' || type === 'Fallback' || type === 'Paused')
    return isTrue ? 'warning' : 'good';
  if (type === 'ScaledToZero' || type === 'Active') return 'good';
  return isTrue ? 'good' : 'critical';
}

const scalingReasons =
  /^(SuccessfulRescale|ScalingReplicaSet|FailedGet\w*|FailedComputeMetricsReplicas|FailedRescale|KEDA\w*|ScaledObject\w*|Nominated|FailedScheduling|NotTriggerScaleUp|TriggeredScaleUp|Launched|Registered|Initialized|Ready|DisruptionBlocked|Unconsolidatable|InsufficientCapacityError|NoCompatibleInstanceTypes|SpotInterrupted|Evicted|Preempted|TaintManagerEviction)$/;

function eventsSection(readings: Readings, now: Instant): Section<Table> {
  return sectionOf(readings.snapshot.cluster.events, (all) => {
    const events = all.filter(
      ({ reason, about, type }) =>
        scalingReasons.test(reason) ||
        (type === 'Warning' && (about.kind === 'HorizontalPodAutoscaler' || about.kind === 'ScaledObject')),
    );
    if (events.length === 0) {
      return empty(
        'No event about scaling in the last hour; the API server keeps events for an hour',
        '',
        'good',
      );
    }
    return section(eventsTable('scaling-events', events, now));
  });
}

function eventsTable(id: string, events: readonly EventView[], now: Instant): Table {
  const newest = [...events].sort((a, b) => b.lastAt - a.lastAt).slice(0, 100);
  const rows = newest.map((event, index): Row => {
    const state: State = event.type === 'Warning' ? 'warning' : 'good';
    return {
      id: `${index}-${event.about.kind}-${event.about.name}-${event.reason}`,
      state,
      actions: [
        {
          title: 'Describe in a terminal',
          intent: { kind: 'terminal', command: describeCommand(event.about) },
        },
      ],
      cells: [
        numberCell(agoText(event.lastAt, now), -event.lastAt),
        textCell(event.type, undefined, state),
        textCell(event.reason, event.reporter),
        textCell(`${event.about.kind} ${event.about.name}`),
        textCell(event.message),
        numberCell(countText(event.count), event.count),
      ],
    };
  });
  const columns = [
    column('age', 'When', 'number'),
    column('type', 'Type', 'state'),
    column('reason', 'Reason', 'name'),
    column('object', 'Object', 'name'),
    column('message', 'Message'),
    column('count', 'Times', 'number'),
  ];
  return table(id, columns, rows, counted(events.length, 'event'), { column: 'age', descending: false });
}

/** A command for a shell: names of Kubernetes objects are quoted, whatever they hold. */
export function describeCommand({
  kind,
  namespace,
  name,
}: {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}): string {
  const scope = namespace === '' ? '' : ` -n ${shellWord(namespace)}`;
  return `kubectl describe ${shellWord(kind.toLowerCase())} ${shellWord(name)}${scope}`;
}

export function shellWord(text: string): string {
  return /^[\w.:/=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function pendingSection(readings: Readings, placements: Placements, now: Instant): Section<Table> {
  return sectionOf(readings.snapshot.cluster.pods, (pods) => {
    const pending = pods.filter(isUnscheduled);
    if (pending.length === 0) return empty('No pod waits for a node', '', 'good');
    const events = partValue(readings.snapshot.cluster.events) ?? [];
    const rows = pending.slice(0, 200).map((pod): Row => {
      const nominated = events
        .filter(
          ({ about, reason }) =>
            about.kind === 'Pod' && about.name === pod.pod.name && reason === 'Nominated',
        )
        .at(-1);
      const reason = unschedulableReason(pod) ?? 'the scheduler has not said anything yet';
      return {
        id: `${pod.pod.namespace}/${pod.pod.name}`,
        state: now - pod.createdAt > 120_000 ? 'warning' : 'info',
        actions: [
          {
            title: 'Describe in a terminal',
            intent: { kind: 'terminal', command: describeCommand({ kind: 'pod', ...pod.pod }) },
          },
        ],
        cells: [
          textCell(pod.pod.name),
          numberCell(durationText(now - pod.createdAt), now - pod.createdAt),
          textCell(sentence(reason)),
          textCell(placements.summary, placements.detail),
          textCell(nominated === undefined ? 'no' : nominated.message, nominated?.reporter),
        ],
      };
    });
    const columns = [
      column('pod', 'Pod', 'name'),
      column('age', 'Waits', 'number'),
      column('reason', 'What the scheduler says'),
      column('pool', 'NodePool that should serve it'),
      column('nominated', 'Nominated'),
    ];
    const summary = `${counted(pending.length, 'pod')} without a node`;
    return section(
      table('pending', columns, rows, summary, { column: 'age', descending: true }),
      placements.notes,
    );
  });
}

function nodeClaimsSection(readings: Readings, now: Instant): Section<Table> {
  const { cluster } = readings.snapshot;
  return sectionOf(cluster.nodeClaims, (claims) => {
    const underWay = claims.filter(
      (claim) => claim.deletingSince === undefined && conditionOf(claim, 'Initialized')?.status !== 'True',
    );
    const own = new Set((readings.pods ?? []).map(({ node }) => node));
    const serving = claims.filter(
      (claim) => claim.node !== undefined && own.has(claim.node) && !underWay.includes(claim),
    );
    if (underWay.length + serving.length === 0) return empty('No NodeClaim is under way', '', 'good');
    const rows = [...underWay, ...serving].map((claim): Row => {
      const steps = ['Launched', 'Registered', 'Initialized'].map((type) => ({
        type,
        condition: conditionOf(claim, type),
      }));
      const failed = steps.find(({ condition }) => condition?.status === 'False' && condition.message !== '');
      const done = steps.filter(({ condition }) => condition?.status === 'True').at(-1)?.type ?? 'Created';
      const state: State = failed !== undefined ? 'warning' : underWay.includes(claim) ? 'info' : 'good';
      return {
        id: claim.name,
        state,
        actions: [
          {
            title: 'Describe in a terminal',
            intent: {
              kind: 'terminal',
              command: describeCommand({ kind: 'nodeclaim', namespace: '', name: claim.name }),
            },
          },
        ],
        cells: [
          textCell(claim.name),
          textCell(claim.pool ?? 'not known'),
          textCell(claim.instanceType ?? 'not chosen yet'),
          textCell(
            [claim.capacityType, claim.zone].filter((part) => part !== undefined).join(', ') || 'not known',
          ),
          textCell(done, failed?.condition?.message, state),
          numberCell(durationText(now - claim.createdAt), now - claim.createdAt),
        ],
      };
    });
    const columns = [
      column('claim', 'NodeClaim', 'name'),
      column('pool', 'NodePool', 'name'),
      column('type', 'Instance type', 'name'),
      column('capacity', 'Capacity'),
      column('state', 'Step', 'state'),
      column('age', 'Age', 'number'),
    ];
    return section(
      table(
        'node-claims',
        columns,
        rows,
        `${counted(underWay.length, 'NodeClaim')} under way, ${serving.length} serve it`,
        {
          column: 'age',
          descending: false,
        },
      ),
    );
  });
}

const phaseTitles: Readonly<Record<ColdStartPhase['id'], string>> = {
  schedule: 'Scheduling',
  node: 'Node',
  image: 'Image',
  weights: 'Weights',
  engine: 'Engine',
  start: 'Starting the pod',
};

function coldStartSection(readings: Readings, now: Instant): Section<ColdStartView> {
  const { pods } = readings.snapshot.cluster;
  if (pods.kind === 'absent') return emptyOf(pods);
  const starts = coldStarts(readings.snapshot.cluster, now);
  const chosen = chosenStart(starts);
  if (chosen === undefined) {
    return empty(
      pods.value.length === 0
        ? 'There is no pod whose start could be measured'
        : 'Every pod has restarted since, so its first start cannot be measured any more',
    );
  }
  const total = (chosen.to ?? now) - chosen.from;
  return section(
    {
      total: `${durationText(total)}${chosen.to === undefined ? ' so far' : ''}`,
      pod: chosen.pod.pod.name,
      phases: phasesOf(chosen, total),
      starts: startsTable(starts, now),
    },
    chosen.caveats.map(sentence),
  );
}

function phasesOf({ phases }: ColdStart, total: number): readonly ColdStartPhase[] {
  return phases.map(({ id, duration, detail }) => ({
    id,
    title: phaseTitles[id],
    text: durationText(duration),
    seconds: duration / 1000,
    share: total > 0 ? duration / total : 0,
    detail,
  }));
}

function startsTable(starts: readonly ColdStart[], now: Instant): Table {
  const ids = ['schedule', 'node', 'image', 'start', 'weights', 'engine'] as const;
  const rows = starts.slice(0, 50).map((start): Row => {
    const of = (id: (typeof ids)[number]): number =>
      start.phases.filter((phase) => phase.id === id).reduce((sum, { duration }) => sum + duration, 0) / 1000;
    const total = ((start.to ?? now) - start.from) / 1000;
    return {
      id: `${start.pod.pod.namespace}/${start.pod.pod.name}`,
      state: start.to === undefined ? 'info' : 'good',
      actions: [],
      cells: [
        textCell(start.pod.pod.name),
        numberCell(secondsText(total), total, start.to === undefined ? 'so far' : undefined),
        textCell(start.newNode ? 'new' : 'was there'),
        ...ids.map((id) => {
          const seconds = of(id);
          const detail = start.phases.find((phase) => phase.id === id)?.detail;
          return seconds > 0
            ? numberCell(secondsText(seconds), seconds, `${percentText(seconds / total)}: ${detail ?? ''}`)
            : numberCell('-', null, 'none, or not told apart');
        }),
      ],
    };
  });
  const columns = [
    column('pod', 'Pod', 'name'),
    column('total', 'Total', 'number'),
    column('node-state', 'Node'),
    ...ids.map((id) => column(id, phaseTitles[id], 'number')),
  ];
  return table('cold-starts', columns, rows, `${counted(starts.length, 'start')}, newest first`);
}
