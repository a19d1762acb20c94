import { autoscalerOf } from '../../kube/autoscalers';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, getIn, isScalar, itemsIn, mapIn, textIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule, type Related } from '../rule';
import { relatedTo } from './least-replicas';
import { rollingUpdate } from './rolling-update';

export default defineRule({
  id: 'volume-not-shareable',
  summary: 'A volume that one node can mount is not mounted by several pods',
  severity: 'error',
  needs: 'workspace',
  // The pods of a StatefulSet have claims of their own, unless they name one.
  kinds: ['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'Rollout', 'LeaderWorkerSet'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role === 'kustomize-patch') return;
    for (const template of podTemplates(resource)) {
      for (const { volume, claim } of workspace.references(resource).claims(template)) {
        if (claim.state !== 'found') continue;
        const mode = exclusiveMode(workspace, claim.resource);
        if (mode === undefined || isTied(template, mode)) continue;
        const several = severalPods(workspace, resource, template);
        if (several === undefined) continue;
        const name = getIn(volume, 'persistentVolumeClaim', 'claimName');
        const at = isScalar(name) ? name : volume;
        if (mayBePatched(workspace, claim.resource, 'accessModes')) continue;
        const where = mode === 'ReadWriteOncePod' ? 'in one pod' : 'on one node';
        report({
          at,
          severity: several.severity,
          message: `PersistentVolumeClaim "${claim.resource.name ?? ''}" is ${mode} and can be mounted ${where} only, but ${several.what}: ${several.then}`,
          related: [
            {
              resource: claim.resource,
              at: itemsIn(claim.resource.root, 'spec', 'accessModes')[0] ?? claim.resource.root,
              message: `The claim is ${mode}`,
            },
            ...several.related,
          ],
        });
      }
    }
  },
});

/** Storage that every node can mount, whatever the access mode says: only attached disks are kept to one. */
const shared = /efs|fsx|lustre|nfs|s3|ceph-?fs|juicefs|azurefile|filestore|mountpoint|hostpath|local-path/i;

/** The access mode of a claim for an attached disk that allows one node or pod only. */
function exclusiveMode(workspace: Workspace, claim: Resource): string | undefined {
  const spec = mapIn(claim.root, 'spec');
  const modes = entryOf(spec, 'accessModes')?.value;
  if (modes?.kind !== 'sequence' || modes.open || modes.items.length === 0) return undefined;
  const texts = modes.items.map((item) => (isScalar(item) && !item.unknown ? item.text : ''));
  if (!texts.every((text) => text === 'ReadWriteOnce' || text === 'ReadWriteOncePod')) return undefined;
  const className = textIn(spec, 'storageClassName');
  if (className !== undefined && shared.test(className)) return undefined;
  const storageClass =
    className === undefined
      ? undefined
      : workspace.lookup('StorageClass', undefined, className, claim.scope, claim.uri);
  if (storageClass?.state === 'found' && shared.test(textIn(storageClass.resource.root, 'provisioner') ?? ''))
    return undefined;
  const volumeName = textIn(spec, 'volumeName');
  const volume =
    volumeName === undefined
      ? undefined
      : workspace.lookup('PersistentVolume', undefined, volumeName, claim.scope, claim.uri);
  if (volume?.state === 'found') {
    const source = mapIn(volume.resource.root, 'spec');
    if (shared.test(textIn(source, 'csi', 'driver') ?? '')) return undefined;
    if (['nfs', 'hostPath', 'local'].some((key) => entryOf(source, key) !== undefined)) return undefined;
  }
  return texts[0];
}

/** All pods are on one node, by their own rules. */
function isTied({ spec }: PodTemplate, mode: string): boolean {
  if (mode === 'ReadWriteOncePod') return false;
  if (
    entryOf(spec, 'nodeName') !== undefined ||
    getIn(spec, 'nodeSelector', 'kubernetes.io/hostname') !== undefined
  )
    return true;
  return itemsIn(spec, 'affinity', 'podAffinity', 'requiredDuringSchedulingIgnoredDuringExecution').some(
    (term) => textIn(term, 'topologyKey') === 'kubernetes.io/hostname',
  );
}

interface Several {
  readonly severity: 'error' | 'warning';
  readonly what: string;
  readonly then: string;
  readonly related: readonly Related[];
}

/** Whether more than one pod wants the volume at a time: for good, or during an update. */
function severalPods(workspace: Workspace, resource: Resource, template: PodTemplate): Several | undefined {
  const then = 'a pod on another node waits for the volume for ever';
  for (const { resource: autoscaler, match } of workspace.references(resource).autoscalers) {
    const most = autoscalerOf(autoscaler)?.maxReplicas;
    if (match !== 'yes' || most?.known !== true || most.value <= 1) continue;
    if (mayBePatched(workspace, autoscaler, 'eplica')) return undefined;
    const at = most.node ?? entryOf(autoscaler.root, 'spec') ?? autoscaler.root;
    return {
      severity: 'error',
      what: `${titleOf(autoscaler)} scales ${titleOf(resource)} up to ${most.value} pods`,
      then,
      related: [{ resource: autoscaler, at, message: `Up to ${most.value} replicas` }],
    };
  }
  const { pods, replicas } = template;
  if (!pods.known || !replicas.known || replicas.value === 0) return undefined;
  if (mayBePatched(workspace, resource, 'eplicas')) return undefined;
  if (pods.value > 1) {
    return {
      severity: 'error',
      what: `${pods.value} pods of ${titleOf(resource)} mount it`,
      then,
      related: [relatedTo(template, { value: pods.value, autoscaler: undefined })],
    };
  }
  const spec = mapIn(resource.root, 'spec');
  if (resource.kind !== 'Deployment' || spec === undefined) return undefined;
  const update = rollingUpdate(resource, spec, pods.value);
  // With a pod that may be missing, the old one goes first.
  if (update === undefined || update.surge === 0 || update.unavailable > 0) return undefined;
  if (mayBePatched(workspace, resource, 'strategy')) return undefined;
  return {
    severity: 'warning',
    what: `a rolling update of ${titleOf(resource)} starts the new pod before the old one ends`,
    then: 'on another node it waits for the volume, and the update never ends',
    related: update.at === undefined ? [] : [{ resource, at: update.at, message: 'How the update proceeds' }],
  };
}
