import type { AlarmResult, AlarmState } from '../live/alarms';
import { compareWithBaseline } from '../live/baseline';
import type { Baseline } from '../live/baseline';
import type { GroupCost, NodeCost, WorkloadCost } from '../live/cost';
import {
  agoText,
  bytesText,
  counted,
  countText,
  durationText,
  percentText,
  quantityText,
} from '../live/format';
import type { Instant, Observed, Part } from '../live/reading';
import type { Readings } from '../live/readings';
import type { CloudAlarm, LogsQueryResult } from '../live/snapshot';
import type { Thresholds } from '../live/thresholds';
import type { Triage } from '../live/triage';
import { unitOf } from '../live/vocabulary';
import type { MetricId } from '../live/vocabulary';
import type { LogsQueryId } from '../live/want';
import type { Finding } from '../engine/finding';
import type { WorkloadReadiness } from '../engine/readiness/types';
import type {
  Action,
  AlarmsView,
  BaselineView,
  CostView,
  Fact,
  FactsView,
  LogsQueryView,
  LogsView,
  ReadinessView,
  Row,
  Section,
  State,
  Table,
  TriageCase,
  TriageStep,
} from './model';
import type { Places } from './places';
import { pricesText } from './prices';
import { shellWord } from './scaling';
import {
  column,
  empty,
  emptyOf,
  moneyText,
  numberCell,
  section,
  sectionOf,
  sentence,
  shownCell,
  shownMoney,
  shownOf,
  table,
  textCell,
} from './shown';

// --- Alarms

const alarmStates: Readonly<Record<AlarmState, { readonly state: State; readonly word: string }>> = {
  firing: { state: 'critical', word: 'firing' },
  pending: { state: 'warning', word: 'pending' },
  ok: { state: 'good', word: 'ok' },
  unknown: { state: 'unknown', word: 'unknown' },
};

const alarmRank: Readonly<Record<AlarmState, number>> = { firing: 0, pending: 1, unknown: 2, ok: 3 };

export function alarmsSection(
  results: readonly AlarmResult[],
  cloud: Part<readonly CloudAlarm[]>,
  now: Instant,
): Section<AlarmsView> {
  const rows = results.map(({ alarm, state, terms }): Row => {
    const shown = alarmStates[state];
    const gravity = state === 'firing' && alarm.tier === 'warning' ? 'warning' : shown.state;
    return {
      id: alarm.id,
      state: gravity,
      actions: [
        {
          title: 'Open the setting',
          intent: {
            kind: 'open-settings',
            setting: `plimsoll.live.thresholds.${terms[0]?.term.limit ?? ''}`,
          },
        },
      ],
      cells: [
        numberCell(shown.word, alarmRank[state], undefined, gravity),
        textCell(alarm.tier),
        textCell(alarm.title),
        textCell(
          terms.map(({ text }) => text).join(' and '),
          terms.map(({ limitSource }) => limitSource).join('; '),
        ),
      ],
    };
  });
  const firing = results.filter(({ state }) => state === 'firing').length;
  const unknown = results.filter(({ state }) => state === 'unknown').length;
  const summary = [
    firing === 0 ? 'No alarm fires' : `${counted(firing, 'alarm')} ${firing === 1 ? 'fires' : 'fire'}`,
    unknown === 0 ? '' : `${countText(unknown)} cannot be judged`,
  ]
    .filter((part) => part !== '')
    .join(', ');
  const columns = [
    column('state', 'State', 'state'),
    column('tier', 'Tier'),
    column('alarm', 'Alarm'),
    column('value', 'Value and rule'),
  ];
  return section({
    evaluated: table('alarms', columns, rows, summary),
    cloud: sectionOf(cloud, (alarms) => cloudTable(alarms, now)),
  });
}

const cloudStates: Readonly<Record<CloudAlarm['state'], { readonly state: State; readonly word: string }>> = {
  ALARM: { state: 'critical', word: 'ALARM' },
  INSUFFICIENT_DATA: { state: 'unknown', word: 'INSUFFICIENT_DATA' },
  OK: { state: 'good', word: 'OK' },
};

