import { createServer, type IncomingMessage } from 'node:http';

/** What an engine says of itself at one moment; the names are those of vLLM's metrics. */
export interface EngineNumbers {
  readonly model: string;
  readonly running: number;
  readonly waiting: number;
  /** A share from 0 to 1, whatever the metric's name says. */
  readonly kvCacheUsage: number;
  /** Requests finished so far. */
  readonly finished: number;
  /** Seconds to the first token of each of the finished requests. */
  readonly timesToFirstToken: readonly number[];
}

/** What the DCGM exporter says of one GPU; memory in MiB, as DCGM has it. */
export interface GpuNumbers {
  readonly gpu: number;
  readonly uuid: string;
  readonly model: string;
  /** Percent. */
  readonly utilization: number;
  readonly memoryUsedMiB: number;
  readonly memoryFreeMiB: number;
  readonly powerWatts: number;
  readonly temperatureCelsius: number;
  /** The last XID error; 0 when there was none. */
  readonly xid: number;
  readonly pod: { readonly namespace: string; readonly name: string; readonly container: string };
}

/** Upper bounds of the buckets of vLLM's histogram of times to the first token, in seconds. */
const firstTokenBuckets: readonly number[] = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
];

interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly samples: readonly string[];
}

function exposition(families: readonly Family[]): string {
  return families
    .map(({ name, type, help, samples }) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples])
    .flat()
    .map((line) => `${line}\n`)
    .join('');
}

function labels(pairs: Readonly<Record<string, string>>): string {
  return `{${Object.entries(pairs)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}}`;
}

/** The text of `/metrics` of vLLM, as far as autoscalers and dashboards look at it. */
export function engineExposition(numbers: EngineNumbers): string {
  const common = { engine: '0', model_name: numbers.model };
  const one = (
    name: string,
    type: 'gauge' | 'counter',
    help: string,
    value: number,
    more: Readonly<Record<string, string>> = {},
  ): Family => ({
    name,
    type,
    help,
    samples: [`${name}${labels({ ...common, ...more })} ${value}`],
  });
  const times = numbers.timesToFirstToken;
  const first = 'vllm:time_to_first_token_seconds';
  const upTo = (bound: number): number => times.filter((time) => time <= bound).length;
  return exposition([
    one('vllm:num_requests_running', 'gauge', 'Requests in execution.', numbers.running),
    one('vllm:num_requests_waiting', 'gauge', 'Requests that wait.', numbers.waiting),
    one('vllm:kv_cache_usage_perc', 'gauge', 'KV cache in use; 1 is all of it.', numbers.kvCacheUsage),
    one('vllm:request_success_total', 'counter', 'Requests that were finished.', numbers.finished, {
      finished_reason: 'stop',
    }),
    {
      name: first,
      type: 'histogram',
      help: 'Time to the first token in seconds.',
      samples: [
        ...firstTokenBuckets.map(
          (bound) => `${first}_bucket${labels({ ...common, le: String(bound) })} ${upTo(bound)}`,
        ),
        `${first}_bucket${labels({ ...common, le: '+Inf' })} ${times.length}`,
        `${first}_count${labels(common)} ${times.length}`,
        `${first}_sum${labels(common)} ${times.reduce((sum, time) => sum + time, 0)}`,
      ],
    },
  ]);
}

/** The text of `/metrics` of the DCGM exporter with pod names, for the GPUs of one node. */
export function gpuExposition(node: string, gpus: readonly GpuNumbers[]): string {
  const family = (name: string, help: string, value: (gpu: GpuNumbers) => number): Family => ({
    name,
    type: 'gauge',
    help,
    samples: gpus.map((each) => {
      const { gpu, uuid, model, pod } = each;
      const pairs = {
        gpu: String(gpu),
        UUID: uuid,
        device: `nvidia${gpu}`,
        modelName: model,
        Hostname: node,
        container: pod.container,
        namespace: pod.namespace,
        pod: pod.name,
      };
      return `${name}${labels(pairs)} ${value(each)}`;
    }),
  });
  return exposition([
    family('DCGM_FI_DEV_GPU_UTIL', 'GPU utilization (in %).', (gpu) => gpu.utilization),
    family('DCGM_FI_DEV_FB_USED', 'Framebuffer memory used (in MiB).', (gpu) => gpu.memoryUsedMiB),
    family('DCGM_FI_DEV_FB_FREE', 'Framebuffer memory free (in MiB).', (gpu) => gpu.memoryFreeMiB),
    family('DCGM_FI_DEV_POWER_USAGE', 'Power draw (in W).', (gpu) => gpu.powerWatts),
    family('DCGM_FI_DEV_GPU_TEMP', 'GPU temperature (in C).', (gpu) => gpu.temperatureCelsius),
    family('DCGM_FI_DEV_XID_ERRORS', 'Value of the last XID error.', (gpu) => gpu.xid),
  ]);
}

export interface Exporter {
  readonly port: number;
  /** Addresses that have been asked so far. */
  readonly asked: ReadonlySet<string>;
  close(): Promise<void>;
}

/**
 * Answers `/metrics` for every pod at once: in the lab's network all pod addresses are this machine, and a connection
 * knows which of them it was made to. `metricsOf` gets that address and answers the text; `undefined` is a 404.
 */
export async function startExporter(
  port: number,
  metricsOf: (podAddress: string) => string | undefined,
): Promise<Exporter> {
  const asked = new Set<string>();
  const server = createServer((request: IncomingMessage, response) => {
    const address = request.socket.localAddress?.replace(/^::ffff:/, '') ?? '';
    asked.add(address);
    const text = request.url?.startsWith('/metrics') === true ? metricsOf(address) : undefined;
    response.writeHead(text === undefined ? 404 : 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
    response.end(text ?? 'not found\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '0.0.0.0', resolve);
  });
  const address = server.address();
  return {
    port: address !== null && typeof address === 'object' ? address.port : port,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
