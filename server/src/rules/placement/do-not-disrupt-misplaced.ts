import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { commentBehind, insertKey, insertPath, removeEntry, replaceScalar } from '../../yaml/edit';
import { entryOf, isNull, isScalar, mapIn, type Entry, type MapNode } from '../../yaml/node';
import { titleOf } from '../naming';
import { defineRule, type Fix, type Report } from '../rule';

const annotation = 'karpenter.sh/do-not-disrupt';

/** Kinds whose controllers copy nothing of the object's own metadata to its pods. */
const copyNothing: readonly string[] = [
  '',
  'apps',
  'batch',
  'argoproj.io',
  'leaderworkerset.x-k8s.io',
  'ray.io',
  'jobset.x-k8s.io',
  'kubeflow.org',
];

export default defineRule({
  id: 'do-not-disrupt-misplaced',
  summary: 'karpenter.sh/do-not-disrupt is an annotation of the pods, with the text "true"',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier', 'NodePool'],
  fixable: 'safe',
  check(resource, { report }) {
    const target =
      resource.kind === 'NodePool' ? mapIn(resource.root, 'spec', 'template') : onlyTemplate(resource);
    if (resource.kind === 'NodePool' && resource.group !== 'karpenter.sh') return;
    const own = mapIn(resource.root, 'metadata');
    const holders =
      resource.kind === 'NodePool'
        ? [mapIn(resource.root, 'spec', 'template', 'metadata')]
        : podTemplates(resource).map(({ metadata }) => metadata);
    for (const metadata of new Set(holders)) checkHolder(resource, metadata, report);
    if (holders.includes(own) || (!copyNothing.includes(resource.group) && resource.kind !== 'NodePool'))
      return;
    // Written in both places it does what it is meant to.
    if (holders.some((metadata) => entryOf(mapIn(metadata, 'annotations'), annotation) !== undefined)) return;
    for (const metadata of [own, mapIn(resource.root, 'spec', 'jobTemplate', 'metadata')]) {
      for (const kind of ['annotations', 'labels'] as const) {
        const map = mapIn(metadata, kind);
        const entry = entryOf(map, annotation);
        if (map === undefined || entry === undefined || isNull(entry.value)) continue;
        report({
          at: entry,
          message: `${annotation} stands on the ${metadata === own ? titleOf(resource) : 'Job'} itself, and Karpenter reads it from ${resource.kind === 'NodePool' ? 'nodes' : 'pods'} only: nothing is protected`,
          fixes: [move(resource, map, entry, target)],
        });
      }
    }
  },
});

/** The map with the metadata of the pods, where there is one template only. */
function onlyTemplate(resource: Resource): MapNode | undefined {
  const [first, ...others] = podTemplates(resource);
  return first === undefined || others.length > 0 || first.node === first.spec ? undefined : first.node;
}

/** What is written on the pods (or the nodes of a pool) themselves: as a label, or with another value. */
function checkHolder(
  resource: Resource,
  metadata: MapNode | undefined,
  report: (report: Report) => void,
): void {
  const labels = mapIn(metadata, 'labels');
  const label = entryOf(labels, annotation);
  if (metadata !== undefined && labels !== undefined && label !== undefined && !isNull(label.value)) {
    report({
      at: label,
      message: `${annotation} is a label here, and Karpenter reads the annotation only: nothing is protected`,
      fixes: [asAnnotation(resource, metadata, labels)],
    });
  }
  const entry = entryOf(mapIn(metadata, 'annotations'), annotation);
  if (entry === undefined || !isScalar(entry.value) || entry.value.unknown || isNull(entry.value)) return;
  const { value } = entry.value;
  if (typeof value === 'boolean' || typeof value === 'number') {
    const edits = value === true ? replaceScalar(resource.placed.document, entry.value, 'true') : undefined;
    report({
      at: entry.value,
      message: `${annotation} is the ${typeof value === 'boolean' ? 'boolean' : 'number'} ${entry.value.text}, and annotations are text: the API server rejects it without quotes`,
      severity: 'error',
      fixes: [edits === undefined ? undefined : { title: 'Write "true"', safe: true, edits }],
    });
  } else if (!understood.test(entry.value.text)) {
    const edits = replaceScalar(resource.placed.document, entry.value, 'true');
    report({
      at: entry.value,
      message: `${annotation} is "${entry.value.text}", and Karpenter looks for "true": nothing is protected`,
      fixes: [edits === undefined ? undefined : { title: 'Write "true"', safe: false, edits }],
    });
  }
}

/** `true`, `false` on purpose, and a duration, which newer versions of Karpenter take on pods. */
const understood = /^(?:true|false|(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+)$/;

function move(resource: Resource, from: MapNode, entry: Entry, target: MapNode | undefined): Fix | undefined {
  if (target === undefined || !isScalar(entry.value) || entry.value.unknown) return undefined;
  if (entryOf(mapIn(target, 'metadata', 'annotations'), annotation) !== undefined) return undefined;
  const { document } = resource.placed;
  const removed = removeEntry(document, from, annotation);
  const added = insertPath(document, target, ['metadata', 'annotations', annotation], 'true', {
    comment: commentBehind(document, entry),
  });
  if (removed === undefined || added === undefined) return undefined;
  const where = resource.kind === 'NodePool' ? 'the template of the nodes' : 'the pod template';
  return {
    title: `Move it to ${where}`,
    safe: entry.value.value === 'true' || entry.value.value === true,
    edits: [...removed, ...added],
  };
}

function asAnnotation(resource: Resource, metadata: MapNode, labels: MapNode): Fix | undefined {
  if (entryOf(mapIn(metadata, 'annotations'), annotation) !== undefined) return undefined;
  const { document } = resource.placed;
  const removed = removeEntry(document, labels, annotation);
  const comment = commentBehind(document, entryOf(labels, annotation));
  // Behind the labels it would stand where the label is taken away.
  const added =
    entryOf(metadata, 'annotations') === undefined
      ? insertKey(document, metadata, 'annotations', { [annotation]: 'true' }, { before: 'labels', comment })
      : insertPath(document, metadata, ['annotations', annotation], 'true', { comment });
  return removed === undefined || added === undefined
    ? undefined
    : { title: 'Make it an annotation', safe: true, edits: [...removed, ...added] };
}
