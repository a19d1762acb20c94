import type { Resource } from '../kube/resource';
import { scalerOf, workloadOf } from '../panel/places';
import type { Workspace } from '../workspace/workspace';

/** The files in which something can be said of what a cluster shows about an object: its own, and those it belongs to. */
export function liveFilesOf(workspace: Workspace, { uri, kind, name }: Resource): readonly string[] {
  // An edit makes new objects of the same name.
  const resource = workspace.resourcesOf(uri).find((one) => one.kind === kind && one.name === name);
  if (resource === undefined) return [];
  const workload = workloadOf(workspace, resource);
  const scaler = workload === undefined ? undefined : scalerOf(workspace, resource, workload);
  return [
    ...new Set([resource, workload, scaler].flatMap((one) => (one === undefined ? [] : [one.uri]))),
  ].sort();
}
