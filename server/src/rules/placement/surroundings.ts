import { containers } from '../../kube/containers';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { nodeDemandOf } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { admittedTypes, prepareFit, type AdmittedTypes, type FitContext } from '../../sizing/nodes/fit';
import { zoneLabel } from '../../sizing/nodes/labels';
import type { PodSpec } from '../../sizing/nodes/pod';
import type { NodePoolSpec, PoolSpec } from '../../sizing/nodes/pool';
import { readNodeClass } from '../../sizing/nodes/read-node-class';
import { readNodeGroups } from '../../sizing/nodes/read-node-groups';
import { readPod } from '../../sizing/nodes/read-pod';
import { readNodePool } from '../../sizing/nodes/read-pool';
import type { Workspace } from '../../workspace/workspace';
import { getIn, isScalar, itemsIn, mapIn, textIn, type MapNode, type YamlNode } from '../../yaml/node';

/** A NodePool or an eksctl node group of the workspace. */
export interface Pool {
  readonly spec: PoolSpec;
  readonly resource: Resource;
  /** Of a node group: its item in the list. */
  readonly group: MapNode | undefined;
  /** Of a NodePool: the object that it takes its machines' settings from, when that is in the workspace. */
  readonly nodeClass: Resource | undefined;
}

/** `NodePool "gpu"`, `node group "gpu"`. */
export function poolTitle({ spec }: Pool): string {
  return `${spec.kind === 'node-pool' ? 'NodePool' : 'node group'} "${spec.name}"`;
}

/** The pools that belong together with an object, with what the fit wants to know about them and their nodes. */
export interface Surroundings {
  readonly pools: readonly Pool[];
  readonly fit: FitContext;
  /** The same without the limits of the pools: what could run if nothing else did. */
  readonly unlimited: FitContext;
  /** The pool of a spec, with or without limits. */
  poolOf(spec: PoolSpec): Pool | undefined;
  /** The types that a pool may launch, limits aside. */
  typesOf(pool: Pool): AdmittedTypes;
}

const pools = new WeakMap<Resource, { readonly nodeClass: Resource | undefined; readonly pool: Pool }>();

/** A NodePool with its node class, as the workspace has them. */
export function poolOf(workspace: Workspace, resource: Resource): Pool {
  const reference = workspace.references(resource).nodeClass;
  const nodeClass = reference?.state === 'found' ? reference.resource : undefined;
  const known = pools.get(resource);
  if (known !== undefined && known.nodeClass === nodeClass) return known.pool;
  const spec: NodePoolSpec =
    nodeClass === undefined
      ? readNodePool(resource)
      : { ...readNodePool(resource), nodeClass: readNodeClass(nodeClass) };
  const pool: Pool = { spec, resource, group: undefined, nodeClass };
  pools.set(resource, { nodeClass, pool });
  return pool;
}

const groups = new WeakMap<Resource, readonly Pool[]>();

function groupsOf(cluster: Resource): readonly Pool[] {
  let known = groups.get(cluster);
  if (known === undefined) {
    known = readNodeGroups(cluster).map(({ spec, node }) => ({
      spec,
      resource: cluster,
      group: node,
      nodeClass: undefined,
    }));
    groups.set(cluster, known);
  }
  return known;
}

interface Prepared {
  readonly pools: readonly Pool[];
  readonly daemons: readonly PodSpec[];
  readonly added: string;
  readonly surroundings: Surroundings;
}

/** By the first pool, so that what was prepared outlives a workspace in which nothing about pools changed. */
const prepared = new WeakMap<Pool, Prepared[]>();

function same<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

const none: Surroundings = {
  pools: [],
  get fit() {
    return prepareFit([]);
  },
  get unlimited() {
    return prepareFit([]);
  },
  poolOf: () => undefined,
  typesOf: () => ({ types: [], complete: false }),
};

function prepare(
  list: readonly Pool[],
  daemons: readonly PodSpec[],
  overlay: readonly string[],
): Surroundings {
  const [first] = list;
  if (first === undefined) return none;
  const added = overlay.join(' ');
  const before = prepared.get(first) ?? [];
  const known = before.find(
    (one) => one.added === added && same(one.pools, list) && same(one.daemons, daemons),
  );
  if (known !== undefined) return known.surroundings;
  const options = { daemonSets: daemons, overlayResources: overlay };
  const withoutLimits = list.map((pool): readonly [PoolSpec, Pool] => {
    if (pool.spec.kind === 'node-group' || pool.spec.limits === undefined) return [pool.spec, pool];
    const { limits: _, ...spec } = pool.spec;
    return [spec, pool];
  });
  const bySpec = new Map([...list.map((pool) => [pool.spec, pool] as const), ...withoutLimits]);
  let fit: FitContext | undefined;
  let unlimited: FitContext | undefined;
  const surroundings: Surroundings = {
    pools: list,
    get fit() {
      return (fit ??= prepareFit(
        list.map(({ spec }) => spec),
        options,
      ));
    },
    get unlimited() {
      return (unlimited ??= prepareFit(
        withoutLimits.map(([spec]) => spec),
        options,
      ));
    },
    poolOf: (spec) => bySpec.get(spec),
    typesOf: (pool) => {
      const found = withoutLimits.find(([, other]) => other === pool);
      return found === undefined
        ? { types: [], complete: false }
        : admittedTypes(surroundings.unlimited, found[0]);
    },
  };
  // Each keystroke in a pool makes another first pool; in its DaemonSets, another entry here.
  prepared.set(first, [...before.slice(-7), { pools: list, daemons, added, surroundings }]);
  return surroundings;
}