function cloudTable(alarms: readonly CloudAlarm[], now: Instant): Section<Table> {
  if (alarms.length === 0) {
    return empty(
      'CloudWatch has no alarm about this workload',
      'Create alarms for the three tiers above',
      'info',
    );
  }
  const order: readonly CloudAlarm['state'][] = ['ALARM', 'INSUFFICIENT_DATA', 'OK'];
  const rows = alarms.map((alarm): Row => {
    const { state, word } = cloudStates[alarm.state];
    return {
      id: alarm.name,
      state,
      actions: [{ title: 'Copy the name', intent: { kind: 'copy', text: alarm.name } }],
      cells: [
        numberCell(word, order.indexOf(alarm.state), alarm.reason, state),
        textCell(alarm.name, alarm.description),
        textCell(alarm.kind),
        textCell(alarm.rule),
        numberCell(agoText(alarm.since, now), -alarm.since),
        textCell(
          alarm.actionsEnabled ? 'yes' : 'no',
          'Whether it tells anybody',
          alarm.actionsEnabled ? 'good' : 'warning',
        ),
      ],
    };
  });
  const columns = [
    column('state', 'State', 'state'),
    column('name', 'Alarm', 'name'),
    column('kind', 'Kind'),
    column('rule', 'Rule'),
    column('since', 'Since', 'number'),
    column('actions', 'Actions'),
  ];
  return section(table('cloud-alarms', columns, rows, counted(alarms.length, 'alarm')));
}

// --- Cost

export function costSection(cost: WorkloadCost, readings: Readings, now: Instant): Section<CostView> {
  const { perHour } = cost;
  if (perHour.kind === 'absent' && cost.nodes.length === 0 && cost.byNamespace.kind === 'absent')
    return emptyOf(perHour);
  return section({
    perHour: shownMoney(perHour, '/h', `its share of ${counted(cost.nodes.length, 'node')}; ${pricesText()}`),
    perMillionTokens: shownMoney(
      cost.perMillionTokens,
      '',
      'dollars an hour, divided by tokens in and out of the range',
    ),
    idleShare: shownOf(cost.idleShare, readings.snapshot, now),
    idlePerHour: shownMoney(cost.idlePerHour, '/h', 'cost times the share of GPU time without work'),
    nodes: nodesTable(cost.nodes),
    byNamespace: groupsSection(cost.byNamespace, 'namespace', 'Namespace'),
    byLabel: cost.byLabel.map(({ label, groups }) => ({
      label,
      content: groupsSection(groups, `label-${label}`, label),
    })),
    priceBasis: pricesText(),
    caveats: [
      'A GPU node is paid for its GPUs: pods without one cost nothing there. Other nodes are split by the mean of CPU and memory',
      ...cost.caveats.map(sentence),
    ],
  });
}

function nodesTable(nodes: readonly NodeCost[]): Table {
  const rows = nodes.map(({ node, price, share, pods, by, free }): Row => ({
    id: node.name,
    state: price.kind === 'unknown' ? 'unknown' : 'good',
    actions: [
      {
        title: 'Describe in a terminal',
        intent: { kind: 'terminal', command: `kubectl describe node ${shellWord(node.name)}` },
      },
    ],
    cells: [
      textCell(node.name),
      textCell(node.instanceType ?? 'not known'),
      textCell(node.capacityType ?? 'not known'),
      price.kind === 'unknown'
        ? numberCell('not known', null, price.why)
        : numberCell(
            `${price.kind === 'at-most' ? 'up to ' : ''}${quantityText(price.dollars, 'dollars-per-hour')}`,
            price.dollars,
            price.basis,
          ),
      numberCell(percentText(share), share, by),
      numberCell(countText(pods), pods),
      free === undefined
        ? numberCell('not known', null, 'pods of other namespaces cannot be read')
        : numberCell(percentText(free), free, 'nobody has asked for it'),
      price.kind === 'unknown'
        ? numberCell('not known', null, price.why)
        : numberCell(quantityText(price.dollars * share, 'dollars-per-hour'), price.dollars * share),
    ],
  }));
  const columns = [
    column('node', 'Node', 'name'),
    column('type', 'Instance type', 'name'),
    column('capacity', 'Capacity'),
    column('price', 'Price', 'number'),
    column('share', 'Its share', 'number'),
    column('pods', 'Its pods', 'number'),
    column('free', 'Free', 'number'),
    column('cost', 'Cost', 'number'),
  ];
  return table('cost-nodes', columns, rows, counted(nodes.length, 'node'), {
    column: 'cost',
    descending: true,
  });
}

