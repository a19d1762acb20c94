import { autoscalerOf } from '../kube/autoscalers';
import { containers } from '../kube/containers';
import type { Container } from '../kube/containers';
import { modelServers } from '../kube/model-server';
import { isPodCarrier, podTemplates } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import type { Finding } from '../engine/finding';
import type { Workspace } from '../workspace/workspace';
import { getIn } from '../yaml/node';
import type { Span } from '../yaml/node';
import type { Place } from './model';

/** Where things stand in the files, for "open the line". Everything is `undefined` where the files do not have it. */
export interface Places {
  /** The object under the cursor, at its name. */
  readonly object: Place | undefined;
  /** The resource of the workload that the panel is about. */
  readonly workload: Resource | undefined;
  readonly memoryLimit: (container: string | undefined) => Place | undefined;
  readonly resources: (container: string | undefined) => Place | undefined;
  readonly maximum: Place | undefined;
  readonly replicas: Place | undefined;
  readonly arguments: Place | undefined;
  /** The worst finding of one of the rules about a container, in the order of the rules. */
  readonly finding: (rules: readonly string[], container: string | undefined) => Finding | undefined;
}

export function placesOf(
  workspace: Workspace,
  resource: Resource | undefined,
  findings: readonly Finding[],
): Places {
  const workload = workloadOf(workspace, resource);
  const template = workload === undefined ? undefined : podTemplates(workload)[0];
  const placeIn = (of: Resource, at: Span): Place => {
    const { offset } = workspace.placeOf(of);
    return { uri: of.uri, at: { start: at.start + offset, end: at.end + offset } };
  };
  const named = (container: string | undefined): Container | undefined => {
    const all = template === undefined ? [] : containers(template);
    return container === undefined ? all[0] : all.find(({ name }) => name === container);
  };
  const inContainer = (
    container: string | undefined,
    ...paths: readonly (readonly string[])[]
  ): Place | undefined => {
    const found = named(container);
    if (found === undefined || workload === undefined) return undefined;
    for (const path of paths) {
      const node = getIn(found.node, ...path);
      if (node !== undefined) return placeIn(workload, node);
    }
    return undefined;
  };
  const scaler = workload === undefined ? undefined : scalerOf(workspace, resource, workload);
  const maximumNode =
    scaler === undefined
      ? undefined
      : (getIn(scaler.root, 'spec', 'maxReplicas') ?? getIn(scaler.root, 'spec', 'maxReplicaCount'));
  const replicasNode = workload === undefined ? undefined : getIn(workload.root, 'spec', 'replicas');
  const server = template === undefined ? undefined : modelServers(template)[0];
  const nameNode =
    resource === undefined ? undefined : (getIn(resource.root, 'metadata', 'name') ?? resource.root);
  return {
    object: resource === undefined || nameNode === undefined ? undefined : placeIn(resource, nameNode),
    workload,
    memoryLimit: (container) =>
      inContainer(
        container,
        ['resources', 'limits', 'memory'],
        ['resources', 'requests', 'memory'],
        ['resources'],
        ['name'],
      ),
    resources: (container) => inContainer(container, ['resources', 'requests'], ['resources'], ['name']),
    maximum: scaler === undefined || maximumNode === undefined ? undefined : placeIn(scaler, maximumNode),
    replicas:
      workload === undefined || replicasNode === undefined ? undefined : placeIn(workload, replicasNode),
    arguments:
      server === undefined ? undefined : inContainer(server.container.name, ['args'], ['command'], ['image']),
    finding(rules, container) {
      for (const rule of rules) {
        const found = findings.find(
          (finding) =>
            finding.rule === rule &&
            (container === undefined || finding.container === undefined || finding.container === container) &&
            (workload === undefined || finding.resource === undefined || isAbout(finding, workload)),
        );
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

/** Whether a finding is about an object. */
export function isAbout({ resource, uri }: Finding, object: Resource): boolean {
  return (
    resource !== undefined &&
    uri === object.uri &&
    resource.kind === object.kind &&
    resource.name === object.name
  );
}

/** The object itself when it has pods, else what an autoscaler targets. */
export function workloadOf(workspace: Workspace, resource: Resource | undefined): Resource | undefined {
  if (resource === undefined || isPodCarrier(resource)) return resource;
  if (autoscalerOf(resource) === undefined) return undefined;
  const target = workspace.references(resource).target;
  return target?.state === 'found' ? target.resource : undefined;
}

/** The autoscaler under the cursor, else the one that targets the workload. */
export function scalerOf(
  workspace: Workspace,
  resource: Resource | undefined,
  workload: Resource,
): Resource | undefined {
  if (resource !== undefined && autoscalerOf(resource) !== undefined) return resource;
  return workspace.references(workload).autoscalers.find(({ match }) => match === 'yes')?.resource;
}
