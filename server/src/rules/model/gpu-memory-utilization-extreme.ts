import { acceleratorCount, acceleratorsOf } from '../../kube/accelerators';
import { runningContainers } from '../../kube/containers';
import { modelServerOf, type ModelServer } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { valueOr } from '../../kube/settings';
import { engineOf } from '../../sizing/from-manifest';
import { defaultUtilization } from '../../sizing/memory/engines';
import { itemsIn, textIn } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Place } from '../rule';

/** People run 0.98 and even 0.99 without trouble, so that it is only worth a word. */
const most = 0.98;

/** Servers whose share is one of the whole GPU, reserved at the start. */
const reserves: ReadonlySet<ModelServer['engine']> = new Set([
  'vllm',
  'kserve',
  'ray-serve-llm',
  'dynamo',
  'lmi',
  'sglang',
]);

export default defineRule({
  id: 'gpu-memory-utilization-extreme',
  summary: 'A server must leave GPU memory to the driver and to its neighbours',
  severity: 'info',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      const servers = runningContainers(template).flatMap((container) => modelServerOf(container) ?? []);
      for (const server of servers) {
        const { gpuMemoryUtilization: share, container } = server;
        if (!reserves.has(server.engine) || share.state !== 'known' || share.value <= most) continue;
        const then =
          share.value > 1
            ? `${server.title} takes no more than 1 and stops`
            : 'CUDA context, NCCL and fragmentation have to do with the rest, and the first large request may run out of memory';
        report({
          at: share.at,
          message: `${containerTitle(container)} fills ${percent(share.value)} of the GPU memory; ${then}`,
          ...(share.value > 1 ? { severity: 'warning' as const } : {}),
          ...containerField(container),
        });
      }
      for (const group of sharing(template, servers)) {
        const total = group.reduce((sum, { share }) => sum + share, 0);
        if (total <= 1) continue;
        for (const { server, share, at } of group) {
          if (share <= 1 / group.length) continue;
          const others = group.filter((other) => other.server !== server);
          report({
            at,
            severity: 'warning',
            message: `${containerTitle(server.container)} takes ${percent(share)} of a GPU that it shares with ${others
              .map((other) => `"${other.server.container.name}" (${percent(other.share)})`)
              .join(' and ')}; together they want ${percent(total)}, and the last to start finds too little`,
            related: others.map((other) => ({
              resource,
              at: other.at,
              message: `"${other.server.container.name}" takes ${percent(other.share)}`,
            })),
            ...containerField(server.container),
          });
        }
      }
    }
  },
});

const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

interface Sharer {
  readonly server: ModelServer;
  readonly share: number;
  readonly at: Place;
}

function sharerOf(server: ModelServer): Sharer | undefined {
  const share = valueOr(server.gpuMemoryUtilization, defaultUtilization(engineOf(server), 1));
  if (share === undefined || !reserves.has(server.engine) || server.arguments.open) return undefined;
  const at =
    server.gpuMemoryUtilization.state === 'known'
      ? server.gpuMemoryUtilization.at
      : (server.container.nameNode ?? server.evidence);
  return { server, share, at };
}

/** Groups of servers of one pod that certainly run on the same GPU. */
function sharing(template: PodTemplate, servers: readonly ModelServer[]): readonly (readonly Sharer[])[] {
  const sharers = servers.flatMap((server) => sharerOf(server) ?? []);
  if (sharers.length < 2) return [];
  // One GPU for the pod: whoever does not ask for it sees it by other means.
  const onlyGpu = acceleratorCount(template, 'nvidia.com/gpu') === 1;
  const asks = servers.flatMap(({ container }) => acceleratorsOf(container));
  if (onlyGpu && asks.every(({ resource }) => resource === 'nvidia.com/gpu')) return [sharers];
  if (sharers.every(({ server }) => isShared(server))) return [sharers];
  const byClaim = new Map<string, Sharer[]>();
  for (const sharer of sharers) {
    for (const claim of itemsIn(sharer.server.container.resources, 'claims')) {
      const name = textIn(claim, 'name');
      if (name === undefined) continue;
      const key = `${name} ${textIn(claim, 'request') ?? ''}`;
      byClaim.set(key, [...(byClaim.get(key) ?? []), sharer]);
    }
  }
  return [...byClaim.values()].filter((group) => group.length > 1);
}

/** A slice in time of a GPU, whose memory is not divided. */
function isShared({ container }: ModelServer): boolean {
  const asks = acceleratorsOf(container);
  return asks.length === 1 && asks[0]?.resource === 'nvidia.com/gpu.shared' && asks[0].count === 1;
}