function groupsSection(groups: Part<readonly GroupCost[]>, id: string, title: string): Section<Table> {
  return sectionOf(groups, (all) => {
    if (all.length === 0) return empty('No pod asks for anything on the nodes that are known');
    const rows = all.map(({ name, pods, perHour }): Row => ({
      id: name,
      state: 'good',
      actions: [],
      cells: [
        textCell(name === '' ? '(without)' : name),
        numberCell(countText(pods), pods),
        numberCell(moneyText(perHour, '/h'), perHour.value),
      ],
    }));
    const columns = [
      column('name', title, 'name'),
      column('pods', 'Pods', 'number'),
      column('cost', 'Cost', 'number'),
    ];
    return section(
      table(`cost-${id}`, columns, rows, counted(all.length, 'group'), { column: 'cost', descending: true }),
    );
  });
}

// --- Control plane

export function controlPlaneSection(readings: Readings, now: Instant): Section<FactsView> {
  const { snapshot } = readings;
  const fact = (title: string, observed: Observed, judge: (value: number) => State = () => 'good'): Fact => ({
    title,
    shown: shownOf(observed, snapshot, now),
    state: observed.kind === 'absent' ? 'unknown' : judge(observed.value),
  });
  const metric = (id: MetricId): Observed => readings.now(id).observed;
  const latency = metric('api-server.latency.p99');
  const { pendingInCluster } = snapshot.cluster;
  const pending: Observed =
    pendingInCluster.kind === 'known'
      ? {
          kind: 'reading',
          value: pendingInCluster.value,
          unit: 'count',
          at: pendingInCluster.at,
          window: 0,
          source: { source: snapshot.context.demo ? 'demo' : 'kubernetes', from: 'status.phase=Pending' },
        }
      : metric('cluster.pods.pending').kind === 'reading'
        ? metric('cluster.pods.pending')
        : pendingInCluster;
  const facts = [
    latency.kind === 'absent' && metric('api-server.latency.mean').kind === 'reading'
      ? fact('API server latency, mean', metric('api-server.latency.mean'), (value) =>
          value > 1 ? 'warning' : 'good',
        )
      : fact('API server latency, p99', latency, (value) => (value > 1 ? 'warning' : 'good')),
    fact('API server requests', metric('api-server.requests.rate')),
    fact('API server errors (5xx)', metric('api-server.errors.rate'), (value) =>
      value > 1 ? 'warning' : 'good',
    ),
    fact('Storage', metric('api-server.storage.size'), (value) =>
      value > 6 * 1024 ** 3 ? 'warning' : 'good',
    ),
    fact('Pending pods in the cluster', pending, (value) => (value > 0 ? 'info' : 'good')),
    fact('Nodes not ready', metric('cluster.nodes.failed'), (value) => (value > 0 ? 'critical' : 'good')),
  ];
  if (facts.every(({ shown }) => shown.kind === 'absent')) {
    const first = pending.kind === 'absent' ? pending : undefined;
    return empty(
      `Nothing is known of the control plane: ${first?.message ?? 'no source tells it'}`,
      'Set up Prometheus or CloudWatch Container Insights',
    );
  }
  return section({ facts });
}

// --- Triage

export function triageSection(
  cases: readonly Triage[],
  readings: Readings,
  places: Places,
  now: Instant,
): Section<readonly TriageCase[]> {
  const { pods } = readings.snapshot.cluster;
  if (pods.kind === 'absent') return emptyOf(pods);
  if (cases.length === 0) return empty('No container was killed or crashes', '', 'good');
  const shown = cases.slice(0, 20).map((one) => caseOf(one, readings, places, now));
  return section(
    shown,
    cases.length > 20 ? [`${countText(cases.length - 20)} more are in the table of pods`] : [],
  );
}

