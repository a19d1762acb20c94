import type { Container } from '../../kube/containers';
import { isAbsent } from '../../kube/resource';
import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  isSequence,
  itemsIn,
  mapIn,
  scalarIn,
  textIn,
  type MapNode,
  type ScalarNode,
} from '../../yaml/node';
import { isBelow } from '../sizing/memory-volumes';

/**
 * What a volume keeps of what is written to it: nothing beyond the pod (`pod`, on disk or in memory), everything (`kept`),
 * or something that came with it and is not for writing (`given`: config maps, image volumes).
 */
export type Lifetime = 'pod' | 'kept' | 'given' | 'unknown';

/** A folder of a container with what is mounted on it. */
export interface Mounted {
  /** Without a slash at the end. */
  readonly path: string;
  readonly pathNode: ScalarNode;
  readonly name: string;
  readonly readOnly: boolean;
  readonly lifetime: Lifetime;
  /** The item of `volumes`; `undefined` for claim templates of a StatefulSet. */
  readonly volume: MapNode | undefined;
}

/** What is mounted into a container. */
export interface Mounts {
  readonly all: readonly Mounted[];
  /** More may be mounted than is written. */
  readonly open: boolean;
}

const kept: ReadonlySet<string> = new Set([
  'persistentVolumeClaim',
  'hostPath',
  'nfs',
  'csi',
  'awsElasticBlockStore',
  'cephfs',
  'flexVolume',
  'local',
]);

const given: ReadonlySet<string> = new Set(['configMap', 'secret', 'projected', 'downwardAPI', 'image']);

function lifetimeOf(volume: MapNode): Lifetime {
  const sources = volume.entries.filter(({ key, value }) => key.text !== 'name' && !isNull(value));
  const [source] = sources;
  if (source === undefined)
    return isMap(entryOf(volume, 'emptyDir')?.value) ? 'pod' : volume.open ? 'unknown' : 'pod';
  const name = source.key.text;
  if (name === 'emptyDir' || name === 'ephemeral') return 'pod';
  return kept.has(name) ? 'kept' : given.has(name) ? 'given' : 'unknown';
}

function isOpen(holder: MapNode, key: string, container: Container): boolean {
  const value = entryOf(holder, key)?.value;
  if (isSequence(value)) return value.open || container.template.resource.role === 'kustomize-patch';
  return !isAbsent(container.template.resource, holder, key);
}

const memo = new WeakMap<Container, Mounts>();

/** The mounts of a container with the volumes behind them. */
export function mountsIn(container: Container): Mounts {
  const known = memo.get(container);
  if (known !== undefined) return known;
  const { template, node } = container;
  const volumes = new Map<string, MapNode>();
  for (const volume of itemsIn(template.spec, 'volumes')) {
    const name = textIn(volume, 'name');
    if (isMap(volume) && name !== undefined) volumes.set(name, volume);
  }
  const claims = new Set(
    itemsIn(mapIn(template.resource.root, 'spec'), 'volumeClaimTemplates').flatMap(
      (claim) => textIn(claim, 'metadata', 'name') ?? [],
    ),
  );
  const all = itemsIn(node, 'volumeMounts').flatMap((mount): Mounted[] => {
    const name = textIn(mount, 'name');
    const pathNode = scalarIn(mount, 'mountPath');
    if (name === undefined || pathNode === undefined || pathNode.unknown || pathNode.value === null)
      return [];
    const volume = volumes.get(name);
    const lifetime: Lifetime = claims.has(name)
      ? 'kept'
      : volume === undefined
        ? 'unknown'
        : lifetimeOf(volume);
    return [
      {
        path: pathNode.text.replace(/(?<=.)\/+$/, ''),
        pathNode,
        name,
        readOnly: scalarIn(mount, 'readOnly')?.value === true,
        lifetime,
        volume,
      },
    ];
  });
  const listed = itemsIn(node, 'volumeMounts');
  const result: Mounts = {
    all,
    open:
      isOpen(node, 'volumeMounts', container) ||
      listed.some((item) => !isMap(item)) ||
      all.length < listed.length,
  };
  memo.set(container, result);
  return result;
}

/** The mount that a path lies in: the deepest one. */
export function mountAt({ all }: Mounts, path: string): Mounted | undefined {
  return all
    .filter((mount) => isBelow(path, mount.path))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** The `sizeLimit` of an emptyDir. */
export function sizeLimitOf(volume: MapNode | undefined): ScalarNode | undefined {
  const limit = scalarIn(volume, 'emptyDir', 'sizeLimit');
  return isScalar(limit) && limit.value !== null ? limit : undefined;
}
