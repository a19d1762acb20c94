import type { Container } from '../../kube/containers';
import type { PodTemplate } from '../../kube/pod-carriers';
import { quantityOf, toNumber } from '../../kube/quantity';
import { isMap, itemsIn, scalarIn, textIn, type MapNode, type ScalarNode } from '../../yaml/node';

/** An `emptyDir` in memory: a tmpfs whose files are charged to the containers that write them. */
export interface MemoryVolume {
  readonly name: string;
  readonly node: MapNode;
  readonly sizeLimit: ScalarNode | undefined;
  /** The size limit; `undefined` without one, and when it is only known later. */
  readonly bytes: number | undefined;
}

/** The memory-backed volumes of a pod. */
export function memoryVolumes(template: PodTemplate): readonly MemoryVolume[] {
  return itemsIn(template.spec, 'volumes').flatMap((node) => {
    const name = textIn(node, 'name');
    if (!isMap(node) || name === undefined || textIn(node, 'emptyDir', 'medium') !== 'Memory') return [];
    const sizeLimit = scalarIn(node, 'emptyDir', 'sizeLimit');
    const quantity = quantityOf(sizeLimit);
    return [{ name, node, sizeLimit, bytes: quantity === undefined ? undefined : toNumber(quantity) }];
  });
}

/** One item of `volumeMounts`, as far as it is known. */
export interface Mount {
  readonly volume: string | undefined;
  /** Without a slash at the end. */
  readonly path: string | undefined;
  readonly readOnly: boolean;
}

export function mountsOf(container: Container): readonly Mount[] {
  return itemsIn(container.node, 'volumeMounts').map((node) => ({
    volume: textIn(node, 'name'),
    path: textIn(node, 'mountPath')?.replace(/(?<=.)\/+$/, ''),
    readOnly: scalarIn(node, 'readOnly')?.value === true,
  }));
}

/** Whether a path is a folder or lies below it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** Size limits of the memory-backed volumes that a container can write, in bytes. */
export function mountedMemory(container: Container): number {
  const names = new Set(
    mountsOf(container).flatMap(({ volume, readOnly }) => (readOnly ? [] : (volume ?? []))),
  );
  return memoryVolumes(container.template)
    .filter(({ name }) => names.has(name))
    .reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}
