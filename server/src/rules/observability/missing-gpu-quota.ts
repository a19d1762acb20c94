import { acceleratorsOfPod } from '../../kube/accelerators';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import type { Index } from '../../workspace/indexes';
import { entryOf, mapIn, scalarIn } from '../../yaml/node';
import { defineRule } from '../rule';

export default defineRule({
  id: 'missing-gpu-quota',
  summary: 'A namespace with accelerator workloads has a quota on accelerators',
  severity: 'off',
  strict: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role !== 'resource') return;
    const name = acceleratorOf(resource);
    // One finding for a namespace is enough.
    if (name === undefined || workspace.index(workloads).get(keyOf(resource))[0] !== resource) return;
    const quota = workspace
      .near(resource, 'ResourceQuota')
      .some(({ root }) =>
        limits(mapIn(root, 'spec', 'hard')?.entries.map(({ key }) => key.text) ?? [], name),
      );
    if (quota) return;
    const metadata = mapIn(resource.root, 'metadata');
    const at =
      entryOf(metadata, 'namespace')?.value ?? scalarIn(metadata, 'name') ?? scalarIn(resource.root, 'kind');
    if (at === undefined) return;
    const where = resource.namespace === undefined ? 'its namespace' : `namespace "${resource.namespace}"`;
    report({
      at,
      message: `${where.charAt(0).toUpperCase()}${where.slice(1)} asks for ${name} without a ResourceQuota on "requests.${name}": one workload, or a mistake in one, can take all accelerators of the cluster`,
    });
  },
});

function limits(keys: readonly string[], name: string): boolean {
  return keys.some((key) => key === `requests.${name}` || key.includes('deviceclass'));
}

function acceleratorOf(resource: Resource): string | undefined {
  return podTemplates(resource)
    .flatMap(acceleratorsOfPod)
    .find(({ unit }) => unit !== 'claim')?.resource;
}

/** Whole workloads with accelerators, by scope and namespace, in the order of files and text. */
const workloads: Index<Resource> = {
  read: ({ resources }, add) => {
    for (const resource of resources) {
      if (resource.role === 'resource' && acceleratorOf(resource) !== undefined)
        add(keyOf(resource), resource);
    }
  },
  uriOf: ({ uri }) => uri,
};

function keyOf({ scope, namespace }: Resource): string {
  return `${scope} ${namespace ?? ''}`;
}
