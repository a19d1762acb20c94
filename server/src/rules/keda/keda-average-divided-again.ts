import type { WrittenTrigger } from '../../kube/keda/read-triggers';
import { selectorsOf, type PromExpression } from '../../promql/expression';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, isScalar } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { valuePlace } from './place';
import { asksVictoriaMetrics, prometheusQueries, shownQuery } from './prometheus-query';

/** Metrics that each model server or GPU reports of itself, so that an average of them is what one replica has. */
const ofOneReplica = /^(vllm[:_]|sglang[:_]|tgi_|te_|nv_(inference|gpu|trt)|DCGM_FI_)/;

export default defineRule({
  id: 'keda-average-divided-again',
  summary: 'A trigger that compares an average has metricType Value',
  severity: 'warning',
  needs: 'document',
  kinds: ['ScaledObject'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const { trigger, node, expression } of prometheusQueries(resource)) {
      // With a formula its own metric type counts, and those of the triggers do not.
      if (trigger.composed !== 'no' || asksVictoriaMetrics(trigger) || !isDivided(trigger)) continue;
      const average = averageIn(expression);
      const selectors = selectorsOf(expression);
      if (average === undefined || selectors.length === 0) continue;
      if (!selectors.every(({ metric }) => metric !== undefined && ofOneReplica.test(metric))) continue;
      report({
        at: valuePlace(resource, node),
        message: `"${shownQuery(node.text)}" is ${average} of one replica, and metricType AverageValue${written(trigger) === undefined ? ' (the default)' : ''} takes it for the sum of all: the HPA asks for value / threshold replicas, however many there are, so that twice the threshold never makes more than two`,
        fixes: [compareValue(trigger)],
      });
    }
  },
});

function written(trigger: WrittenTrigger) {
  const value = entryOf(trigger.node, 'metricType')?.value;
  return isScalar(value) && value.value !== null ? value : undefined;
}

/** The HPA divides what KEDA reports by the replicas. */
function isDivided(trigger: WrittenTrigger): boolean {
  const type = written(trigger);
  return type === undefined ? !trigger.node.open : !type.unknown && type.text === 'AverageValue';
}

/** What the outermost part makes of all replicas, in words; `undefined` for anything but an average or a quantile. */
function averageIn(expression: PromExpression): string | undefined {
  if (expression.kind === 'aggregate' && expression.grouping === undefined) {
    if (expression.operator === 'avg') return 'the average';
    return expression.operator === 'quantile' ? 'a quantile' : undefined;
  }
  if (expression.kind === 'call' && expression.name === 'histogram_quantile') return 'a quantile';
  // `avg(x) or vector(0)`
  return expression.kind === 'binary' && expression.operator === 'or'
    ? averageIn(expression.left)
    : undefined;
}

function compareValue(trigger: WrittenTrigger): Fix | undefined {
  const type = written(trigger);
  const { document } = trigger.resource.placed;
  const edits =
    type === undefined
      ? insertKey(document, trigger.node, 'metricType', 'Value', { before: 'metadata' })
      : replaceScalar(document, type, 'Value');
  return edits === undefined
    ? undefined
    : { title: 'Compare the value itself: metricType Value', safe: false, edits };
}
