import type { Resource } from '../../kube/resource';
import { entryOf, isScalar, mapIn, scalarIn } from '../../yaml/node';
import { defineRule, type Report } from '../rule';
import { addOnKinds, addOnsOf, cloudWatchAgentTrees, type ConfigTree } from './configuration';

export default defineRule({
  id: 'container-insights-without-gpu',
  summary: 'Container Insights collects the metrics of accelerators',
  severity: 'warning',
  needs: 'document',
  kinds: ['ConfigMap', 'AmazonCloudWatchAgent', ...addOnKinds],
  fixable: 'suggest',
  check(resource, { report }) {
    const { text } = resource.placed.document;
    if (!/metrics_collected|cloudwatch/i.test(text)) return;
    for (const tree of cloudWatchAgentTrees(resource)) {
      for (const found of ofAgent(tree)) report(found);
    }
    for (const found of ofAddOn(resource)) report(found);
  },
});

const consequence =
  'there are no GPU or Neuron metrics in CloudWatch, so that no alarm and no scaler can use them';

/** `logs.metrics_collected.kubernetes` is what turns Container Insights on. */
function ofAgent(tree: ConfigTree): readonly Report[] {
  const collected = mapIn(tree.root, 'logs', 'metrics_collected');
  const entry = entryOf(collected, 'kubernetes');
  const kubernetes = mapIn(collected, 'kubernetes');
  if (entry === undefined || kubernetes === undefined || kubernetes.open) return [];
  const enhanced = scalarIn(kubernetes, 'enhanced_container_insights');
  const accelerated = scalarIn(kubernetes, 'accelerated_compute_metrics');
  if (enhanced === undefined || (enhanced.value === null && !enhanced.unknown)) {
    return entryOf(kubernetes, 'enhanced_container_insights') === undefined || enhanced !== undefined
      ? [
          {
            at: tree.place(entry),
            message: `The CloudWatch agent collects Container Insights without enhanced_container_insights: ${consequence}`,
          },
        ]
      : [];
  }
  const off = [enhanced, accelerated].find((node) => node?.value === false);
  if (off === undefined) return [];
  const edits = tree.replace(off, true);
  const name = off === enhanced ? 'enhanced_container_insights' : 'accelerated_compute_metrics';
  return [
    {
      at: tree.place(off),
      message: `The CloudWatch agent has ${name} off: ${consequence}`,
      fixes: [edits && { title: `Set ${name} to true`, safe: false, edits }],
    },
  ];
}

/** The add-on brings the exporters along, unless they are switched off. */
function ofAddOn(resource: Resource): readonly Report[] {
  return addOnsOf(resource).flatMap(({ name, tree }) => {
    if (!/amazon-cloudwatch-observability/.test(name)) return [];
    return (['dcgmExporter', 'containerInsights'] as const).flatMap((key) => {
      const enabled = scalarIn(tree.root, key, 'enabled');
      if (!isScalar(enabled) || enabled.unknown || enabled.value !== false) return [];
      const edits = tree.replace(enabled, true);
      return [
        {
          at: tree.place(enabled),
          message: `The add-on has ${key} off: ${consequence}`,
          fixes: [edits && { title: `Switch ${key} on`, safe: false, edits }],
        },
      ];
    });
  });
}
