import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register, unregister, type AggregatedApi } from './aggregated';
import type { JsonObject, KubeObject } from './api';
import type { Lab } from './use';

/** A resource quantity as the API writes it: `250m`, `4Gi`, `12`. */
type Quantity = string;

/** The numbers that the HPA controller is told; each is looked up when the controller asks. */
export interface Numbers {
  /** `metrics.k8s.io`: what each container of a pod uses, by container name; `undefined`: no metrics of that pod yet. */
  readonly usage?: (
    pod: KubeObject,
  ) => Readonly<Record<string, { readonly cpu: Quantity; readonly memory: Quantity }>> | undefined;
  /** `custom.metrics.k8s.io`, metrics of type Pods: the value of a metric for a pod. */
  readonly ofPod?: (metric: string, pod: KubeObject) => Quantity | undefined;
  /** `custom.metrics.k8s.io`, metrics of type Object: the value of a metric for `services/chat` and the like. */
  readonly ofObject?: (metric: string, resource: string, name: string) => Quantity | undefined;
  /** `external.metrics.k8s.io`, in place of KEDA while the feed runs. */
  readonly external?: (metric: string, selector: string) => Quantity | undefined;
}

export interface Feed {
  /** Ends it; external metrics are KEDA's again. */
  close(): Promise<void>;
}

const resourceMetrics = { group: 'metrics.k8s.io', version: 'v1beta1' } as const;
const customMetrics = { group: 'custom.metrics.k8s.io', version: 'v1beta2' } as const;
const externalMetrics = { group: 'external.metrics.k8s.io', version: 'v1beta1' } as const;

/**
 * Serves chosen numbers as the metrics APIs of the cluster, over the aggregation layer as metrics-server and the
 * Prometheus adapter do. Only the groups whose numbers are given are registered.
 */
export async function feedMetrics(lab: Lab, numbers: Numbers): Promise<Feed> {
  const tls = selfSigned();
  const server = createServer(tls, (request, response) => {
    answer(lab, numbers, new URL(request.url ?? '/', 'https://localhost')).then(
      (body) => {
        response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body ?? notFound));
      },
      (error: unknown) => {
        response.writeHead(500).end(String(error));
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const groups: AggregatedApi[] = [];
  if (numbers.usage !== undefined) groups.push({ ...resourceMetrics, port });
  if (numbers.ofPod !== undefined || numbers.ofObject !== undefined) groups.push({ ...customMetrics, port });
  if (numbers.external !== undefined) groups.push({ ...externalMetrics, port });
  for (const group of groups) await register(lab.admin, group);
  return {
    close: async () => {
      for (const group of groups) {
        if (group.group === externalMetrics.group)
          await register(lab.admin, { ...externalMetrics, port: lab.state.kedaAdapterPort });
        else await unregister(lab.admin, group);
      }
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function selfSigned(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-feed-'));
  try {
    const [key, certificate] = [join(folder, 'key'), join(folder, 'certificate')];
    const result = spawnSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', certificate],
      ],
      { encoding: 'utf8' },
    );
    if (result.status !== 0) throw new Error(`openssl: ${result.stderr}`);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(certificate, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const notFound: JsonObject = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code: 404,
  reason: 'NotFound',
};

async function answer(lab: Lab, numbers: Numbers, url: URL): Promise<JsonObject | undefined> {
  const [, apis, group = '', version = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
  if (apis !== 'apis') return undefined;
  const apiVersion = `${group}/${version}`;
  if (rest.filter(Boolean).length === 0)
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: apiVersion,
      resources: resourcesOf(group),
    };
  const [namespaces, namespace = '', ...path] = rest;
  if (namespaces !== 'namespaces') return undefined;
  const selector = url.searchParams.get('labelSelector') ?? '';
  if (group === resourceMetrics.group) return usage(lab, numbers, apiVersion, namespace, selector);
  if (group === customMetrics.group) return custom(lab, numbers, apiVersion, namespace, path, selector);
  return external(numbers, apiVersion, path[0] ?? '', selector);
}

function resourcesOf(group: string): readonly JsonObject[] {
  const names = group === resourceMetrics.group ? ['pods'] : ['*'];
  return names.map((name) => ({
    name,
    singularName: '',
    namespaced: true,
    kind: 'MetricValueList',
    verbs: ['get'],
  }));
}

function podsOf(lab: Lab, namespace: string, selector: string): Promise<readonly KubeObject[]> {
  return lab.admin.list(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`);
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

async function usage(
  lab: Lab,
  numbers: Numbers,
  apiVersion: string,
  namespace: string,
  selector: string,
): Promise<JsonObject> {
  const pods = await podsOf(lab, namespace, selector);
  const items = pods.flatMap((pod): readonly JsonObject[] => {
    const containers = numbers.usage?.(pod);
    if (containers === undefined) return [];
    const { name, labels = {} } = pod.metadata;
    return [
      {
        metadata: { name, namespace, labels },
        timestamp: now(),
        // The controller waits for a whole window since the pod became ready.
        window: '1s',
        containers: Object.entries(containers).map(([container, used]) => ({
          name: container,
          usage: { ...used },
        })),
      },
    ];
  });
  return { kind: 'PodMetricsList', apiVersion, metadata: {}, items };
}

async function custom(
  lab: Lab,
  numbers: Numbers,
  apiVersion: string,
  namespace: string,
  [resource = '', name = '', metric = '']: readonly string[],
  selector: string,
): Promise<JsonObject | undefined> {
  const item = (kind: string, object: string, value: Quantity): JsonObject => ({
    describedObject: { kind, namespace, name: object, apiVersion: 'v1' },
    metric: { name: metric, selector: null },
    timestamp: now(),
    value,
  });
  if (name !== '*') {
    const value = numbers.ofObject?.(metric, resource, name);
    if (value === undefined) return undefined;
    return { kind: 'MetricValueList', apiVersion, metadata: {}, items: [item(resource, name, value)] };
  }
  const pods = await podsOf(lab, namespace, selector);
  const items = pods.flatMap((pod) => {
    const value = numbers.ofPod?.(metric, pod);
    return value === undefined ? [] : [item('Pod', pod.metadata.name, value)];
  });
  return items.length === 0 ? undefined : { kind: 'MetricValueList', apiVersion, metadata: {}, items };
}

function external(
  numbers: Numbers,
  apiVersion: string,
  metricName: string,
  selector: string,
): JsonObject | undefined {
  const value = numbers.external?.(metricName, selector);
  if (value === undefined) return undefined;
  const item: JsonObject = { metricName, metricLabels: {}, timestamp: now(), value };
  return { kind: 'ExternalMetricValueList', apiVersion, metadata: {}, items: [item] };
}
