import { autoscalerOf } from '../../kube/autoscalers';
import { readBoolean } from '../../kube/keda/values';
import { selectorsOf } from '../../promql/expression';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, isNull, isScalar } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { engineOfMetric } from './pod-metrics';
import { coversEmpty, prometheusQueries, shownQuery, type PrometheusQuery } from './prometheus-query';

export default defineRule({
  id: 'keda-hides-broken-query',
  summary: 'A query without a result is an error, not a value of zero',
  severity: 'info',
  needs: 'document',
  kinds: ['ScaledObject'],
  fixable: 'suggest',
  check(resource, { report }) {
    const least = autoscalerOf(resource)?.minReplicas;
    for (const query of prometheusQueries(resource)) {
      const { trigger, entry, expression } = query;
      const { metadata, metadataNode } = trigger;
      const written = entryOf(metadataNode, 'ignoreNullValues');
      const isWritten = written !== undefined && !isNull(written.value);
      if (!isWritten && trigger.open) continue;
      if (isWritten && readBoolean(metadata.get('ignoreNullValues')?.trim() ?? '') !== true) continue;
      const selectors = selectorsOf(expression);
      if (selectors.length === 0 || coversEmpty(expression)) continue;
      // At zero replicas there is rightly no value of what the pods report; keda-never-wakes-up speaks of that.
      const fromPods = selectors.some(({ metric }) => engineOfMetric(metric) !== undefined);
      if (fromPods && !(least?.known === true && least.value > 0)) continue;
      report({
        at: isWritten ? written.value : entry,
        message: `ignoreNullValues is true${isWritten ? '' : ' (the default)'}: when "${shownQuery(query.node.text)}" finds nothing, because a scrape broke or a name changed, KEDA takes 0 and scales down under load`,
        fixes: [failOnNothing(query)],
      });
    }
  },
});

function failOnNothing({ trigger, entry }: PrometheusQuery): Fix | undefined {
  const { resource, metadataNode } = trigger;
  const { document } = resource.placed;
  const value = entryOf(metadataNode, 'ignoreNullValues')?.value;
  const edits =
    metadataNode === undefined
      ? undefined
      : isScalar(value) && value.value !== null
        ? replaceScalar(document, value, 'false')
        : insertKey(document, metadataNode, 'ignoreNullValues', 'false', { after: entry.key.text });
  return edits === undefined
    ? undefined
    : { title: 'Make a query without a result an error', safe: false, edits };
}