function caseOf(one: Triage, readings: Readings, places: Places, now: Instant): TriageCase {
  const { failure, log } = one;
  const { pod, container } = failure;
  const openLog = (previous: boolean): Action => ({
    title: previous ? 'Open the log before the restart' : 'Open the log',
    intent: { kind: 'open-log', pod: pod.pod, container: container.name, previous },
  });
  const termination: TriageStep = {
    id: 'termination',
    title: 'How it ended',
    text: one.termination,
    lines:
      failure.termination.message === undefined ? [] : failure.termination.message.split('\n').slice(-10),
    facts: [],
    actions: [],
    known: true,
  };
  const logStep: TriageStep = {
    id: 'log',
    title: 'What the log says',
    text:
      log.kind === 'absent'
        ? sentence(log.message)
        : log.findings.length === 0
          ? `None of the last ${counted(log.read, 'line')} of its log names a known cause`
          : sentence([...new Set(log.findings.map(({ meaning }) => meaning))].join('; ')),
    lines: log.kind === 'absent' ? [] : log.findings.map(({ line }) => line),
    facts: [],
    actions: [
      openLog(container.restarts > 0),
      ...(log.kind === 'absent' && log.remedy !== undefined
        ? [{ title: log.remedy, intent: { kind: 'show' as const, target: 'sources' } }]
        : []),
    ],
    known: log.kind === 'known',
  };
  const before: TriageStep = {
    id: 'before',
    title: 'Memory just before',
    text: one.before.map(({ title, text }) => `${title}: ${text}`).join('; '),
    lines: [],
    facts: one.before.map(({ title, observed }) => ({
      title,
      shown: shownOf(observed, readings.snapshot, now),
      state: observed.kind === 'absent' ? 'unknown' : 'info',
    })),
    actions: [],
    known: one.before.some(({ observed }) => observed.kind === 'reading'),
  };
  return {
    pod: pod.pod,
    container: container.name,
    title: one.title,
    state: failure.looping || failure.kind === 'oom' ? 'critical' : 'warning',
    steps: [termination, logStep, before, fixStep(one, places)],
  };
}

function fixStep(one: Triage, places: Places): TriageStep {
  const { container } = one.failure;
  const finding = places.finding(one.rules, container.name);
  const actions: Action[] = [];
  if (finding !== undefined) {
    const [fix] = finding.fixes;
    actions.push({
      title: fix?.title ?? 'Open the finding',
      intent: {
        kind: 'quick-fix',
        place: { uri: finding.uri, at: finding.at },
        ...(fix === undefined ? {} : { title: fix.title }),
      },
    });
  }
  const place = one.cause === 'memory-limit' ? places.memoryLimit(container.name) : places.arguments;
  if (place !== undefined) {
    actions.push({
      title: one.cause === 'memory-limit' ? 'Open the memory limit' : 'Open the engine arguments',
      intent: { kind: 'open-place', place },
    });
  }
  return {
    id: 'fix',
    title: 'What helps',
    text: finding === undefined ? one.advice : `${one.advice}. ${finding.message}`,
    lines: [],
    facts: [],
    actions,
    known: one.cause !== 'unknown',
  };
}

// --- Logs Insights

const queryTitles: Readonly<Record<LogsQueryId, string>> = {
  'latency-percentiles': 'Latency percentiles',
  'slow-requests': 'Slow requests',
  'tokens-and-cost': 'Tokens and cost',
};

/** A query that can be run, with the text that it has for the workload. */
export interface LogsQueryOption {
  readonly id: LogsQueryId;
  readonly query: string;
  readonly running: boolean;
}

