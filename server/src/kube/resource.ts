import type { PlacedDocument } from '../yaml/document';
import type { MapNode, YamlNode } from '../yaml/node';
import { entryOf, isNull } from '../yaml/node';

/**
 * What a document is for. Rules about something missing speak only of complete ones: the largest source of false
 * findings in this field is a patch or a template judged as if it were the whole object.
 */
export type DocumentRole =
  | 'resource'
  | 'kustomize-base'
  | 'kustomize-patch'
  | 'kustomization'
  | 'helm-template'
  | 'helm-values'
  | 'not-kubernetes';

/** One Kubernetes object in a file. An item of a `List` is a resource of its own, in the same document. */
export interface Resource {
  readonly uri: string;
  /**
   * The document, and the how-manieth of its file it is. Where the document starts is not kept: an edit above moves it,
   * and what is known about the object must outlive that. `Workspace.placeOf` tells.
   */
  readonly placed: Pick<PlacedDocument, 'document' | 'index'>;
  readonly root: MapNode;
  readonly role: DocumentRole;
  /** As written, `apps/v1`. */
  readonly apiVersion: string;
  /** `apps`; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** `undefined` when absent or not known before a template is rendered. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  /**
   * The directory tree in which names are looked up (an overlay, a chart, a folder of manifests): the same name in
   * `base/` and `prod/` is two objects.
   */
  readonly scope: string;
}

/**
 * True when a key is certainly not there: the document is the whole object, no template can add the key, and it is
 * neither written nor merged in. An explicit null counts as absent.
 */
export function isAbsent(resource: Resource, map: MapNode, key: string): boolean {
  if (resource.role === 'kustomize-patch' || map.open) return false;
  const entry = entryOf(map, key);
  return entry === undefined || isNull(entry.value);
}

/** As {@link isAbsent} for a path of keys: absent when the first missing step is certainly absent. */
export function isPathAbsent(resource: Resource, root: MapNode, ...path: readonly string[]): boolean {
  let at: YamlNode = root;
  for (const key of path) {
    if (at.kind !== 'map') return false;
    if (isAbsent(resource, at, key)) return true;
    const next: YamlNode | undefined = entryOf(at, key)?.value;
    if (next === undefined) return false;
    at = next;
  }
  return false;
}
