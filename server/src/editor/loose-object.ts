import type { Resource } from '../kube/resource';
import { textIn, type MapNode } from '../yaml/node';

/** An object that the workspace does not have as a resource, as far as its text can be read. */
export function looseObject(
  uri: string,
  placed: Resource['placed'],
  root: MapNode,
  scope: string,
): Resource | undefined {
  const kind = textIn(root, 'kind');
  const apiVersion = textIn(root, 'apiVersion');
  if (kind === undefined || apiVersion === undefined) return undefined;
  const slash = apiVersion.indexOf('/');
  return {
    uri,
    placed,
    root,
    role: 'resource',
    apiVersion,
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    name: textIn(root, 'metadata', 'name'),
    namespace: textIn(root, 'metadata', 'namespace'),
    scope,
  };
}
