import { isActive, isReady, isUnscheduled, presentFailures } from '../pods';
import { counted, durationText, listed } from '../format';
import type { Instant } from '../reading';
import { partValue } from '../readings';
import { above, judge } from './condition';
import type { Evidence } from './condition';
import type { JudgeContext } from './context';
import { beyondSince, quantityOf } from './quantities';
import type { QuantityId } from './quantities';
import type { MetricId } from '../vocabulary';
import { factsOf, healthyNeeds, verdictTable } from './table';
import type { Gravity, NextStep, VerdictName, VerdictRow } from './table';

/** One thing that is true of the workload. */
export interface Holding {
  readonly name: VerdictName;
  readonly word: string;
  readonly gravity: Gravity;
  /** With numbers, without a full stop. */
  readonly sentence: string;
  readonly evidence: readonly Evidence[];
  readonly since?: { readonly at: Instant; readonly atLeast: boolean };
  readonly next: readonly { readonly step: NextStep; readonly title: string }[];
}

export interface Verdict extends Holding {
  /** What holds besides, most urgent first. */
  readonly also: readonly Holding[];
  /** What could not be judged, with what is missing. */
  readonly unjudged: readonly {
    readonly name: VerdictName;
    readonly word: string;
    readonly missing: string;
  }[];
}

/** The verdict on a workload, by the decision table. */
export function verdictOf(context: JudgeContext): Verdict {
  const holding: Holding[] = [];
  const unjudged: { name: VerdictName; word: string; missing: string }[] = [];
  for (const row of verdictTable) {
    const { holds, evidence } = judge(row.when, context);
    if (holds === true) holding.push(holdingOf(row, evidence, context));
    else if (holds === undefined) {
      unjudged.push({ name: row.name, word: row.word, missing: missingText(evidence) });
    }
  }
  const [first, ...also] = holding;
  if (first !== undefined) return { ...first, also, unjudged };
  return { ...restOf(context, unjudged.length), also: [], unjudged };
}

function holdingOf(row: VerdictRow, evidence: readonly Evidence[], context: JudgeContext): Holding {
  // Refinements of the sentence that the condition did not need.
  const extra: readonly Evidence[] =
    row.name === 'crash-looping' ? judge(above('pods.oom', 0), context).evidence : [];
  const since = sinceOf(row, [...evidence], context);
  return {
    name: row.name,
    word: row.word,
    gravity: row.gravity,
    sentence: row.sentence(factsOf([...evidence, ...extra])),
    evidence: [...evidence, ...extra].filter(({ holds }) => holds === true),
    ...(since === undefined ? {} : { since }),
    next: row.next,
  };
}

function sinceOf(
  row: VerdictRow,
  evidence: readonly Evidence[],
  context: JudgeContext,
): Holding['since'] | undefined {
  const pods = context.readings.pods ?? [];
  if (row.name === 'crash-looping') {
    const ends = presentFailures(pods, context.now).flatMap(({ termination }) =>
      termination.finishedAt === undefined ? [] : [termination.finishedAt],
    );
    return ends.length === 0 ? undefined : { at: Math.min(...ends), atLeast: false };
  }
  const waiting = pods.filter(isUnscheduled).map(({ createdAt }) => createdAt);
  if (row.name === 'scaling-blocked' && waiting.length > 0) {
    return { at: Math.min(...waiting), atLeast: false };
  }
  const main =
    evidence.find(({ quantity }) => quantity === row.since) ?? evidence.find(({ holds }) => holds === true);
  if (main === undefined) return undefined;
  const { metric } = quantityOf(main.quantity);
  const limit = limitOfMetric(main, metric, context);
  if (limit === undefined) return undefined;
  const found = beyondSince(context, metric, (value) =>
    main.is === 'above' ? value > limit : value < limit,
  );
  return found === undefined ? undefined : { at: found.since, atLeast: found.wholeRange };
}

/** The limit on the scale of the metric's history, which is another one for a quantity that is a share of it. */
function limitOfMetric(
  main: Evidence,
  metric: MetricId | undefined,
  { readings }: JudgeContext,
): number | undefined {
  if (main.quantity === metric || main.quantity === 'gpu.utilization.sustained') return main.limit;
  if (main.quantity !== 'queue.per-pod' || main.observed.kind === 'absent') return undefined;
  const whole = readings.now('queue.waiting').observed;
  if (whole.kind === 'absent' || main.observed.value <= 0) return undefined;
  return main.limit * (whole.value / main.observed.value);
}

