import { autoscalerOf, type ResourceMetric } from '../../kube/autoscalers';
import { requestState, runningContainers, type Container } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { insertKey, renameKey, replaceScalar, type Edit } from '../../yaml/edit';
import { entryOf, getIn, mapIn, scalarIn } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';

export default defineRule({
  id: 'hpa-target-missing-request',
  summary: 'A Utilization target needs the request in every container of the target',
  severity: 'error',
  needs: 'workspace',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    const target = workspace.references(resource).target;
    if (autoscaler === undefined || target?.state !== 'found') return;
    if (setsDefaults(workspace, target.resource)) return;
    const then = consequence(autoscaler.metricCount);
    for (const metric of autoscaler.resourceMetrics) {
      if (metric.target !== 'Utilization' || (metric.name !== 'cpu' && metric.name !== 'memory')) continue;
      const measured = podTemplates(target.resource)
        .flatMap((template) => runningContainers(template))
        .filter(({ name }) => metric.container === undefined || name === metric.container);
      const without = measured.filter((container) => requestState(container, metric.name) === 'absent');
      const at = metric.at ?? scalarIn(resource.root, 'spec', 'scaleTargetRef', 'name');
      if (without.length === 0 || at === undefined) continue;
      const names = without.map(({ name }) => `"${name}"`).join(', ');
      const many = without.length > 1;
      const how = metric.at === undefined ? ' (the default)' : '';
      report({
        at,
        message:
          `Utilization of ${metric.name}${how} is a share of the request, and container${many ? 's' : ''} ${names} of ` +
          `"${target.resource.name ?? target.resource.kind}" ${many ? 'have' : 'has'} none: ${then}`,
        related: without.map((container) => ({
          resource: target.resource,
          at: container.nameNode ?? container.node,
          message: `No ${metric.name} request here`,
        })),
        fixes: [measureOneContainer(resource, metric, measured, without)],
      });
    }
  },
});

/** What the controller does without the metric: it follows others upwards, and never downwards. */
function consequence(metricCount: number | undefined): string {
  return metricCount === 1
    ? 'the metric fails and nothing scales'
    : 'the metric fails, so that no pod is ever removed and only another metric can add one';
}

/** A LimitRange of the namespace gives every container a request. */
function setsDefaults(workspace: Workspace, target: Resource): boolean {
  return workspace
    .near(target, 'LimitRange')
    .some(
      (range) =>
        range.namespace === target.namespace &&
        getIn(range.root, 'spec', 'limits')?.kind === 'sequence' &&
        /\bdefault(Request)?\b/.test(range.placed.document.text),
    );
}

/** Where only one container has the request, measuring that one alone is what works without touching the pod. */
function measureOneContainer(
  resource: Resource,
  metric: ResourceMetric,
  measured: readonly Container[],
  without: readonly Container[],
): Fix | undefined {
  const { document } = resource.placed;
  const { node } = metric;
  const [only, ...others] = measured.filter((container) => !without.includes(container));
  if (node === undefined || only === undefined || others.length > 0 || only.name === '') return undefined;
  if (requestState(only, metric.name) !== 'present' || resource.version !== 'v2') return undefined;
  const type = scalarIn(node, 'type');
  const block = entryOf(node, 'resource');
  const map = mapIn(node, 'resource');
  if (type === undefined || block === undefined || map === undefined) return undefined;
  const parts: readonly (readonly Edit[] | undefined)[] = [
    replaceScalar(document, type, 'ContainerResource'),
    renameKey(document, block, 'containerResource'),
    insertKey(document, map, 'container', only.name, { before: 'target' }),
  ];
  const edits = parts.flatMap((part) => part ?? []);
  return parts.includes(undefined)
    ? undefined
    : { title: `Measure the ${metric.name} of container "${only.name}" only`, safe: false, edits };
}