export function logsSection(
  readings: Readings,
  queries: readonly LogsQueryOption[],
  now: Instant,
): Section<LogsView> {
  const { sources, logsQueries, context } = readings.snapshot;
  const cloud = sources.find(({ source }) => source === 'cloudwatch');
  const usable = context.demo || (cloud !== undefined && cloud.state !== 'not-configured');
  if (!usable && logsQueries.length === 0) {
    return empty('CloudWatch Logs is not set up', 'Set up CloudWatch, and name the log groups', 'info', [
      { title: 'Set up CloudWatch', intent: { kind: 'configure-source', source: 'cloudwatch' } },
    ]);
  }
  const ids = Object.keys(queryTitles) as readonly LogsQueryId[];
  return section({
    queries: ids.map((id): LogsQueryView => {
      const answer = logsQueries.find((one) => one.id === id)?.answer;
      const option = queries.find((one) => one.id === id);
      const running = option?.running === true;
      const title = queryTitles[id];
      return {
        id,
        title,
        query: (answer?.kind === 'known' ? answer.value.query : option?.query) ?? '',
        costNote: 'Runs on request only; $0.005 for each GB that it scans (us-east-1)',
        run: running
          ? { title: `Cancel "${title}"`, intent: { kind: 'cancel-logs-query', query: id } }
          : { title: `Run "${title}"`, intent: { kind: 'run-logs-query', query: id } },
        result: running
          ? empty('It is running, for minutes at the longest', '', 'info')
          : answerSection(answer, now),
      };
    }),
  });
}

function answerSection(answer: Part<LogsQueryResult> | undefined, now: Instant): Section<Table> {
  if (answer === undefined) return empty('It has not been run', 'Run it', 'info');
  return answer.kind === 'known' ? resultTable(answer.value, now) : emptyOf(answer);
}

function resultTable(result: LogsQueryResult, now: Instant): Section<Table> {
  const notes = [
    `${agoText(result.window.to, now)}, over ${durationText(result.window.to - result.window.from)}; scanned ${bytesText(result.scannedBytes)} of ${result.logGroups.join(', ')} for ${quantityText(result.cost.dollars, 'dollars')} (${result.cost.basis})`,
  ];
  if (result.rows.length === 0)
    return empty('The query found nothing in the window', 'Choose a longer range', 'info');
  const numeric = result.columns.map((_, index) =>
    result.rows.every(
      (row) => row[index] === undefined || row[index] === '' || Number.isFinite(Number(row[index])),
    ),
  );
  const rows = result.rows.map((row, at): Row => ({
    id: String(at),
    state: 'good',
    actions: [{ title: 'Copy the row', intent: { kind: 'copy', text: row.join('\t') } }],
    cells: result.columns.map((_, index) => {
      const text = row[index] ?? '';
      return numeric[index] === true && text !== '' ? numberCell(text, Number(text)) : textCell(text);
    }),
  }));
  const columns = result.columns.map((name, index) =>
    column(name, name, numeric[index] === true ? 'number' : 'text'),
  );
  return section(table(`logs-${result.id}`, columns, rows, counted(rows.length, 'row')), notes);
}

// --- Baseline

export function baselineSection(
  baseline: Baseline | undefined,
  readings: Readings,
  thresholds: Thresholds,
  now: Instant,
): Section<BaselineView> {
  const save: Action = {
    title: 'Save the present window as the baseline',
    intent: { kind: 'save-baseline' },
  };
  if (baseline === undefined) {
    return empty('No baseline is saved for this workload', 'Save a window in which all was well', 'info', [
      save,
    ]);
  }
  const { rows, regressions } = compareWithBaseline(baseline, readings, now, thresholds);
  const states = {
    worse: { state: 'warning', word: 'worse' },
    better: { state: 'good', word: 'better' },
    same: { state: 'good', word: 'same' },
    load: { state: 'info', word: 'load' },
    unknown: { state: 'unknown', word: 'unknown' },
  } as const;
  const columns = [
    column('metric', 'Metric'),
    column('before', 'Baseline', 'number'),
    column('now', 'Now', 'number'),
    column('change', 'Change', 'number'),
    column('verdict', 'Verdict', 'state'),
  ];
  const tableRows = rows.map(({ metric, title, before, now: observed, change, verdict }): Row => {
    const { state, word } = states[verdict];
    return {
      id: metric,
      state,
      actions: [],
      cells: [
        textCell(title),
        numberCell(quantityText(before, unitOf(metric)), before),
        shownCell(shownOf(observed, readings.snapshot, now)),
        numberCell(change, observed.kind === 'reading' && before !== 0 ? observed.value / before - 1 : null),
        textCell(word, undefined, state),
      ],
    };
  });
  return section({
    saved: `saved ${agoText(baseline.savedAt, now)}${baseline.window > 0 ? ` over ${durationText(baseline.window)}` : ''}`,
    comparison: table(
      'baseline',
      columns,
      tableRows,
      regressions.length === 0 ? 'Nothing is worse' : `${counted(regressions.length, 'regression')}`,
    ),
    regressions,
    actions: [save, { title: 'Forget the baseline', intent: { kind: 'clear-baseline' } }],
  });
}