function missingText(evidence: readonly Evidence[]): string {
  const missing = evidence.filter(({ observed }) => observed.kind === 'absent');
  const first = missing[0];
  if (first === undefined) return 'a value is missing';
  const labels = [...new Set(missing.map(({ label }) => label))];
  const more =
    first.observed.kind === 'absent' && first.observed.remedy !== undefined
      ? `. ${first.observed.remedy}`
      : '';
  return `${listed(labels, 'or')}: ${first.text}${more}`;
}

/** Nothing of the table holds: healthy, if enough is known to say so. */
function restOf(context: JudgeContext, unjudgedRows: number): Holding {
  const { readings } = context;
  const { workload } = readings.snapshot.cluster;
  if (workload.kind === 'absent' && readings.pods === undefined) {
    return {
      name: 'unknown',
      word: 'Unknown',
      gravity: 'unknown',
      sentence: `nothing is known of the workload: ${workload.message}`,
      evidence: [],
      next: [{ step: 'show-sources', title: workload.remedy ?? 'Show the sources' }],
    };
  }
  const desired = partValue(workload)?.replicas.desired;
  const active = (readings.pods ?? []).filter(isActive);
  const ready = active.filter(isReady).length;
  if (desired === 0 && active.length === 0) {
    return {
      name: 'healthy',
      word: 'Scaled to zero',
      gravity: 'info',
      sentence: 'it has no replicas, as asked for',
      evidence: [],
      next: [{ step: 'show-scaling', title: 'Show the scaling' }],
    };
  }
  const missing = judge(above('replicas.missing', 0), context);
  if (missing.holds === true) {
    const ages = active.filter((pod) => !isReady(pod)).map(({ createdAt }) => context.now - createdAt);
    const youngest = ages.length === 0 ? '' : `, the newest pod is ${durationText(Math.min(...ages))} old`;
    return {
      name: 'unknown',
      word: 'Starting',
      gravity: 'warning',
      sentence: `${missing.evidence[0]?.text ?? 'some'} of ${desired ?? active.length} replicas are not ready${youngest}`,
      evidence: missing.evidence,
      next: [{ step: 'show-scaling', title: 'Show the start' }],
    };
  }
  const lacking = healthyNeeds.filter(({ anyOf }) => anyOf.every((id) => !isKnown(id, context)));
  if (lacking.length > 0) {
    const why = lacking
      .map(({ word, anyOf }) => {
        const observed = anyOf[0] === undefined ? undefined : quantityOf(anyOf[0]).read(context);
        return `${word} (${observed?.kind === 'absent' ? observed.message : 'not known'})`;
      })
      .join(', ');
    const seen =
      readings.pods === undefined
        ? ''
        : `${ready} of ${counted(desired ?? active.length, 'replica')} ready; `;
    return {
      name: 'unknown',
      word: 'Unknown',
      gravity: 'unknown',
      sentence: `${seen}not known: ${why}`,
      evidence: [],
      next: [{ step: 'show-sources', title: 'Show what is missing' }],
    };
  }
  const signals = (
    ['ttft.p95', 'e2e.p95', 'queue.waiting', 'gpu.utilization', 'kv-cache.usage'] as const
  ).flatMap((id) =>
    judge(above(id, Infinity), context).evidence.filter(({ observed }) => observed.kind === 'reading'),
  );
  const chips = signals.slice(0, 4);
  return {
    name: 'healthy',
    word: 'Healthy',
    gravity: 'good',
    sentence: [
      `${ready} of ${counted(desired ?? active.length, 'replica')} ready`,
      ...chips.map(({ label, text }) => `${label} ${text}`),
      ...(unjudgedRows === 0 ? [] : [`${counted(unjudgedRows, 'judgement')} not possible`]),
    ].join(', '),
    evidence: chips,
    next: [],
  };
}

function isKnown(id: QuantityId, context: JudgeContext): boolean {
  return quantityOf(id).read(context).kind === 'reading';
}
