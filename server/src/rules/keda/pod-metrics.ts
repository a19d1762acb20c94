import type { Engine } from '../../kube/model-server';
import type { Selector } from '../../promql/expression';

/**
 * Metrics that a model server reports about itself, so that there are none while no pod runs: the names in the
 * engines' own documentation of `/metrics`.
 */
const families: readonly { readonly engine: Engine; readonly pattern: RegExp }[] = [
  // What the router of vLLM's production stack reports under the same prefix is there without a pod of vLLM.
  {
    engine: 'vllm',
    pattern: /^vllm[:_](?!current_qps|avg_|num_(?:prefill|decoding|incoming)_requests|healthy_pods|router_)/,
  },
  { engine: 'sglang', pattern: /^sglang[:_]/ },
  { engine: 'tgi', pattern: /^tgi_/ },
  { engine: 'triton', pattern: /^nv_(?:inference|gpu|energy|cache|cpu)_/ },
  { engine: 'llama.cpp', pattern: /^llamacpp:/ },
  { engine: 'tei', pattern: /^te_(?:request|embed|queue|batch)/ },
];

/** The engine whose pods report a metric; `undefined` when somebody else may. */
export function engineOfMetric(metric: string | undefined): Engine | undefined {
  return metric === undefined ? undefined : families.find(({ pattern }) => pattern.test(metric))?.engine;
}

/** Metrics about single pods that the node reports: cAdvisor's and DCGM's. */
const aboutPods = /^(?:container_|DCGM_FI_)/;
const podLabels: readonly string[] = ['pod', 'pod_name', 'exported_pod', 'container', 'exported_container'];

/** Whether a selector asks for the pods of a workload by its name. */
export function selectsPodsOf({ metric, matchers }: Selector, workload: string): boolean {
  return (
    aboutPods.test(metric ?? '') &&
    matchers.some(
      ({ label, operator, value }) =>
        podLabels.includes(label) && (operator === '=' || operator === '=~') && value.startsWith(workload),
    )
  );
}
