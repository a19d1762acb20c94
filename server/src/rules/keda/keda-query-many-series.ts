import type { Resource } from '../../kube/resource';
import { scalarText } from '../../kube/scalar-text';
import { someExpression, type PromExpression } from '../../promql/expression';
import { distinguishingLabels, seriesCount } from '../../promql/series';
import { defineRule, type Fix } from '../rule';
import { valuePlace } from './place';
import { asksVictoriaMetrics, prometheusQueries, shownQuery, type PrometheusQuery } from './prometheus-query';

export default defineRule({
  id: 'keda-query-many-series',
  summary: 'The query of a prometheus trigger returns one series',
  severity: 'warning',
  needs: 'document',
  kinds: ['ScaledObject', 'ScaledJob'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const query of prometheusQueries(resource)) {
      const { trigger, node, expression } = query;
      if (asksVictoriaMetrics(trigger) || seriesCount(expression) !== 'many') continue;
      const labels = distinguishingLabels(expression);
      const each =
        labels.length === 0 ? 'each set of labels, such as each pod' : `each ${labels.join(' and ')}`;
      report({
        at: valuePlace(resource, node),
        message: `"${shownQuery(node.text)}" returns one series for ${each}; KEDA takes one in all, so with more the trigger fails`,
        fixes: [reduceToOne(resource, query)],
      });
    }
  },
});

/** Shares, times and quantiles, whose sum over pods means nothing. */
function isShare(expression: PromExpression): boolean {
  return someExpression(expression, (part) => {
    switch (part.kind) {
      case 'call':
        return /quantile|^avg_|^deriv$/.test(part.name);
      case 'aggregate':
        return part.operator === 'avg' || part.operator === 'quantile';
      case 'binary':
        return part.operator === '/';
      case 'selector':
        return /_(?:perc|percent|ratio|usage|util|utilization)$/i.test(part.metric ?? '');
      default:
        return false;
    }
  });
}

/** Only what stands around the expression is written, so that comments and line breaks stay. */
function reduceToOne(resource: Resource, { node, expression }: PrometheusQuery): Fix | undefined {
  if (node.borrowed) return undefined;
  const { span } = scalarText(resource.placed.document.text, node);
  const operator = isShare(expression) ? 'max' : 'sum';
  const { start } = span(expression.start, expression.start + 1);
  const { end } = span(expression.end - 1, expression.end);
  return {
    title: operator === 'sum' ? 'Add the series up with sum()' : 'Take the largest with max()',
    safe: false,
    edits: [
      { start, end: start, newText: `${operator}(` },
      { start: end, end, newText: ')' },
    ],
  };
}