// --- Readiness and findings

export function readinessSection(readiness: WorkloadReadiness | undefined): Section<ReadinessView> {
  if (readiness === undefined) {
    return empty(
      'The checklist is about workloads, and the files hold none here',
      'Put the cursor in a workload',
      'info',
    );
  }
  const states: Readonly<Record<string, State>> = {
    pass: 'good',
    fail: 'warning',
    unknown: 'unknown',
    'not-applicable': 'info',
  };
  const ranks: Readonly<Record<string, number>> = { fail: 0, unknown: 1, pass: 2, 'not-applicable': 3 };
  const rows = readiness.items.map(({ id, group, title, state, fact, place, rule }): Row => ({
    id,
    state: states[state] ?? 'unknown',
    actions: [
      ...(place === undefined
        ? []
        : [{ title: 'Open the line', intent: { kind: 'open-place' as const, place } }]),
      ...(rule === undefined
        ? []
        : [{ title: 'Explain the rule', intent: { kind: 'open-rule' as const, rule } }]),
    ],
    cells: [
      numberCell(
        state === 'not-applicable' ? 'not applicable' : state,
        ranks[state] ?? 9,
        undefined,
        states[state] ?? 'unknown',
      ),
      textCell(group),
      textCell(title),
      textCell(sentence(fact)),
    ],
  }));
  const { counts } = readiness;
  const columns = [
    column('state', 'State', 'state'),
    column('group', 'Group'),
    column('item', 'Item'),
    column('fact', 'What decided it'),
  ];
  const judged = counts.pass + counts.fail + counts.unknown;
  return section({
    summary: `${counts.pass} of ${judged} pass, ${counts.fail} fail, ${counts.unknown} unknown`,
    items: table('readiness', columns, rows, readiness.title),
  });
}

export function findingsSection(findings: readonly Finding[]): Section<Table> {
  if (findings.length === 0) return empty('The linter finds nothing in this object', '', 'good');
  const states: Readonly<Record<Finding['severity'], State>> = {
    error: 'critical',
    warning: 'warning',
    info: 'info',
    hint: 'info',
  };
  const ranks: Readonly<Record<Finding['severity'], number>> = { error: 0, warning: 1, info: 2, hint: 3 };
  const rows = findings.map((finding, index): Row => {
    const place = { uri: finding.uri, at: finding.at };
    const [fix] = finding.fixes;
    return {
      id: `${finding.rule}-${index}`,
      state: states[finding.severity],
      actions: [
        { title: 'Open the line', intent: { kind: 'open-place', place } },
        ...(fix === undefined
          ? []
          : [{ title: fix.title, intent: { kind: 'quick-fix' as const, place, title: fix.title } }]),
        { title: 'Explain the rule', intent: { kind: 'open-rule', rule: finding.rule } },
      ],
      cells: [
        numberCell(finding.severity, ranks[finding.severity], undefined, states[finding.severity]),
        textCell(finding.rule),
        textCell(finding.message, finding.evidence?.join('; ')),
      ],
    };
  });
  const columns = [
    column('severity', 'Severity', 'state'),
    column('rule', 'Rule', 'name'),
    column('message', 'Finding'),
  ];
  return section(table('findings', columns, rows, counted(findings.length, 'finding')));
}
