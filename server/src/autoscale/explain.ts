import type { Bounded } from './bounds';
import type { ComputedDecision, Decision } from './decide';
import type { MetricOutcome, Working } from './metric-outcome';
import { amountText, durationText, podsText, ratioText } from './number-text';
import type { PolicyLimit, RateLimit } from './rate-limit';
import { nameOf } from './spec';
import type { HpaSpec, MetricSpec, ScalingPolicy } from './spec';
import type { Stabilization } from './stabilization';

/** Why a sync decided as it did, as text for a panel or a hover. No line ends with a full stop. */
export interface Explanation {
  /** One line: `3 -> 5: ceil(3 x 90 / 60) = 5`. */
  readonly summary: string;
  /** Step by step, in the order of the algorithm. */
  readonly lines: readonly ExplanationLine[];
}

export interface ExplanationLine {
  readonly about: 'metric' | 'maximum' | 'stabilization' | 'limit' | 'result';
  readonly text: string;
  /** True for the steps that kept the count from what the metrics ask for. */
  readonly holds: boolean;
}

/** Puts a decision into words. The spec is the one that it was made with. */
export function explain(decision: Decision, spec: HpaSpec): Explanation {
  switch (decision.kind) {
    case 'disabled':
      return single(
        'stays at 0: autoscaling is disabled while the target has 0 replicas; it goes on when somebody sets more',
      );
    case 'clamped': {
      const side = decision.bound === 'maxReplicas' ? 'above' : 'below';
      return single(
        `${arrow(decision.from, decision.to)}: ${decision.from} is ${side} ${decision.bound} (${decision.to}); no metric is read`,
      );
    }
    case 'failed': {
      const { withheld, failures } = decision.proposal;
      const failed = failures.map(({ metric }) => nameOf(metric)).join(', ');
      const why =
        withheld === undefined
          ? `${failed} failed`
          : `${failed} failed, and the other metrics ask for ${withheld}: nothing is scaled down while a metric fails`;
      return {
        summary: `stays at ${decision.from}: ${why}`,
        lines: [
          ...decision.outcomes.map(metricLine),
          { about: 'result', text: `stays at ${decision.from}: ${why}`, holds: true },
        ],
      };
    }
    case 'computed':
      return explainComputed(decision, spec);
  }
}

function single(text: string): Explanation {
  return { summary: text, lines: [{ about: 'result', text, holds: true }] };
}

function explainComputed(decision: ComputedDecision, spec: HpaSpec): Explanation {
  const { from, to, at, outcomes, proposal, stabilization, bounded } = decision;
  const lines: ExplanationLine[] = outcomes.map(metricLine);
  if (outcomes.length > 1) {
    const failures = proposal.failures.length === 0 ? '' : ', of those that could be read';
    lines.push({
      about: 'maximum',
      text: `the largest proposal counts${failures}: ${proposal.replicas} of ${nameOf(proposal.by.metric)}`,
      holds: false,
    });
  }
  const held = stabilization.replicas !== proposal.replicas;
  const stabilized = stabilizationText(stabilization, proposal.replicas, at);
  if (held) lines.push({ about: 'stabilization', text: stabilized, holds: true });
  const limited = bounded.replicas !== stabilization.replicas;
  const limit = limitText(bounded, spec, from);
  if (limited) lines.push({ about: 'limit', text: limit, holds: true });
  const result = arrow(from, to);
  lines.push({ about: 'result', text: result, holds: false });

  const formula = formulaText(proposal.by.working, proposal.by.replicas);
  const reasons = [formula, held ? stabilized : undefined, limited ? limit : undefined];
  return { summary: `${result}: ${reasons.filter((reason) => reason !== undefined).join('; ')}`, lines };
}

function arrow(from: number, to: number): string {
  return from === to ? `stays at ${from}` : `${from} -> ${to}`;
}

/** `ceil(3 x 90 / 60) = 5`, or the comparison that left the count as it is. */
export function formulaText(working: Working, replicas: number): string {
  const level = amountText(working.level, working.unit);
  const target = amountText(working.target, working.unit);
  const ratio =
    working.form === 'total-over-target'
      ? `${level} / (${target} x ${working.pods})`
      : `${level} / ${target}`;
  switch (working.verdict) {
    case 'scaled':
      return working.form === 'pods-times-ratio'
        ? `ceil(${working.pods} x ${level} / ${target}) = ${replicas}`
        : `ceil(${level} / ${target}) = ${replicas}`;
    case 'within-tolerance': {
      const { up, down } = working.tolerances;
      const range = `${ratioText(1 - down)} to ${ratioText(1 + up)}`;
      return `${ratio} = ${ratioText(working.ratio)} is within ${range}, so ${replicas} stays`;
    }
    case 'direction-would-flip': {
      const before = ratioText(
        Number(working.assumed?.levelBefore ?? working.level) / Number(working.target),
      );
      return `the ratio would turn from ${before} to ${ratioText(working.ratio)}, so ${replicas} stays`;
    }
    case 'against-direction': {
      const up = working.ratio > 1;
      const result = Math.ceil(working.ratio * working.pods);
      return `ceil(${working.pods} x ${level} / ${target}) = ${result} would scale ${up ? 'down' : 'up'} at a ratio ${up ? 'above' : 'below'} 1, so ${replicas} stays`;
    }
  }
}

