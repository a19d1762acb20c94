import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { removeEntry, renameKey, replaceScalar, type Edits } from '../../yaml/edit';
import { isScalar, mapIn, type Entry, type MapNode } from '../../yaml/node';
import { defineRule } from '../rule';
import { poolsNear } from './surroundings';

const prefix = 'cluster-autoscaler.kubernetes.io/';
const doNotDisrupt = 'karpenter.sh/do-not-disrupt';

export default defineRule({
  id: 'cluster-autoscaler-leftover',
  summary: 'Where Karpenter makes the nodes, annotations of the Cluster Autoscaler do nothing',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const own = mapIn(resource.root, 'metadata');
    const maps = new Map<MapNode, PodTemplate | undefined>();
    for (const template of podTemplates(resource)) {
      const map = mapIn(template.metadata, 'annotations');
      if (map !== undefined) maps.set(map, template);
    }
    const annotations = mapIn(own, 'annotations');
    if (annotations !== undefined && !maps.has(annotations)) maps.set(annotations, undefined);
    for (const [map, template] of maps) {
      for (const entry of map.entries) {
        if (entry.key.unknown || !entry.key.text.startsWith(prefix)) continue;
        const pools = poolsNear(workspace, resource);
        // Node groups may still be scaled by the Cluster Autoscaler.
        if (pools.length === 0 || pools.some(({ spec }) => spec.kind === 'node-group')) return;
        const protects =
          entry.key.text === `${prefix}safe-to-evict` &&
          isScalar(entry.value) &&
          !entry.value.unknown &&
          entry.value.text === 'false';
        const edits =
          protects && template !== undefined ? protect(resource, map, entry) : remove(resource, map, entry);
        report({
          at: entry,
          message: protects
            ? `${entry.key.text} is read by the Cluster Autoscaler only: Karpenter, which makes the nodes here, moves the pod all the same`
            : `${entry.key.text} is read by the Cluster Autoscaler only, and the nodes here are Karpenter's: it does nothing`,
          fixes: [
            edits === undefined
              ? undefined
              : {
                  title: protects && template !== undefined ? `Use ${doNotDisrupt}` : 'Remove it',
                  safe: false,
                  edits,
                },
          ],
        });
      }
    }
  },
});

function protect(resource: Resource, map: MapNode, entry: Entry): Edits {
  if (map.entries.some(({ key }) => key.text === doNotDisrupt)) return remove(resource, map, entry);
  const { document } = resource.placed;
  const renamed = renameKey(document, entry, doNotDisrupt);
  const value = isScalar(entry.value) ? replaceScalar(document, entry.value, 'true') : undefined;
  return renamed === undefined || value === undefined ? undefined : [...renamed, ...value];
}

function remove(resource: Resource, map: MapNode, entry: Entry): Edits {
  return removeEntry(resource.placed.document, map, entry.key.text);
}
