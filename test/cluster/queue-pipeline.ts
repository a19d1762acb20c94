import type { Api, JsonObject } from './lab/api';
import { engineExposition, startExporter, type Exporter } from './lab/exporter';
import { waitFor } from './lab/wait';

/** A model server that scales on its queue, and the NodePool that its pods make nodes of. */
export interface QueuePipeline {
  readonly namespace: string;
  /** Of the Deployment and the ScaledObject. */
  readonly app: string;
  readonly pool: string;
  /** Where the pods answer for their engine. */
  readonly port: number;
  readonly prometheus: string;
  readonly capacityTypes: readonly ('spot' | 'on-demand')[];
  /** Replicas leave as soon as the queue is empty. */
  readonly leaveAtOnce: boolean;
}

/** An engine's metrics, with the whole queue in whoever is asked first: the query adds the pods up. */
export function queueExporter(waiting: () => number): Promise<Exporter> {
  let first: string | undefined;
  return startExporter(0, (address) => {
    first ??= address;
    return engineExposition({
      model: 'Qwen/Qwen2.5-7B-Instruct',
      running: 8,
      waiting: address === first ? waiting() : 0,
      kvCacheUsage: 0.95,
      finished: 100,
      timesToFirstToken: [0.2, 0.4],
    });
  });
}

/** One GPU for each pod and for each node, one replica for each 10 requests that wait, four at most. */
export function queuePipeline(pipeline: QueuePipeline): readonly JsonObject[] {
  const { namespace, app, pool, port, prometheus, capacityTypes, leaveAtOnce } = pipeline;
  const labels = { app };
  return [
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: pool },
      spec: {
        limits: { 'nvidia.com/gpu': '8' },
        disruption: {
          consolidationPolicy: 'WhenEmpty',
          consolidateAfter: '1s',
          budgets: [{ nodes: '100%' }],
        },
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
            taints: [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }],
            requirements: [
              { key: 'karpenter.k8s.aws/instance-gpu-name', operator: 'In', values: ['a10g', 'l4'] },
              { key: 'karpenter.k8s.aws/instance-gpu-count', operator: 'In', values: ['1'] },
              { key: 'karpenter.sh/capacity-type', operator: 'In', values: [...capacityTypes] },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: app, namespace },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: {
            labels,
            annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(port) },
          },
          spec: {
            terminationGracePeriodSeconds: 0,
            containers: [
              {
                name: 'vllm',
                image: 'vllm/vllm-openai:v0.11.0',
                resources: {
                  requests: { cpu: '2', memory: '8Gi' },
                  limits: { memory: '8Gi', 'nvidia.com/gpu': '1' },
                },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name: app, namespace },
      spec: {
        scaleTargetRef: { name: app },
        pollingInterval: 1,
        minReplicaCount: 1,
        maxReplicaCount: 4,
        ...(leaveAtOnce
          ? {
              advanced: {
                horizontalPodAutoscalerConfig: {
                  behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
                },
              },
            }
          : {}),
        triggers: [
          {
            type: 'prometheus',
            metadata: {
              serverAddress: prometheus,
              query: `sum(vllm:num_requests_waiting{namespace="${namespace}"})`,
              threshold: '10',
              ignoreNullValues: 'false',
            },
          },
        ],
      },
    },
  ];
}

/** How many NodeClaims of a NodePool there are. */
export async function claimsOf(api: Api, pool: string): Promise<number> {
  const selector = encodeURIComponent(`karpenter.sh/nodepool=${pool}`);
  return (await api.list(`/apis/karpenter.sh/v1/nodeclaims?labelSelector=${selector}`)).length;
}

/** Deletes a NodePool, and waits until Karpenter has taken its nodes away. */
export async function removePool(api: Api, pool: string): Promise<void> {
  await api.delete(`/apis/karpenter.sh/v1/nodepools/${pool}`);
  await waitFor(
    'Karpenter takes its nodes away',
    async () => ((await claimsOf(api, pool)) === 0 ? true : undefined),
    120_000,
  );
}