function metricLine(outcome: MetricOutcome): ExplanationLine {
  const name = nameOf(outcome.metric);
  if (outcome.kind === 'failed')
    return { about: 'metric', text: `${name} failed: ${outcome.message}`, holds: true };
  const { working, replicas } = outcome;
  const formula = formulaText(working, replicas);
  return {
    about: 'metric',
    text: `${name} ${levelText(outcome.metric, working)}: ${formula}${assumedText(working)}`,
    holds: working.verdict !== 'scaled' && working.verdict !== 'within-tolerance',
  };
}

/** `is at 90 % of the request, target 60 %`, `is 40 in all, target 10 a pod`. */
function levelText(metric: MetricSpec, working: Working): string {
  const level = amountText(working.level, working.unit);
  const target = amountText(working.target, working.unit);
  if (working.unit === 'percent') return `is at ${level} % of the request, target ${target} %`;
  if (working.form === 'total-over-target') return `is ${level} in all, target ${target} a pod`;
  if (metric.target.type === 'Value') return `is ${level}, target ${target}`;
  return `is ${level} a pod, target ${target}`;
}

function assumedText({ assumed }: Working): string {
  if (assumed === undefined) return '';
  const parts = [
    assumed.missing > 0 && assumed.missingAs !== undefined
      ? `${podsText(assumed.missing)} without a sample counted as using ${assumed.missingAs}`
      : undefined,
    assumed.unready > 0 ? `${podsText(assumed.unready)} not ready counted as using nothing` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function stabilizationText(
  { heldBy, window, replicas }: Stabilization,
  proposal: number,
  now: number,
): string {
  const direction = proposal < replicas ? 'down' : 'up';
  if (heldBy === undefined || window === undefined)
    return `stabilization holds ${replicas} instead of ${proposal}`;
  const age = durationText(now - heldBy.at);
  const left = durationText(heldBy.at + window - now);
  return `stabilization holds ${replicas} instead of ${proposal}: ${age} ago ${heldBy.replicas} was recommended, and the scale-${direction} window is ${durationText(window)} (${left} left)`;
}

function limitText({ reason, rate, replicas, perSync }: Bounded, spec: HpaSpec, current: number): string {
  switch (reason) {
    case 'TooManyReplicas':
      return `maxReplicas is ${spec.maxReplicas}`;
    case 'TooFewReplicas':
      return `minReplicas is ${spec.minReplicas}`;
    case 'ScaleUpLimit':
    case 'ScaleDownLimit':
      if (rate === undefined) {
        return `without behavior one sync scales up to at most max(2 x ${current}, 4) = ${perSync ?? replicas}`;
      }
      return rateText(rate, current);
    case 'DesiredWithinRange':
      return 'within the limits';
  }
}

function rateText(rate: RateLimit, current: number): string {
  const rules = rate.direction === 'up' ? 'scaleUp' : 'scaleDown';
  if (rate.disabled) return `${rules}.selectPolicy is Disabled, so ${current} stays`;
  if (rate.decisive === undefined) return `${rules} has no policy, so ${current} stays`;
  const { decisive } = rate;
  const spent = rate.direction === 'up' ? rate.limit < current : rate.limit > current;
  const choice = rate.policies.length > 1 ? `, chosen of ${rate.policies.length} policies` : '';
  const wait = spent ? `; ${current} stays until earlier changes are older than that` : '';
  return `${rules} policy ${policyText(decisive.policy)} lets it go to ${policyFormula(decisive, rate.direction)}${choice}${wait}`;
}

/** `Pods 4 per 15 s`. */
export function policyText({ type, value, periodSeconds }: ScalingPolicy): string {
  return `${type} ${value} per ${durationText(periodSeconds * 1000)}`;
}

/** `4 + 4 = 8`, or with earlier changes `(10 - 2 added) + 4 = 12`. */
function policyFormula(
  { policy, start, added, removed, limit }: PolicyLimit,
  direction: RateLimit['direction'],
): string {
  const current = direction === 'up' ? start + added - removed : start - removed + added;
  const before = added === 0 && removed === 0 ? `${start}` : `(${current}${minus(added)}${plus(removed)})`;
  const amount = policy.type === 'Percent' ? `${policy.value} %` : `${policy.value}`;
  return `${before} ${direction === 'up' ? '+' : '-'} ${amount} = ${limit}`;
}

const minus = (added: number): string => (added === 0 ? '' : ` - ${added} added`);
const plus = (removed: number): string => (removed === 0 ? '' : ` + ${removed} removed`);
