import { containers, type Container } from '../../kube/containers';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { formatBytes, toNumber } from '../../kube/quantity';
import { defineRule } from '../rule';
import { amountText, containerField, containerTitle, soleAmount } from '../resources/wording';
import { memoryVolumes, mountsOf, type MemoryVolume } from './memory-volumes';

export default defineRule({
  id: 'shared-memory-above-limit',
  summary: 'Memory-backed volumes count toward the memory limit',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      for (const [container, volumes] of writersOf(template)) {
        const limit = soleAmount(container.limits, 'memory');
        const bytes = limit?.quantity === undefined ? undefined : toNumber(limit.quantity);
        if (limit === undefined || bytes === undefined || bytes <= 0) continue;
        const sum = volumes.reduce((total, volume) => total + (volume.bytes ?? 0), 0);
        if (sum <= bytes) continue;
        const [largest] = [...volumes].sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0));
        if (largest?.sizeLimit === undefined) continue;
        const names = volumes.map(({ name }) => `"${name}"`).join(' and ');
        report({
          at: largest.sizeLimit,
          message: `${containerTitle(container)} may fill ${formatBytes(sum)} of memory-backed volumes (${names}) under a memory limit of ${amountText(limit)}; their files are charged to it, and it is OOMKilled before they are full`,
          related: [
            { resource, at: limit.entry.value, message: `The memory limit is ${amountText(limit)}` },
            ...volumes.flatMap((volume) =>
              volume === largest || volume.sizeLimit === undefined
                ? []
                : [{ resource, at: volume.sizeLimit, message: `"${volume.name}" counts too` }],
            ),
          ],
          evidence: volumes.map(({ name, bytes: size }) => `Volume "${name}": ${formatBytes(size ?? 0)}`),
          ...containerField(container),
        });
      }
    }
  },
});

/**
 * The memory-backed volumes of a pod by the container that can write them. Of several, it is the one with the most room:
 * a small container beside it may well only read.
 */
function writersOf(template: PodTemplate): ReadonlyMap<Container, readonly MemoryVolume[]> {
  const writers = new Map<Container, MemoryVolume[]>();
  for (const volume of memoryVolumes(template)) {
    if (volume.bytes === undefined) continue;
    const mounting = containers(template).filter((container) =>
      mountsOf(container).some(({ volume: name, readOnly }) => name === volume.name && !readOnly),
    );
    const [writer] = [...mounting].sort((a, b) => roomOf(b) - roomOf(a));
    if (writer === undefined) continue;
    writers.set(writer, [...(writers.get(writer) ?? []), volume]);
  }
  return writers;
}

/** The memory limit in bytes; without bounds where there is none, or it is only known later. */
function roomOf(container: Container): number {
  const limits = container.limits.filter(({ name }) => name === 'memory');
  const [limit] = limits;
  return limits.length === 1 && limit?.quantity !== undefined
    ? toNumber(limit.quantity)
    : Number.POSITIVE_INFINITY;
}
