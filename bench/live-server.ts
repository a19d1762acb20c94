import { startFakeApiServer, type FakeObject } from '../test/sources/support/kube-server';

/**
 * The API server of `bench/live.ts`, in a process of its own: 1,000 pods on 100 nodes of eight GPUs, vLLM in each pod and
 * a DCGM exporter on each node. It is told over IPC what to change.
 */

const podCount = 1_000;
const nodeCount = 100;
const created = '2026-11-30T10:00:00Z';
const namespace = 'chat';

const nodeName = (index: number): string => `ip-10-0-${Math.floor(index / 250)}-${index % 250}.ec2.internal`;

function podOf(index: number, restarts: number): FakeObject {
  const statuses = ['vllm', 'proxy'].map((name) => ({
    name,
    ready: true,
    restartCount: name === 'vllm' ? restarts : 0,
    state: { running: { startedAt: created } },
    ...(restarts > 0
      ? { lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: created } } }
      : {}),
  }));
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: created,
  }));
  return {
    metadata: {
      name: `vllm-7d9c6bd9f8-${index}`,
      namespace,
      uid: `pod-${index}`,
      creationTimestamp: created,
      labels: { app: 'vllm', 'pod-template-hash': '7d9c6bd9f8' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'vllm-rs', uid: 'rs', controller: true },
      ],
      // As large as they are: every writer of a field is named.
      managedFields: [
        {
          manager: 'kube-controller-manager',
          fieldsV1: {
            'f:metadata': {
              'f:labels': Object.fromEntries(
                Array.from({ length: 60 }, (_, field) => [`f:label-${field}`, {}]),
              ),
            },
          },
        },
      ],
    },
    spec: {
      nodeName: nodeName(index % nodeCount),
      containers: ['vllm', 'proxy'].map((name) => ({
        name,
        image: `registry.example/${name}:v0.11.0`,
        ports: name === 'vllm' ? [{ name: 'http', containerPort: 8000 }] : [],
        env: Array.from({ length: 20 }, (_, variable) => ({
          name: `VARIABLE_${variable}`,
          value: 'x'.repeat(40),
        })),
        resources: {
          requests: { cpu: '4', memory: '32Gi' },
          limits: name === 'vllm' ? { 'nvidia.com/gpu': '1' } : {},
        },
      })),
    },
    status: {
      phase: 'Running',
      startTime: created,
      podIP: '10.0.0.1',
      conditions,
      containerStatuses: statuses,
    },
  };
}

function nodeOf(index: number): FakeObject {
  return {
    metadata: {
      name: nodeName(index),
      creationTimestamp: created,
      labels: {
        'node.kubernetes.io/instance-type': 'g6.48xlarge',
        'karpenter.sh/nodepool': 'gpu',
        'karpenter.sh/capacity-type': 'on-demand',
      },
    },
    spec: {},
    status: {
      allocatable: { cpu: '191', memory: '740Gi', 'nvidia.com/gpu': '8', pods: '737' },
      capacity: { cpu: '192', memory: '768Gi', 'nvidia.com/gpu': '8', pods: '737' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: created }],
    },
  };
}

