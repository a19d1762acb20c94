import { envValue } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import { isAbsent, type Resource } from '../../kube/resource';
import { insertKey, replaceScalar, type Edits } from '../../yaml/edit';
import { entryOf, isScalar, scalarIn, textIn } from '../../yaml/node';
import type { Workspace } from '../../workspace/workspace';
import { inSentence, titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { serversOf } from './servings';

/** vLLM's own variables that end like those of a Service: whatever Kubernetes writes there is no port number. */
const ownVariables: ReadonlySet<string> = new Set([
  'VLLM_PORT',
  'VLLM_DP_MASTER_PORT',
  'VLLM_NIXL_SIDE_CHANNEL_PORT',
  'VLLM_MOONCAKE_BOOTSTRAP_PORT',
]);

const runsVllm: ReadonlySet<ModelServer['engine']> = new Set(['vllm', 'ray-serve-llm', 'dynamo']);

export default defineRule({
  id: 'service-name-breaks-engine',
  summary: 'A Service must not set a variable that vLLM reads',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const server of serversOf(resource)) {
      if (!runsVllm.has(server.engine) || !getsServiceLinks(resource, server)) continue;
      const services = linkedServices(workspace, resource);
      const breaking = services.filter((service) => breaks(server, service));
      const others = services.filter(
        (service) => !ownVariables.has(variableOf(service)) && /^vllm-/.test(service.name ?? ''),
      );
      const shown = breaking.length > 0 ? breaking : others;
      const [first] = shown;
      if (first === undefined || mayBePatched(workspace, resource, 'enableServiceLinks')) continue;
      const { container } = server;
      const names = shown.map((service) => `"${service.name ?? ''}"`).join(', ');
      const message =
        breaking.length > 0
          ? `Kubernetes sets ${variableOf(first)}=tcp://... in ${inSentence(containerTitle(container))} because of the Service ${names}; ${server.title} reads it as the number of a port and stops`
          : `Kubernetes sets variables such as ${variableOf(first)} in ${inSentence(containerTitle(container))} because of the ${shown.length === 1 ? 'Service' : 'Services'} ${names}; ${server.title} takes them for settings of its own and warns of each`;
      const written = scalarIn(container.template.spec, 'enableServiceLinks');
      const edits = withoutLinks(server);
      report({
        at: written ?? container.nameNode ?? server.evidence,
        severity: breaking.length > 0 ? 'error' : 'info',
        message,
        related: shown.map((service) => ({
          resource: service,
          at: scalarIn(service.root, 'metadata', 'name') ?? service.root,
          message: titleOf(service),
        })),
        fixes: [edits && { title: 'Set enableServiceLinks to false', safe: false, edits }],
        ...containerField(container),
      });
    }
  },
});

/** The default, or written so; a template or patch can say otherwise. */
function getsServiceLinks(resource: Resource, { container }: ModelServer): boolean {
  const { spec } = container.template;
  const written = scalarIn(spec, 'enableServiceLinks');
  if (written !== undefined && written.value !== null) return !written.unknown && written.value === true;
  return isAbsent(resource, spec, 'enableServiceLinks');
}

/** Services of the pod's namespace that Kubernetes makes variables for: those with an address of their own. */
function linkedServices(workspace: Workspace, resource: Resource): readonly Resource[] {
  return workspace.near(resource, 'Service', '').filter((service) => {
    if (service.name === undefined || !/^vllm(-|$)/.test(service.name)) return false;
    const address = entryOf(entryOf(service.root, 'spec')?.value, 'clusterIP')?.value;
    const hasAddress =
      address === undefined || (isScalar(address) && !address.unknown && address.text !== 'None');
    return hasAddress && textIn(service.root, 'spec', 'type') !== 'ExternalName';
  });
}

/** The variable that Kubernetes makes of a Service's name. */
function variableOf({ name }: Resource): string {
  return `${(name ?? '').toUpperCase().replaceAll('-', '_')}_PORT`;
}

/** The container's own variable wins over that of a Service. */
function breaks({ container }: ModelServer, service: Resource): boolean {
  const variable = variableOf(service);
  if (!ownVariables.has(variable)) return false;
  const own = envValue(container, variable);
  return own.state === 'absent' || (own.state === 'unknown' && own.variable === undefined);
}

function withoutLinks({ container }: ModelServer): Edits {
  const { template } = container;
  const { document } = template.resource.placed;
  // Where the pod spec is its own container, the field is the operator's matter.
  if (container.node === template.spec) return undefined;
  const written = scalarIn(template.spec, 'enableServiceLinks');
  return written !== undefined && written.value !== null
    ? replaceScalar(document, written, false)
    : insertKey(document, template.spec, 'enableServiceLinks', false, { before: 'containers' });
}
