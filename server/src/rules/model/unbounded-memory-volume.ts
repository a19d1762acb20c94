import { isAiWorkload } from '../../kube/ai-workload';
import { amountOf, runningContainers, type Container } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { isAbsent, type Resource } from '../../kube/resource';
import { insertKey } from '../../yaml/edit';
import { entryOf, mapIn } from '../../yaml/node';
import { memoryVolumes, mountsOf, type MemoryVolume } from '../sizing/memory-volumes';
import { podShare } from '../sizing/served-model';
import { defineRule, type Fix } from '../rule';

/** What the manifests of vLLM for Kubernetes give `/dev/shm`, and NCCL's need for each of several GPUs. */
const leastGiB = 2;

export default defineRule({
  id: 'unbounded-memory-volume',
  summary: 'A volume in memory needs a size limit',
  severity: 'info',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const template of podTemplates(resource).filter(isAiWorkload)) {
      for (const volume of memoryVolumes(template)) {
        const emptyDir = mapIn(volume.node, 'emptyDir');
        if (emptyDir === undefined || !isAbsent(resource, emptyDir, 'sizeLimit')) continue;
        const users = runningContainers(template).filter((container) =>
          mountsOf(container).some((mount) => mount.volume === volume.name && !mount.readOnly),
        );
        if (users.length === 0) continue;
        const unlimited = users.some(({ limits }) => amountOf(limits, 'memory') === undefined);
        const grows = unlimited
          ? 'it may grow to all memory of the node'
          : 'it may grow to the memory limit of the pod';
        report({
          at: entryOf(emptyDir, 'medium')?.value ?? emptyDir,
          message: `The memory-backed volume "${volume.name}" has no size limit: ${grows}, and what is in it counts as memory of the container that writes it`,
          fixes: [limit(resource, volume, users)],
        });
      }
    }
  },
});

/** Only the shared memory of a model server has a size that is known from elsewhere. */
function limit(resource: Resource, volume: MemoryVolume, users: readonly Container[]): Fix | undefined {
  const emptyDir = mapIn(volume.node, 'emptyDir');
  const isShared = users.every((container) =>
    mountsOf(container).some((mount) => mount.volume === volume.name && mount.path === '/dev/shm'),
  );
  const workers = users.map((container) => {
    const server = modelServerOf(container);
    return server === undefined ? undefined : podShare(server)?.workers;
  });
  if (emptyDir === undefined || !isShared || workers.includes(undefined)) return undefined;
  const size = `${Math.max(leastGiB, ...workers.map((count) => count ?? 0))}Gi`;
  const edits = insertKey(resource.placed.document, emptyDir, 'sizeLimit', size);
  return edits && { title: `Limit it to ${size}`, safe: false, edits };
}
