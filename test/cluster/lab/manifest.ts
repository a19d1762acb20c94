import { parseAllDocuments } from 'yaml';
import type { Answer, Api, JsonObject, KubeObject } from './api';
import { ApiError, at, errorOf } from './api';

/** One object of a manifest, with its text as it is written where it has one of its own. */
export interface Written {
  readonly object: JsonObject;
  /** YAML or JSON; what is sent, so that nothing between the file and the API server changes it. */
  readonly text: string;
  readonly contentType: 'application/yaml' | 'application/json';
}

/** The objects of a manifest, items of a `List` each by itself, as kubectl sends them. Throws on text that is not YAML. */
export function objectsIn(text: string): readonly Written[] {
  const documents = parseAllDocuments(text, { version: '1.1', merge: true, uniqueKeys: false });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document): Written[] => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(error.message);
    const value = document.toJS() as unknown;
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return [];
    const object = value as JsonObject;
    const { items, kind, apiVersion } = object;
    if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
      // The items of a PodList are pods without saying so.
      const own = kind === 'List' ? {} : { apiVersion, kind: kind.replace(/List$/, '') };
      return (items as readonly JsonObject[]).map((item) => {
        const whole = { ...own, ...item };
        return { object: whole, text: JSON.stringify(whole), contentType: 'application/json' };
      });
    }
    const [start, , end] = document.range;
    return [{ object, text: text.slice(start, end), contentType: 'application/yaml' }];
  });
}

export function groupVersionPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** How the API server calls the objects of a kind. */
export interface ResourceType {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The resource type of a kind; `undefined` when the API server does not serve it. */
export async function resourceType(
  api: Api,
  apiVersion: string,
  kind: string,
): Promise<ResourceType | undefined> {
  const answer = await api.call('GET', groupVersionPath(apiVersion));
  const resources = at(answer.body, 'resources');
  if (answer.status >= 300 || !Array.isArray(resources)) return undefined;
  for (const resource of resources as readonly JsonObject[]) {
    const name = resource['name'];
    if (resource['kind'] !== kind || typeof name !== 'string' || name.includes('/')) continue;
    return { plural: name, namespaced: resource['namespaced'] === true };
  }
  return undefined;
}

/** Where the objects of a kind are listed and created; throws when the API server does not serve the kind. */
export async function collectionPath(api: Api, object: JsonObject, namespace: string): Promise<string> {
  const apiVersion = String(object['apiVersion']);
  const kind = String(object['kind']);
  const type = await resourceType(api, apiVersion, kind);
  if (type === undefined)
    throw new ApiError(404, `no matches for kind "${kind}" in version "${apiVersion}"`, []);
  const own = at(object, 'metadata', 'namespace');
  const within = type.namespaced
    ? `/namespaces/${encodeURIComponent(typeof own === 'string' ? own : namespace)}`
    : '';
  return `${groupVersionPath(apiVersion)}${within}/${type.plural}`;
}

const managed = 'fieldManager=plimsoll-tests&fieldValidation=Strict';

/** How the API server, but not kubectl, which keeps the last one, takes a key that is there twice. */
const duplicateKey = /key "[^"]*" already set in map/;

/**
 * What the API server says to an object, which it does not keep: `kubectl create --dry-run=server --validate=strict`.
 * The text is read by the API server itself, and so by the parser that kubectl has.
 */
export async function verdict(api: Api, written: Written, namespace: string): Promise<Answer> {
  const path = `${await collectionPath(api, written.object, namespace)}?dryRun=All&${managed}`;
  const answer = await api.call('POST', path, { body: written.text, contentType: written.contentType });
  const message = at(answer.body, 'message');
  if (typeof message !== 'string' || !duplicateKey.test(message)) return answer;
  return api.call('POST', path, { body: written.object });
}

/**
 * Applies all objects of a manifest (`kubectl apply --server-side --force-conflicts --validate=strict`) and answers them
 * as they are stored. Throws an {@link ApiError} for the first one that is rejected.
 */
export async function apply(api: Api, manifest: string, namespace: string): Promise<readonly KubeObject[]> {
  const applied: KubeObject[] = [];
  for (const { object, text } of objectsIn(manifest)) {
    const path = `${await collectionPath(api, object, namespace)}/${encodeURIComponent(String(at(object, 'metadata', 'name')))}`;
    const answer = await api.call('PATCH', `${path}?force=true&${managed}`, {
      body: text,
      contentType: 'application/apply-patch+yaml',
    });
    if (answer.status >= 300) throw errorOf('PATCH', path, answer);
    applied.push(answer.body as KubeObject);
  }
  return applied;
}

/** Creates a namespace unless it is there. */
export async function ensureNamespace(
  api: Api,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answer = await api.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
  });
  if (answer.status >= 300 && answer.status !== 409) throw errorOf('POST', '/api/v1/namespaces', answer);
}
