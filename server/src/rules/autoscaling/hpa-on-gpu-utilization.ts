import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { hasAllTriggers, triggersOf } from '../../kube/keda/read-triggers';
import type { Resource } from '../../kube/resource';
import { entryOf, isSequence, itemsIn, mapIn } from '../../yaml/node';
import { metricMentions, type MetricMention } from '../metrics/mentions';
import { defineRule } from '../rule';

/** Metrics that say how busy an accelerator is, in the names of DCGM, CloudWatch, Triton, Neuron and of adapters. */
const busy =
  /gpu_util|(?:gpu|neuroncore|accelerator)s?_utili[sz]ation|duty_cycle|prof_(?:gr_engine|sm)_active|neuroncore_usage/i;
const memory = /mem|cache|fb_/i;

function isBusyness(name: string): boolean {
  return busy.test(name) && !memory.test(name);
}

/** What queries join only for its labels. */
const labelsOnly = /^kube_(?:pod|deployment|node)_(?:labels|info|owner)$|^kube_pod_status_/;

export default defineRule({
  id: 'hpa-on-gpu-utilization',
  summary: 'GPU utilization alone does not tell a busy server from an overloaded one',
  severity: 'info',
  needs: 'document',
  kinds: autoscalerKinds,
  fixable: 'none',
  check(resource, { report }) {
    const mentions = metricMentions(resource).filter(({ name }) => !labelsOnly.test(name));
    const [first] = mentions;
    if (first === undefined || !mentions.every(({ name }) => isBusyness(name))) return;
    if (!isAlone(resource, mentions)) return;
    report({
      at: first.at,
      message: `"${first.name}" is near its maximum with a single request and says nothing of those that wait: replicas are added too early or too late; the depth of the queue tells`,
    });
  },
});

/** No other metric beside it but CPU and memory, which say less still. */
function isAlone(resource: Resource, mentions: readonly MetricMention[]): boolean {
  const resources = autoscalerOf(resource)?.resourceMetrics.filter(({ node }) => node !== undefined) ?? [];
  if (resource.kind === 'ScaledObject') {
    if (!hasAllTriggers(resource)) return false;
    const triggers = triggersOf(resource);
    // Each other trigger has to be one that was read as a metric.
    return (
      triggers.filter(
        ({ type }) => type === 'prometheus' || type === 'aws-cloudwatch' || type === 'metrics-api',
      ).length +
        resources.length ===
        triggers.length && mentions.length >= triggers.length - resources.length
    );
  }
  const list = entryOf(mapIn(resource.root, 'spec'), 'metrics')?.value;
  return isSequence(list) && !list.open && itemsIn(list).length === mentions.length + resources.length;
}
