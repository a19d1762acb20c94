import { quantityText } from '../format';
import type { Observed } from '../reading';
import { thresholds, thresholdSource } from '../thresholds';
import type { ThresholdId } from '../thresholds';
import type { JudgeContext } from './context';
import { quantityOf } from './quantities';
import type { QuantityId } from './quantities';

/**
 * What has to hold for a verdict, as data. Quantities compare with thresholds; a plain number stands for a limit that
 * nobody would want to change, such as "more than none".
 */
export type Condition =
  | {
      readonly kind: 'compare';
      readonly quantity: QuantityId;
      readonly is: 'above' | 'below';
      readonly limit: ThresholdId | number;
    }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  /** Counts where it is known, and is left out where not: a refinement, no requirement. */
  | { readonly kind: 'if-known'; readonly of: Condition };

export const above = (quantity: QuantityId, limit: ThresholdId | number): Condition => ({
  kind: 'compare',
  quantity,
  is: 'above',
  limit,
});
export const below = (quantity: QuantityId, limit: ThresholdId | number): Condition => ({
  kind: 'compare',
  quantity,
  is: 'below',
  limit,
});
export const all = (...of: readonly Condition[]): Condition => ({ kind: 'all', of });
export const any = (...of: readonly Condition[]): Condition => ({ kind: 'any', of });
export const ifKnown = (of: Condition): Condition => ({ kind: 'if-known', of });

/** One comparison and what came of it. */
export interface Evidence {
  readonly quantity: QuantityId;
  readonly label: string;
  readonly observed: Observed;
  /** `94 %`; for absent values why there is none. */
  readonly text: string;
  readonly is: 'above' | 'below';
  readonly limit: number;
  readonly limitText: string;
  /** Who set the limit, and why it is what it is. */
  readonly limitSource: string;
  /** `undefined`: not known. */
  readonly holds: boolean | undefined;
  readonly target: string;
}

export interface Judgement {
  /** True, false, or not known: one of the values that decide is missing. */
  readonly holds: boolean | undefined;
  /** Of the comparisons that decided; where it is not known, also those without a value. */
  readonly evidence: readonly Evidence[];
}

/**
 * What a limit is in this context. GPU memory that the engine reserves by its arguments is in use by intent: a limit
 * below it would always be exceeded and tell nothing.
 */
export function limitOf(
  limit: ThresholdId | number,
  context: JudgeContext,
): { readonly value: number; readonly source: string } {
  if (typeof limit === 'number') return { value: limit, source: 'definition' };
  const value = context.thresholds[limit];
  const { reservedVram } = context;
  const isVram = limit === 'vramRisk' || limit === 'warnVram';
  if (isVram && reservedVram !== undefined && reservedVram + reserveMargin > value) {
    const percent = quantityText(reservedVram, 'ratio');
    return {
      value: Math.min(0.99, reservedVram + reserveMargin),
      source: `the engine is told to reserve ${percent}; 3 points above are for CUDA graphs and the context`,
    };
  }
  return { value, source: thresholdSource(limit, context.thresholds) };
}

/** What CUDA's context and graphs take beside the share that an engine reserves, of a GPU's memory. */
const reserveMargin = 0.03;

export function judge(condition: Condition, context: JudgeContext): Judgement {
  switch (condition.kind) {
    case 'compare': {
      const quantity = quantityOf(condition.quantity);
      const observed = quantity.read(context);
      const { value: limit, source } = limitOf(condition.limit, context);
      const unit = typeof condition.limit === 'number' ? quantity.unit : thresholds[condition.limit].unit;
      const write = (value: number): string =>
        quantity.text?.(value, context) ?? quantityText(value, quantity.unit);
      const holds =
        observed.kind === 'absent'
          ? undefined
          : condition.is === 'above'
            ? observed.value > limit
            : observed.value < limit;
      const evidence: Evidence = {
        quantity: condition.quantity,
        label: quantity.label,
        observed,
        text: observed.kind === 'absent' ? observed.message : write(observed.value),
        is: condition.is,
        limit,
        limitText: quantity.text?.(limit, context) ?? quantityText(limit, unit),
        limitSource: source,
        holds,
        target: quantity.target,
      };
      return { holds, evidence: [evidence] };
    }
    case 'if-known': {
      const { holds, evidence } = judge(condition.of, context);
      return holds === undefined ? { holds: true, evidence: [] } : { holds, evidence };
    }
    case 'all': {
      const parts = condition.of.map((one) => judge(one, context));
      const failed = parts.find(({ holds }) => holds === false);
      if (failed !== undefined) return failed;
      const unknown = parts.some(({ holds }) => holds === undefined);
      return { holds: unknown ? undefined : true, evidence: parts.flatMap(({ evidence }) => evidence) };
    }
    case 'any': {
      const parts = condition.of.map((one) => judge(one, context));
      const met = parts.filter(({ holds }) => holds === true);
      if (met.length > 0) return { holds: true, evidence: met.flatMap(({ evidence }) => evidence) };
      const unknown = parts.filter(({ holds }) => holds === undefined);
      if (unknown.length > 0)
        return { holds: undefined, evidence: unknown.flatMap(({ evidence }) => evidence) };
      return { holds: false, evidence: parts.flatMap(({ evidence }) => evidence) };
    }
  }
}
