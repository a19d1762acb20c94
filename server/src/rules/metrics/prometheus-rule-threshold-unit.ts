import { containerInsightsMetrics } from '../../kube/metric-names/container-insights';
import { lookupMetric } from '../../kube/metric-names/lookup';
import { triggersOf } from '../../kube/keda/read-triggers';
import { parseQuantity, toNumber } from '../../kube/quantity';
import type { Resource } from '../../kube/resource';
import { partsOf, type PromExpression } from '../../promql/expression';
import { replaceScalar } from '../../yaml/edit';
import { scalarIn, type ScalarNode } from '../../yaml/node';
import { asksVictoriaMetrics, queryNode } from '../keda/prometheus-query';
import { defineRule, type Fix, type Report } from '../rule';
import { adapterMetrics, placedQuery, ruleExpressions, type PlacedQuery } from './mentions';
import {
  constantOf,
  isComparison,
  measureOf,
  wrongThreshold,
  type Measure,
  type WrongThreshold,
} from './units';

export default defineRule({
  id: 'prometheus-rule-threshold-unit',
  summary: 'A threshold is in the unit of the metric that it is compared with',
  severity: 'warning',
  needs: 'document',
  kinds: ['PrometheusRule', 'ScaledObject', 'ScaledJob', 'HorizontalPodAutoscaler'],
  fixable: 'suggest',
  check(resource, { report }) {
    switch (resource.kind) {
      case 'PrometheusRule':
        for (const { node, alert } of ruleExpressions(resource)) {
          const query = placedQuery(resource, node);
          if (query === undefined) continue;
          for (const found of wrongComparisons(query, node)) report(ofAlert(found, alert));
        }
        return;
      case 'HorizontalPodAutoscaler':
        for (const found of wrongTargets(resource)) report(found);
        return;
      default:
        for (const found of wrongTriggers(resource)) report(found);
    }
  },
});

function ofAlert(found: Report, alert: string | undefined): Report {
  return alert === undefined
    ? found
    : { ...found, message: `${found.message}, so "${alert}" does not say what it means` };
}

function comparisonsOf(
  expression: PromExpression,
): readonly (PromExpression & { readonly kind: 'binary' })[] {
  const own = expression.kind === 'binary' && isComparison(expression.operator) ? [expression] : [];
  return [...own, ...partsOf(expression).flatMap(comparisonsOf)];
}

/** Comparisons of a metric with a number, either way round. */
function wrongComparisons({ expression, place }: PlacedQuery, node: ScalarNode): readonly Report[] {
  return comparisonsOf(expression).flatMap(({ operator, left, right }): readonly Report[] => {
    const isTurned = constantOf(left) !== undefined;
    const [compared, bound] = isTurned ? [right, left] : [left, right];
    const threshold = constantOf(bound);
    const measure = threshold === undefined ? undefined : measureOf(compared);
    if (threshold === undefined || measure === undefined || operator === '==' || operator === '!=') return [];
    const wrong = wrongThreshold(measure, threshold, operator.startsWith('>') !== isTurned);
    if (wrong === undefined) return [];
    const at = place(bound);
    const { meant } = wrong;
    const fix: Fix | undefined =
      meant === undefined || node.borrowed || bound.kind !== 'number' || !('start' in at)
        ? undefined
        : {
            title: `Compare with ${meant}`,
            safe: false,
            edits: [{ start: at.start, end: at.end, newText: String(meant) }],
          };
    return [{ at, message: messageOf(measure, threshold, wrong), fixes: [fix] }];
  });
}

function messageOf({ metric }: Measure, threshold: number, { what, then }: WrongThreshold): string {
  return `${metric} ${what} and is compared with ${threshold}: ${then}`;
}

function targetReport(
  resource: Resource,
  measure: Measure,
  node: ScalarNode,
  threshold: number,
): readonly Report[] {
  const wrong = wrongThreshold(measure, threshold, true);
  if (wrong === undefined) return [];
  const { meant } = wrong;
  const edits =
    meant === undefined
      ? undefined
      : replaceScalar(resource.placed.document, node, typeof node.value === 'number' ? meant : String(meant));
  const then =
    wrong.then === 'it never gets there' ? 'nothing ever scales up' : 'everything scales to the maximum';
  return [
    {
      at: node,
      message: `${measure.metric} ${wrong.what} and the target is ${node.text}: ${then}`,
      fixes: [edits && { title: `Aim at ${meant ?? ''}`, safe: false, edits }],
    },
  ];
}

function numberOf(node: ScalarNode | undefined): number | undefined {
  if (node === undefined || node.unknown || node.value === null) return undefined;
  const quantity = parseQuantity(node.text);
  return quantity === undefined ? undefined : toNumber(quantity);
}

/** An adapter may give a metric another unit with its name; one that keeps the name keeps the unit. */
function wrongTargets(resource: Resource): readonly Report[] {
  return adapterMetrics(resource).flatMap(({ node, target }) => {
    const threshold = numberOf(target);
    const found = lookupMetric(node.text, true);
    if (threshold === undefined || target === undefined || found === undefined || !('metric' in found))
      return [];
    const { unit, type } = found.metric;
    return unit === undefined || type !== 'gauge'
      ? []
      : targetReport(resource, { unit, metric: node.text }, target, threshold);
  });
}

function wrongTriggers(resource: Resource): readonly Report[] {
  return triggersOf(resource).flatMap((trigger): readonly Report[] => {
    const { type, metadataNode, composed } = trigger;
    if (composed !== 'no') return [];
    if (type === 'prometheus') {
      const node = asksVictoriaMetrics(trigger) ? undefined : queryNode(trigger);
      const query = node === undefined ? undefined : placedQuery(resource, node);
      const threshold = scalarIn(metadataNode, 'threshold');
      const value = numberOf(threshold);
      const measure = query === undefined ? undefined : measureOf(query.expression);
      const compared = query === undefined || node === undefined ? [] : wrongComparisons(query, node);
      return measure === undefined || threshold === undefined || value === undefined
        ? compared
        : [...compared, ...targetReport(resource, measure, threshold, value)];
    }
    if (type !== 'aws-cloudwatch') return [];
    const metric = scalarIn(metadataNode, 'metricName');
    const target = scalarIn(metadataNode, 'targetMetricValue');
    const value = numberOf(target);
    const isPercent =
      metric !== undefined &&
      containerInsightsMetrics.includes(metric.text) &&
      /_utilization/.test(metric.text);
    return isPercent && target !== undefined && value !== undefined
      ? targetReport(resource, { unit: 'percent', metric: metric.text }, target, value)
      : [];
  });
}
