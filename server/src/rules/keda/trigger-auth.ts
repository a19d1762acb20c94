import { containers, envOf, envValue } from '../../kube/containers';
import { authenticationOf, unseenAuthentication, type Authentication } from '../../kube/keda/authentication';
import type { WrittenTrigger } from '../../kube/keda/read-triggers';
import type { TriggerAuth } from '../../kube/keda/trigger';
import { podTemplates } from '../../kube/pod-carriers';
import { isAbsent, isPathAbsent, type Resource } from '../../kube/resource';
import { nameKeyOf } from '../../workspace/objects';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, mapIn, scalarIn, textIn } from '../../yaml/node';
import { mayBePatched } from '../overlays';

const authenticationKinds: readonly string[] = ['TriggerAuthentication', 'ClusterTriggerAuthentication'];

/** What a trigger gets from elsewhere, as far as the workspace shows it. */
export function triggerAuth(workspace: Workspace, trigger: WrittenTrigger): TriggerAuth {
  return { ...authentication(workspace, trigger), env: environment(workspace, trigger.resource) };
}

/** The object that `authenticationRef` names, when it is in the workspace. */
export function authenticationResource(
  workspace: Workspace,
  { resource, node }: WrittenTrigger,
): Resource | undefined {
  const reference = mapIn(node, 'authenticationRef');
  const kind =
    scalarIn(reference, 'kind') === undefined ? 'TriggerAuthentication' : textIn(reference, 'kind');
  const name = nameKeyOf(resource.placed.document, entryOf(reference, 'name')?.value);
  if (kind === undefined || name === undefined || !authenticationKinds.includes(kind)) return undefined;
  const namespace = kind === 'TriggerAuthentication' ? resource.namespace : undefined;
  const found = workspace.lookup(kind, namespace, name, resource.scope);
  return found.state === 'found' ? found.resource : undefined;
}

function authentication(workspace: Workspace, trigger: WrittenTrigger): Authentication {
  if (isAbsent(trigger.resource, trigger.node, 'authenticationRef'))
    return { parameters: new Map(), podIdentity: '' };
  const found = authenticationResource(workspace, trigger);
  return found === undefined || mayBePatched(workspace, found, 'spec')
    ? unseenAuthentication
    : authenticationOf(found);
}

/** KEDA reads the environment of one container of the target: the named one, else the first. */
function environment(workspace: Workspace, resource: Resource): TriggerAuth['env'] {
  const isJob = resource.kind === 'ScaledJob';
  const target = isJob ? resource : foundTarget(workspace, resource);
  const [template, ...others] = target === undefined ? [] : podTemplates(target);
  if (target === undefined || template === undefined || others.length > 0) return 'unseen';
  const path = ['spec', ...(isJob ? [] : ['scaleTargetRef']), 'envSourceContainerName'];
  const wanted = textIn(resource.root, ...path);
  if (wanted === undefined && !isPathAbsent(resource, resource.root, ...path)) return 'unseen';
  const main = containers(template).filter(({ kind }) => kind === 'main');
  const container = wanted === undefined ? main[0] : main.find(({ name }) => name === wanted);
  if (container === undefined || mayBePatched(workspace, target, 'env')) return 'unseen';
  // A name that no container has shows whether other variables can be there.
  if (envValue(container, '').state !== 'absent') return 'unseen';
  return new Map(
    envOf(container).map(({ name }) => {
      const value = envValue(container, name);
      return [name, value.state === 'known' && !value.text.includes('$(') ? value.text : undefined];
    }),
  );
}

function foundTarget(workspace: Workspace, resource: Resource): Resource | undefined {
  const target = workspace.references(resource).target;
  return target?.state === 'found' ? target.resource : undefined;
}