/** As long as vLLM's: three histograms, and the counters that come with them. */
function vllmPage(scrapes: number): string {
  const labels = 'engine="0",model_name="Qwen/Qwen2.5-7B-Instruct"';
  const lines = [
    `vllm:num_requests_running{${labels}} 12`,
    `vllm:num_requests_waiting{${labels}} 3`,
    `vllm:kv_cache_usage_perc{${labels}} 0.71`,
    `vllm:request_success_total{${labels},finished_reason="stop"} ${scrapes * 10}`,
    `vllm:prompt_tokens_total{${labels}} ${scrapes * 5_000}`,
    `vllm:generation_tokens_total{${labels}} ${scrapes * 2_000}`,
  ];
  const families = [
    'time_to_first_token_seconds',
    'inter_token_latency_seconds',
    'e2e_request_latency_seconds',
    'request_queue_time_seconds',
    'request_prompt_tokens',
    'request_generation_tokens',
    'request_inference_time_seconds',
    'request_prefill_time_seconds',
    'request_decode_time_seconds',
    'iteration_tokens_total',
  ];
  for (const family of families) {
    lines.push(`# HELP vllm:${family} A histogram.`, `# TYPE vllm:${family} histogram`);
    for (let bucket = 1; bucket <= 22; bucket++)
      lines.push(`vllm:${family}_bucket{${labels},le="${bucket / 10}"} ${scrapes * bucket}`);
    lines.push(
      `vllm:${family}_bucket{${labels},le="+Inf"} ${scrapes * 22}`,
      `vllm:${family}_count{${labels}} ${scrapes * 22}`,
      `vllm:${family}_sum{${labels}} ${scrapes * 9}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function dcgmPage(node: number): string {
  const lines: string[] = [];
  for (let gpu = 0; gpu < 8; gpu++) {
    const pod = `vllm-7d9c6bd9f8-${node + gpu * nodeCount}`;
    const labels = `gpu="${gpu}",UUID="GPU-${node}-${gpu}",modelName="NVIDIA L4",Hostname="${nodeName(node)}",namespace="${namespace}",pod="${pod}",container="vllm"`;
    for (const name of [
      'DCGM_FI_DEV_GPU_UTIL',
      'DCGM_FI_DEV_FB_USED',
      'DCGM_FI_DEV_FB_FREE',
      'DCGM_FI_DEV_POWER_USAGE',
      'DCGM_FI_DEV_GPU_TEMP',
      'DCGM_FI_DEV_SM_CLOCK',
      'DCGM_FI_DEV_XID_ERRORS',
    ])
      lines.push(`${name}{${labels}} ${60 + gpu}`);
  }
  return `${lines.join('\n')}\n`;
}

async function main(): Promise<void> {
  const server = await startFakeApiServer();
  const pods = '/api/v1/pods';
  for (const list of [
    '/api/v1/events',
    '/apis/autoscaling/v2/horizontalpodautoscalers',
    '/apis/policy/v1/poddisruptionbudgets',
    '/apis/karpenter.sh/v1/nodepools',
    '/apis/karpenter.sh/v1/nodeclaims',
    '/apis/keda.sh/v1alpha1/scaledobjects',
    '/apis/metrics.k8s.io/v1beta1/pods',
  ]) {
    const placeholder = { metadata: { name: 'placeholder', namespace: 'elsewhere' } };
    server.put(list, placeholder);
    server.remove(list, placeholder);
  }
  server.put('/apis/apps/v1/deployments', {
    metadata: { name: 'vllm', namespace, uid: 'd', creationTimestamp: created },
    spec: { replicas: podCount, selector: { matchLabels: { app: 'vllm' } } },
    status: { replicas: podCount, readyReplicas: podCount },
  });
  server.put('/apis/apps/v1/replicasets', {
    metadata: {
      name: 'vllm-rs',
      namespace,
      uid: 'rs',
      creationTimestamp: created,
      ownerReferences: [{ kind: 'Deployment', name: 'vllm', uid: 'd', controller: true }],
    },
    spec: { replicas: podCount },
    status: { readyReplicas: podCount },
  });
  for (let index = 0; index < nodeCount; index++) server.put('/api/v1/nodes', nodeOf(index));
  for (let index = 0; index < podCount; index++) server.put(pods, podOf(index, 0));
  const exporters = Array.from({ length: nodeCount }, (_, index) => ({
    metadata: {
      name: `dcgm-${index}`,
      namespace: 'gpu-operator',
      uid: `dcgm-${index}`,
      labels: { app: 'nvidia-dcgm-exporter' },
    },
    spec: {
      nodeName: nodeName(index),
      containers: [{ name: 'dcgm', image: 'dcgm', ports: [{ containerPort: 9400 }] }],
    },
    status: { phase: 'Running' },
  }));
  let scrapes = 0;
  server.fault = ({ path, query }, response) => {
    const selector = query.get('labelSelector');
    if (selector !== null && path === pods) {
      const items = selector.startsWith('app in') ? exporters : [];
      response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items }));
      return true;
    }
    const match = /\/pods\/(dcgm-)?([^:/]+):\d+\/proxy/.exec(path);
    if (match === null) {
      if (!path.endsWith('/log')) return false;
      response.end('torch.OutOfMemoryError: CUDA out of memory\n');
      return true;
    }
    response.end(match[1] === undefined ? vllmPage(++scrapes) : dcgmPage(Number(match[2])));
    return true;
  };
  let turn = 0;
  process.on('message', (message: { readonly kind: 'change' | 'churn' | 'end'; readonly count?: number }) => {
    if (message.kind === 'end') {
      void server.close().then(() => process.exit(0));
      return;
    }
    for (let index = 0; index < (message.count ?? 1); index++) {
      turn++;
      server.put(pods, podOf(turn % podCount, message.kind === 'change' ? turn : 0));
    }
    process.send?.({ kind: 'done' });
  });
  process.send?.({ kind: 'ready', kubeconfig: server.kubeconfig() });
}

void main();
