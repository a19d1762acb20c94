import { renameSync, writeFileSync } from 'node:fs';
import { at, type Api, type KubeObject } from './api';

/** How soon Prometheus hears of a pod; it looks into the file as often. */
const intervalMs = 1000;

/** An element of a `file_sd` file. */
interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Where a running pod that asks for it by the usual annotations is scraped. */
export function targetOf(pod: KubeObject): TargetGroup | undefined {
  const annotations = pod.metadata.annotations ?? {};
  const address = at(pod, 'status', 'podIP');
  if (annotations['prometheus.io/scrape'] !== 'true' || typeof address !== 'string') return undefined;
  if (at(pod, 'status', 'phase') !== 'Running') return undefined;
  const port = annotations['prometheus.io/port'] ?? '8000';
  return {
    targets: [`${address}:${port}`],
    labels: {
      namespace: pod.metadata.namespace ?? '',
      pod: pod.metadata.name,
      node: String(at(pod, 'spec', 'nodeName') ?? ''),
      __metrics_path__: annotations['prometheus.io/path'] ?? '/metrics',
    },
  };
}

/** Keeps a `file_sd` file as the pods are, until its timer is cleared. */
export function startDiscovery(api: Api, file: string): NodeJS.Timeout {
  let written = '';
  const look = async (): Promise<void> => {
    const pods = await api.list('/api/v1/pods?resourceVersion=0');
    const text = JSON.stringify(pods.map(targetOf).filter((target) => target !== undefined));
    if (text === written) return;
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    written = text;
  };
  // A look that fails is made good by the next one.
  return setInterval(() => void look().catch(() => undefined), intervalMs);
}
