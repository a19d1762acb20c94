import { distinguishingLabels, seriesCount } from '../../promql/series';
import { replaceScalar } from '../../yaml/edit';
import { defineRule } from '../rule';
import { valuePlace } from './place';
import { asksVictoriaMetrics, prometheusQueries, shownQuery } from './prometheus-query';

export default defineRule({
  id: 'keda-query-many-series',
  summary: 'The query of a prometheus trigger returns one series',
  severity: 'warning',
  needs: 'document',
  kinds: ['ScaledObject', 'ScaledJob'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const { trigger, node, expression } of prometheusQueries(resource)) {
      if (asksVictoriaMetrics(trigger) || seriesCount(expression) !== 'many') continue;
      const labels = distinguishingLabels(expression);
      const each = labels.length === 0 ? 'each pod' : `each ${labels.join(' and ')}`;
      const edits = replaceScalar(resource.placed.document, node, `sum(${node.text.trim()})`);
      report({
        at: valuePlace(resource, node),
        message: `"${shownQuery(node.text)}" returns one series for ${each}; KEDA takes one in all, so with more the trigger fails`,
        fixes: [
          edits === undefined ? undefined : { title: 'Add the series up with sum()', safe: false, edits },
        ],
      });
    }
  },
});
