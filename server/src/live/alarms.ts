import { conditionOf } from './pods';
import { durationText, quantityText } from './format';
import { absent } from './reading';
import type { Duration, Observed } from './reading';
import { heldSince, partValue } from './readings';
import type { History } from './readings';
import { thresholds } from './thresholds';
import type { ThresholdId } from './thresholds';
import { unitOf } from './vocabulary';
import type { MetricId } from './vocabulary';
import { limitOf } from './verdict/condition';
import type { JudgeContext } from './verdict/context';
import { quantityOf } from './verdict/quantities';
import type { QuantityId } from './verdict/quantities';

export type AlarmTier = 'warning' | 'critical' | 'composite';

/** One comparison of an alarm: a value beyond a threshold without a break for some time. */
export interface AlarmTerm {
  readonly value:
    { readonly metric: MetricId } | { readonly quantity: QuantityId } | 'errors-5xx' | 'nodes-not-ready';
  readonly label: string;
  readonly limit: ThresholdId;
  /** 0: at once. */
  readonly lasting: Duration;
}

export interface AlarmRow {
  readonly id: string;
  readonly tier: AlarmTier;
  readonly title: string;
  /** All of them have to hold. */
  readonly terms: readonly AlarmTerm[];
}

const minute = 60_000;

/** The three tiers. */
const alarmTable: readonly AlarmRow[] = [
  {
    id: 'vram-high',
    tier: 'warning',
    title: 'GPU memory high',
    terms: [
      { value: { metric: 'gpu.memory.usage' }, label: 'VRAM', limit: 'warnVram', lasting: 15 * minute },
    ],
  },
  {
    id: 'latency-high',
    tier: 'warning',
    title: 'Latency high',
    terms: [
      { value: { metric: 'e2e.p95' }, label: 'end-to-end p95', limit: 'warnLatency', lasting: 10 * minute },
    ],
  },
  {
    id: 'token-budget',
    tier: 'warning',
    title: 'Token budget nearly used',
    terms: [
      {
        value: { metric: 'tokens.budget.usage' },
        label: 'token budget',
        limit: 'warnTokenBudget',
        lasting: 0,
      },
    ],
  },
  {
    id: 'restarts',
    tier: 'critical',
    title: 'Containers restart',
    terms: [
      {
        value: { quantity: 'restarts.recent' },
        label: 'restarts in 5 min',
        limit: 'criticalRestarts',
        lasting: 0,
      },
    ],
  },
  {
    id: 'errors',
    tier: 'critical',
    title: 'Requests fail with 5xx',
    terms: [{ value: 'errors-5xx', label: 'share of 5xx', limit: 'criticalErrors', lasting: 3 * minute }],
  },
  {
    id: 'nodes',
    tier: 'critical',
    title: 'Nodes not ready',
    terms: [{ value: 'nodes-not-ready', label: 'nodes not ready', limit: 'criticalNodes', lasting: 0 }],
  },
  {
    id: 'saturation',
    tier: 'composite',
    title: 'High latency and a deep queue',
    terms: [
      { value: { metric: 'e2e.p95' }, label: 'end-to-end p95', limit: 'warnLatency', lasting: 0 },
      { value: { metric: 'queue.waiting' }, label: 'waiting requests', limit: 'compositeQueue', lasting: 0 },
    ],
  },
];

/** `pending`: beyond the threshold, not yet for long enough. */
export type AlarmState = 'ok' | 'pending' | 'firing' | 'unknown';

export interface TermResult {
  readonly term: AlarmTerm;
  readonly observed: Observed;
  readonly limit: number;
  readonly limitSource: string;
  readonly state: AlarmState;
  /** `92 % (above 85 % for 15 min)`. */
  readonly text: string;
}

export interface AlarmResult {
  readonly alarm: AlarmRow;
  readonly state: AlarmState;
  readonly terms: readonly TermResult[];
}

export function evaluateAlarms(context: JudgeContext): readonly AlarmResult[] {
  return alarmTable.map((alarm) => {
    const terms = alarm.terms.map((term) => evaluateTerm(term, context));
    const states = terms.map(({ state }) => state);
    // One that is certainly fine decides an "and", whatever the others are.
    const state: AlarmState = states.includes('ok')
      ? 'ok'
      : states.includes('unknown')
        ? 'unknown'
        : states.includes('pending')
          ? 'pending'
          : 'firing';
    return { alarm, state, terms };
  });
}

