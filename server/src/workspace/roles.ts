import type { DocumentRole } from '../kube/resource';
import type { YamlDocument } from '../yaml/document';
import {
  entryOf,
  getIn,
  isMap,
  isNull,
  isSequence,
  mapIn,
  scalarIn,
  type MapNode,
  type YamlNode,
} from '../yaml/node';
import { isKustomizationFile, type Layout } from './layout';
import { baseNameOf, directoryOf, upwards } from './paths';

const valuesFile = /^(values|.*[-_.]values|values[-_.].*)\.ya?ml$/i;
const patchFile = /(^|[-_.])(patch|patches)([-_.]|\.?ya?ml$)|^(patch|overlay)[^/]*\.ya?ml$/i;

/** Keys that only strategic merge patches have. */
const directive = /\$(patch|retainKeys|setElementOrder|deleteFromPrimitiveList)\b/;

/** Kinds whose templated text is their own language, read by their controller and not by Helm. */
const ownTemplates: readonly string[] = [
  'ServingRuntime',
  'ClusterServingRuntime',
  'LLMInferenceServiceConfig',
  'PrometheusRule',
  'ApplicationSet',
];

/** Whether a chart stands above a path. */
function chartOf(layout: Layout, path: string): string | undefined {
  for (const directory of upwards(directoryOf(path))) if (layout.charts.has(directory)) return directory;
  return undefined;
}

/** Whether a file is called as patches are. */
export function isCalledPatch(path: string): boolean {
  return patchFile.test(baseNameOf(path)) || /\/patches\//.test(path);
}

/** A chart's own values, which may have the keys of an object (`kind: DaemonSet`) and are none. */
export function isValuesOfChart(layout: Layout, path: string): boolean {
  return layout.charts.has(directoryOf(path)) && valuesFile.test(baseNameOf(path));
}

/** Kinds whose whole objects cannot do without images. */
const withImages: readonly string[] = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
  'Pod',
  'Rollout',
  'LeaderWorkerSet',
];

const podSpecs: Readonly<Record<string, readonly string[]>> = {
  LeaderWorkerSet: ['spec', 'leaderWorkerTemplate', 'workerTemplate', 'spec'],
  Pod: ['spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

/** Paths without which an object of the kind is only a part of one. */
const essentials: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Deployment: [['spec', 'template', 'spec']],
  StatefulSet: [['spec', 'template', 'spec']],
  DaemonSet: [['spec', 'template', 'spec']],
  HorizontalPodAutoscaler: [['spec', 'scaleTargetRef']],
  ScaledObject: [['spec', 'scaleTargetRef']],
  VerticalPodAutoscaler: [['spec', 'targetRef']],
  NodePool: [['spec', 'template']],
  Service: [['spec']],
};

function isOpenOrUnknown(node: YamlNode | undefined): boolean {
  return node !== undefined && (node.kind === 'scalar' ? node.unknown : node.open);
}

/** Certainly without a value at the end of a path. */
function lacks(root: MapNode, path: readonly string[]): boolean {
  let at: YamlNode | undefined = root;
  for (const key of path) {
    if (isOpenOrUnknown(at)) return false;
    const next: YamlNode | undefined = entryOf(at, key)?.value;
    if (isNull(next)) return !isOpenOrUnknown(at);
    at = next;
  }
  return false;
}

/**
 * Whether an object is only a part of one, by its shape alone: it lacks what every whole object of its kind has. A
 * selector, an image or a target that is forgotten is an API error at once; a patch without them is usual.
 */
export function isIncomplete(root: MapNode, kind: string): boolean {
  if (essentials[kind]?.some((path) => lacks(root, path)) === true) return true;
  if (!withImages.includes(kind)) return false;
  const spec = getIn(root, ...(podSpecs[kind] ?? ['spec', 'template', 'spec']));
  if (!isMap(spec) || spec.open) return false;
  const containers = entryOf(spec, 'containers')?.value;
  if (isNull(containers)) return true;
  if (!isSequence(containers) || containers.open || containers.items.length === 0) return false;
  // One container of a list may be forgotten; none with an image is a patch.
  return containers.items.every((item) => isMap(item) && !item.open && isNull(entryOf(item, 'image')?.value));
}

/** What patches of a kind do not have together: an object with all of it is meant to be whole. */
const marksOfWhole: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Job: [['spec', 'template', 'spec', 'restartPolicy']],
  CronJob: [
    ['spec', 'schedule'],
    ['spec', 'jobTemplate', 'spec', 'template', 'spec', 'restartPolicy'],
  ],
  Pod: [['spec', 'restartPolicy']],
  HorizontalPodAutoscaler: [
    ['spec', 'maxReplicas'],
    ['spec', 'metrics'],
  ],
  ScaledObject: [
    ['spec', 'maxReplicaCount'],
    ['spec', 'triggers'],
  ],
  NodePool: [
    ['spec', 'disruption'],
    ['spec', 'limits'],
  ],
};

