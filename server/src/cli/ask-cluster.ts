import { connectCluster, type Cluster } from '../sources/cluster';
import { SourceError, withRemedy } from '../sources/failure';
import { createRedactor } from '../sources/redact';
import { manyListeners } from '../sources/runtime';
import { printable } from './formats/text';
import type { Host } from './host';

/** Runs what asks sources. A failure of theirs is told; it is exit code 2, as is an interruption. */
export async function askSources(
  host: Host,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const signal = manyListeners(host.interrupted?.() ?? new AbortController().signal);
  try {
    return await work(signal);
  } catch (error) {
    if (signal.aborted) return 2;
    if (!(error instanceof SourceError)) throw error;
    host.stderr.write(`plimsoll: ${printable(withRemedy(error))}\n`);
    return 2;
  }
}

/** {@link askSources} with the cluster that a command names, which is let go of in the end. */
export function askCluster(
  { kubeconfig, context }: { readonly kubeconfig: string | undefined; readonly context: string | undefined },
  host: Host,
  work: (cluster: Cluster, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  return askSources(host, async (signal) => {
    const cluster = connectCluster({
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
      env: host.env,
      redactor: createRedactor(),
    });
    try {
      return await work(cluster, signal);
    } finally {
      await cluster.dispose();
    }
  });
}
