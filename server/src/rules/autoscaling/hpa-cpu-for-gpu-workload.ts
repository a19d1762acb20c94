import { acceleratorsOfPod } from '../../kube/accelerators';
import { autoscalerKinds, autoscalerOf, readsOnlyResources } from '../../kube/autoscalers';
import { modelServers, type Engine } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { appendItem } from '../../yaml/edit';
import { entryOf, isSequence, mapIn, scalarIn } from '../../yaml/node';
import type { Resource } from '../../kube/resource';
import { defineRule, type Fix } from '../rule';

/**
 * The gauge of requests that wait for the GPU, by engine: the engines' own documentation of `/metrics`
 * (vLLM, SGLang, Text Generation Inference, Triton).
 */
const queueMetric: Partial<Readonly<Record<Engine, string>>> = {
  vllm: 'vllm:num_requests_waiting',
  sglang: 'sglang:num_queue_reqs',
  tgi: 'tgi_queue_size',
  triton: 'nv_inference_pending_request_count',
};

/** Requests that may wait per replica: a few seconds' work of a chat model, and a number to start tuning from. */
const waitingPerReplica = 5;

export default defineRule({
  id: 'hpa-cpu-for-gpu-workload',
  summary: 'CPU and memory do not show that a GPU-bound server is saturated',
  severity: 'warning',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    if (autoscaler === undefined || !readsOnlyResources(autoscaler)) return;
    const target = workspace.references(resource).target;
    if (target?.state !== 'found') return;
    const templates = podTemplates(target.resource);
    if (!templates.some((template) => acceleratorsOfPod(template).length > 0)) return;
    const [first] = autoscaler.resourceMetrics;
    const spec = mapIn(resource.root, 'spec');
    const at = first?.at ?? entryOf(spec, 'metrics') ?? scalarIn(spec, 'scaleTargetRef', 'name');
    if (first === undefined || at === undefined) return;
    const names = [...new Set(autoscaler.resourceMetrics.map(({ name }) => name))].join(' and ');
    const how = first.at === undefined ? ' (the default, as no metric is written)' : '';
    const engine = templates.flatMap((template) => modelServers(template)).map((server) => server.engine);
    report({
      at,
      message: `Scales on ${names} only${how}, but "${target.resource.name ?? target.resource.kind}" is bound by its GPU: the CPU idles while requests queue, so no replica is added`,
      related: [
        {
          resource: target.resource,
          at: scalarIn(target.resource.root, 'metadata', 'name') ?? target.resource.root,
          message: 'The target asks for accelerators',
        },
      ],
      fixes: [
        addQueueMetric(
          resource,
          engine.map((name) => queueMetric[name]).find((name) => name !== undefined),
        ),
      ],
    });
  },
});

/** A second metric beside the CPU; the autoscaler follows whichever asks for more replicas. */
function addQueueMetric(resource: Resource, metric: string | undefined): Fix | undefined {
  if (metric === undefined || resource.kind !== 'HorizontalPodAutoscaler' || resource.version !== 'v2')
    return undefined;
  const list = entryOf(mapIn(resource.root, 'spec'), 'metrics')?.value;
  if (!isSequence(list)) return undefined;
  const edits = appendItem(resource.placed.document, list, {
    type: 'Pods',
    pods: {
      metric: { name: metric },
      target: { type: 'AverageValue', averageValue: String(waitingPerReplica) },
    },
  });
  return edits === undefined
    ? undefined
    : {
        title: `Scale on ${metric} too, ${waitingPerReplica} per replica (a metrics adapter has to serve it)`,
        safe: false,
        edits,
      };
}