/** Selectors cannot be changed, so patches have none. */
const selector: readonly (readonly string[])[] = [['spec', 'selector']];

/**
 * An object that lacks what every whole one has, and still is meant to be one: nothing around it is built with kustomize,
 * and it has what patches have not, or nothing that they would patch.
 */
function standsAlone(layout: Layout, path: string, root: MapNode, kind: string): boolean {
  if (underKustomization(layout, path) || isCalledPatch(path)) return false;
  if (root.open) return false;
  const parts = [['spec'], podSpecs[kind] ?? ['spec', 'template', 'spec']].map((path) =>
    getIn(root, ...path),
  );
  if (isNull(parts[0]) || parts.some((part) => isMap(part) && part.entries.length === 0 && !part.open))
    return true;
  return (marksOfWhole[kind] ?? selector).every((mark) => !isNull(getIn(root, ...mark)));
}

/** A kustomization stands in the directory of the file or above it. */
function underKustomization(layout: Layout, path: string): boolean {
  for (const directory of upwards(directoryOf(path))) if (layout.kustomizations.has(directory)) return true;
  return false;
}

/** Kinds to which kustomize adds selectors and labels of pods that are not written. */
const withSelectors: readonly string[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'];

/**
 * A workload that is whole but for its selector or the labels of its pods, where a kustomization that reads it adds
 * them.
 */
function isLabelledLater(layout: Layout, path: string, root: MapNode, kind: string): boolean {
  if (layout.labelled.size === 0 || !withSelectors.includes(kind)) return false;
  if (!lacks(root, ['spec', 'selector']) && !lacks(root, ['spec', 'template', 'metadata', 'labels']))
    return false;
  return [...layout.labelled].some(
    (directory) => layout.kustomizations.get(directory)?.resources.has(path) === true,
  );
}

function isListed(layout: Layout, path: string, where: 'resources' | 'patches'): boolean {
  for (const kustomization of layout.kustomizations.values()) if (kustomization[where].has(path)) return true;
  return false;
}

/** The role of an object in its document. */
export function objectRole(
  layout: Layout,
  path: string,
  document: YamlDocument,
  object: { readonly root: MapNode; readonly kind: string; readonly group: string },
): DocumentRole {
  const { root, kind } = object;
  if (isListed(layout, path, 'patches')) return 'kustomize-patch';
  if (document.text.includes('$') && directive.test(document.text)) return 'kustomize-patch';
  const templated = document.templated && !ownTemplates.includes(kind);
  const chart = chartOf(layout, path);
  if (templated || (chart !== undefined && path.startsWith(`${chart}/templates/`))) return 'helm-template';
  if (isIncomplete(root, kind) && !standsAlone(layout, path, root, kind)) return 'kustomize-patch';
  if (isCalledPatch(path) && underKustomization(layout, path) && !isListed(layout, path, 'resources')) {
    return 'kustomize-patch';
  }
  return isLabelledLater(layout, path, root, kind) ? 'kustomize-base' : 'resource';
}

/** The role of a document that holds no object which anything reads, as far as its place and its first keys tell. */
export function documentRole(layout: Layout, path: string, document: YamlDocument): DocumentRole {
  if (isKustomizationFile(path)) return 'kustomization';
  const chart = chartOf(layout, path);
  if (chart !== undefined) {
    if (path.startsWith(`${chart}/templates/`)) return 'helm-template';
    if (valuesFile.test(baseNameOf(path))) return 'helm-values';
  }
  if (isListed(layout, path, 'patches')) return 'kustomize-patch';
  if (
    !/(^|[\s{,"'])apiVersion["']?\s*:/.test(document.text) ||
    !/(^|[\s{,"'])kind["']?\s*:/.test(document.text)
  ) {
    return valuesFile.test(baseNameOf(path)) && !isComposeLike(document) ? 'helm-values' : 'not-kubernetes';
  }
  const { root } = document;
  if (scalarIn(root, 'kind') === undefined || scalarIn(root, 'apiVersion') === undefined) {
    return document.templated ? 'helm-template' : 'not-kubernetes';
  }
  if (scalarIn(root, 'kind')?.text === 'CustomResourceDefinition') return 'not-kubernetes';
  return document.templated ? 'helm-template' : 'resource';
}

function isComposeLike(document: YamlDocument): boolean {
  return (
    mapIn(document.root, 'services') !== undefined &&
    mapIn(document.root, 'services')?.entries[0] !== undefined
  );
}