function evaluateTerm(term: AlarmTerm, context: JudgeContext): TermResult {
  const { value: limit, source: limitSource } = limitOf(term.limit, context);
  const { unit } = thresholds[term.limit];
  const { observed, history } = observe(term, context);
  const rule = `above ${quantityText(limit, unit)}${term.lasting > 0 ? ` for ${durationText(term.lasting)}` : ''}`;
  const result = (state: AlarmState, text: string): TermResult => ({
    term,
    observed,
    limit,
    limitSource,
    state,
    text,
  });
  if (observed.kind === 'absent') return result('unknown', `${term.label}: ${observed.message}`);
  const value = `${term.label} ${quantityText(observed.value, unit)}`;
  if (observed.value <= limit) return result('ok', `${value} (alarm ${rule})`);
  if (term.lasting === 0) return result('firing', `${value} (${rule})`);
  const held = heldSince(history, context.now, (one) => one > limit);
  if (held === undefined)
    return result('pending', `${value}, for how long is not known without a history (${rule})`);
  const lasted = context.now - held.since + (history?.step ?? 0);
  if (lasted >= term.lasting) return result('firing', `${value} for ${durationText(lasted)} (${rule})`);
  return result('pending', `${value} for ${durationText(lasted)} (${rule})`);
}

function observe(
  { value }: AlarmTerm,
  context: JudgeContext,
): { readonly observed: Observed; readonly history: History | undefined } {
  const { readings } = context;
  if (value === 'errors-5xx') return { observed: errorShare(context), history: errorHistory(context) };
  if (value === 'nodes-not-ready') return { observed: nodesNotReady(context), history: undefined };
  if ('quantity' in value) return { observed: quantityOf(value.quantity).read(context), history: undefined };
  return { observed: readings.fresh(value.metric), history: readings.history(value.metric) };
}

/**
 * Requests that failed with 5xx of all: as a source says it, else of the two rates. Engines count as finished what
 * they answered, so failures come on top.
 */
export function errorShare({ readings }: Pick<JudgeContext, 'readings'>): Observed {
  const direct = readings.fresh('errors.5xx.ratio');
  if (direct.kind === 'reading') return direct;
  const errors = readings.fresh('errors.5xx.rate');
  const requests = readings.fresh('requests.rate');
  if (errors.kind === 'absent') return errors;
  if (requests.kind === 'absent') return requests;
  const total = errors.value + requests.value;
  if (total <= 0) return absent('no-data', 'there were no requests');
  const from = `${errors.source.from} / (${errors.source.from} + ${requests.source.from})`;
  return {
    ...errors,
    value: errors.value / total,
    unit: unitOf('errors.5xx.ratio'),
    source: { ...errors.source, from },
  };
}

function errorHistory({ readings }: JudgeContext): History | undefined {
  const direct = readings.history('errors.5xx.ratio');
  if (direct !== undefined) return direct;
  const errors = readings.history('errors.5xx.rate');
  const requests = readings.history('requests.rate');
  if (errors === undefined || requests === undefined) return undefined;
  const table = new Map(requests.at.map((at, index) => [at, requests.values[index]]));
  return {
    ...errors,
    values: errors.values.map((value, index) => {
      const other = table.get(errors.at[index] ?? Number.NaN);
      if (value === null || other === null || other === undefined || value + other <= 0) return null;
      return value / (value + other);
    }),
  };
}

/** Nodes of the workload, or of the cluster where nodes are known and none of its pods has one. */
function nodesNotReady({ readings }: JudgeContext): Observed {
  const { nodes } = readings.snapshot.cluster;
  if (nodes.kind === 'absent') {
    const counted = readings.fresh('cluster.nodes.failed');
    return counted.kind === 'reading' ? counted : nodes;
  }
  const own = new Set(partValue(readings.snapshot.cluster.pods)?.map(({ node }) => node) ?? []);
  const value = nodes.value.filter(
    (node) => own.has(node.name) && conditionOf(node, 'Ready')?.status !== 'True',
  ).length;
  return {
    kind: 'reading',
    value,
    unit: 'count',
    at: nodes.at,
    window: 0,
    source: { source: 'kubernetes', from: 'condition Ready of its nodes' },
  };
}