const memo = new WeakMap<Workspace, Map<string, readonly Pool[]>>();

/** NodePools and node groups that belong together with an object. */
export function poolsNear(workspace: Workspace, from: Resource): readonly Pool[] {
  let byScope = memo.get(workspace);
  if (byScope === undefined) memo.set(workspace, (byScope = new Map<string, readonly Pool[]>()));
  let near = byScope.get(from.scope);
  if (near === undefined) {
    near = [
      ...workspace.near(from, 'NodePool', 'karpenter.sh').map((pool) => poolOf(workspace, pool)),
      ...workspace.near(from, 'ClusterConfig', 'eksctl.io').flatMap(groupsOf),
    ];
    byScope.set(from.scope, near);
  }
  return near;
}

/**
 * The pools that a pod could run in: those that belong together with it, and those elsewhere in the workspace that it
 * names.
 */
export function surroundingsOf(workspace: Workspace, template: PodTemplate): Surroundings {
  const { resource } = template;
  const near = poolsNear(workspace, resource);
  const named = nodeDemandOf(template).alternatives.some((requirements) => requirements.length > 0)
    ? workspace
        .references(resource)
        .nodePools(template)
        .map((match) => poolOf(workspace, match.resource))
    : [];
  const all = [...near, ...named.filter((pool) => !near.includes(pool))];
  const [first] = all;
  return first === undefined
    ? none
    : prepare(all, daemonsNear(workspace, first.resource), overlaysNear(workspace, first.resource));
}

/** The pool of an object alone, with the DaemonSets around it. */
export function surroundingsOfPool(workspace: Workspace, resource: Resource): Surroundings {
  return prepare(
    [poolOf(workspace, resource)],
    daemonsNear(workspace, resource),
    overlaysNear(workspace, resource),
  );
}

function daemonsNear(workspace: Workspace, from: Resource): readonly PodSpec[] {
  return workspace
    .near(from, 'DaemonSet', 'apps')
    .flatMap(podTemplates)
    .filter((template) => containers(template).length > 0)
    .map(readPod);
}

/** Resources that NodeOverlays, or a device plugin that shares GPUs, add to nodes. */
function overlaysNear(workspace: Workspace, from: Resource): readonly string[] {
  const added = new Set<string>();
  for (const overlay of workspace.near(from, 'NodeOverlay', 'karpenter.sh')) {
    for (const { key } of mapIn(overlay.root, 'spec', 'capacity')?.entries ?? []) added.add(key.text);
  }
  for (const map of workspace.near(from, 'ConfigMap', '')) {
    if (map.placed.document.text.includes('replicas') && sharing.test(map.placed.document.text)) {
      added.add('nvidia.com/gpu');
      added.add('nvidia.com/gpu.shared');
    }
  }
  return [...added];
}

/** The configuration of NVIDIA's device plugin for sharing GPUs. */
const sharing = /\b(timeSlicing|mps)\b/;

/** A pod with the zones of its volumes, as far as the workspace tells them. */
export function podOf(workspace: Workspace, template: PodTemplate): PodSpec {
  const volumeZones = zonesOf(workspace, template);
  const pod = readPod(template);
  return volumeZones.length === 0 ? pod : { ...pod, volumeZones };
}

function zonesOf(workspace: Workspace, template: PodTemplate): readonly (readonly string[])[] {
  const claims = workspace.references(template.resource).claims(template);
  return claims.flatMap(({ claim }) => {
    if (claim.state !== 'found') return [];
    const { root, scope } = claim.resource;
    const volume = textIn(root, 'spec', 'volumeName');
    if (volume !== undefined) {
      const found = workspace.lookup('PersistentVolume', undefined, volume, scope);
      return found.state === 'found' ? zonesOfVolume(found.resource) : [];
    }
    const name = textIn(root, 'spec', 'storageClassName');
    const found = name === undefined ? undefined : workspace.lookup('StorageClass', undefined, name, scope);
    return found?.state === 'found' ? zonesOfClass(found.resource) : [];
  });
}

const zoneKeys: readonly string[] = [
  zoneLabel,
  'topology.ebs.csi.aws.com/zone',
  'failure-domain.beta.kubernetes.io/zone',
];

function zonesOfVolume({ root }: Resource): readonly (readonly string[])[] {
  const terms = itemsIn(root, 'spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  // Alternatives by anything but one term are rare, and reading one of them alone would be wrong.
  return terms.length === 1 ? zonesIn(terms[0], 'matchExpressions') : [];
}

function zonesOfClass({ root }: Resource): readonly (readonly string[])[] {
  const terms = itemsIn(root, 'allowedTopologies');
  return terms.length === 1 ? zonesIn(terms[0], 'matchLabelExpressions') : [];
}

function zonesIn(node: YamlNode | undefined, list: string): readonly (readonly string[])[] {
  return itemsIn(node, list).flatMap((item) => {
    const values = itemsIn(item, 'values');
    if (!zoneKeys.includes(textIn(item, 'key') ?? '')) return [];
    if ((textIn(item, 'operator') ?? 'In') !== 'In') return [];
    const zones = values.flatMap((value) => (isScalar(value) && !value.unknown ? [value.text] : []));
    return zones.length === values.length && zones.length > 0 ? [zones] : [];
  });
}

/** Where the requirement of a pool on a key stands. */
export function requirementAt(
  pool: Pool,
  key: string,
  normalise: (key: string) => string,
): YamlNode | undefined {
  const list = itemsIn(getIn(pool.resource.root, 'spec', 'template', 'spec', 'requirements'));
  return list.find((item) => normalise(textIn(item, 'key') ?? '') === key);
}
