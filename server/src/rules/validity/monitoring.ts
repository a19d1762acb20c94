import { listIn, partIn, partsIn, textAt, textOf, type Part } from '../../kube/part';
import type { Inspection } from './inspection';
import { byText, shown } from './inspection';

/** Groups of rules are a map by their name. */
export function checkPrometheusRule(cx: Inspection, root: Part): void {
  const groups = partsIn(partIn(root, 'spec'), 'groups');
  for (const group of groups) {
    const strategy = textAt(group, 'partial_response_strategy');
    if (strategy !== undefined && !['', 'abort', 'warn'].includes(strategy.text.toLowerCase()))
      cx.textOneOf(strategy, ['abort', 'warn'], 'The partial_response_strategy');
  }
  cx.unique(
    groups,
    (group) => byText(textAt(group, 'name')),
    (key) => `Two groups of rules are called ${shown(key)}`,
  );
}

export function checkMonitor(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  for (const endpoint of [...partsIn(spec, 'endpoints'), ...partsIn(spec, 'podMetricsEndpoints')]) {
    for (const rule of [...partsIn(endpoint, 'relabelings'), ...partsIn(endpoint, 'metricRelabelings')]) {
      for (const item of listIn(rule, 'sourceLabels')?.items ?? []) {
        const text = textOf(item);
        if (text === undefined || /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(text.text)) continue;
        cx.add(
          'name-invalid',
          item,
          `Source label ${shown(text.text)} is not a label of Prometheus: letters, digits and "_" are allowed`,
        );
      }
    }
  }
  cx.unique(
    listIn(spec, 'scrapeProtocols')?.items ?? [],
    (item) => byText(textOf(item)),
    (key) => `The protocol ${key} stands twice`,
  );
}
