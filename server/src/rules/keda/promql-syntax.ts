import { triggersOf } from '../../kube/keda/read-triggers';
import type { Resource } from '../../kube/resource';
import { scalarText } from '../../kube/scalar-text';
import { parsePromQL } from '../../promql/parse';
import { entryOf, isScalar, itemsIn, type ScalarNode } from '../../yaml/node';
import { defineRule } from '../rule';
import { firstLine } from './place';
import { asksVictoriaMetrics, queryNode } from './prometheus-query';

export default defineRule({
  id: 'promql-syntax',
  summary: 'A PromQL query parses',
  severity: 'error',
  needs: 'document',
  kinds: ['ScaledObject', 'ScaledJob', 'PrometheusRule'],
  fixable: 'none',
  check(resource, { report }) {
    const isRule = resource.kind === 'PrometheusRule';
    for (const node of isRule ? ruleExpressions(resource) : triggerQueries(resource)) {
      const { text, span } = scalarText(resource.placed.document.text, node);
      const parsed = parsePromQL(text);
      if (parsed.ok) continue;
      const { start, end, message } = parsed.problem;
      const consequence = isRule
        ? 'Prometheus refuses the rules of this group'
        : 'Prometheus refuses the query, and the trigger fails at each poll';
      report({
        at: text.trim() === '' ? node : firstLine(resource, span(start, end)),
        message: `PromQL: ${message}; ${consequence}`,
      });
    }
  },
});

function triggerQueries(resource: Resource): readonly ScalarNode[] {
  return triggersOf(resource)
    .filter((trigger) => !asksVictoriaMetrics(trigger))
    .flatMap((trigger) => queryNode(trigger) ?? [])
    .filter((node) => node.text.trim() !== '');
}

function ruleExpressions({ root }: Resource): readonly ScalarNode[] {
  return itemsIn(root, 'spec', 'groups').flatMap((group) =>
    itemsIn(group, 'rules').flatMap((rule) => {
      const expression = entryOf(rule, 'expr')?.value;
      return isScalar(expression) && !expression.unknown && typeof expression.value === 'string'
        ? [expression]
        : [];
    }),
  );
}
