import { envValue } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import type { Resource } from '../../kube/resource';
import { addVariable } from '../model/flags';
import { serversOf } from '../model/servings';
import { mayBePatched } from '../overlays';
import { containerField } from '../resources/wording';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { isMentioned } from './weight-store';
import { weightStore } from './weights';
import type { Mounted } from './volumes';

/** Names that people give to volumes and folders for weights. */
const looksLikeCache =
  /cache|hugging-?face|(^|[-_/.])hf([-_/.]|$)|models?([-_/.]|$)|weights|checkpoints|ollama|(^|[-_/.])nim([-_/.]|$)/i;

export default defineRule({
  id: 'cache-path-not-mounted',
  summary: 'The volume for the cache must be mounted where the server keeps it',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const server of serversOf(resource)) {
      const { container } = server;
      const { origin, cache, mount, mounts, label } = weightStore(server);
      if (origin.kind !== 'hub' || cache === undefined || mounts.open) continue;
      if (mount !== undefined && mount.lifetime !== 'pod') continue;
      const [meant, ...others] = mounts.all.filter((each) => isMeant(server, each, cache.path));
      if (meant === undefined || others.length > 0) continue;
      if (['volumeMounts', 'volumes', 'env'].some((word) => mayBePatched(workspace, resource, word)))
        continue;
      report({
        at: meant.pathNode,
        message: `The volume "${meant.name}" is mounted at ${meant.path}, but ${server.title} keeps what it fetches in ${cache.path.replace(/\/hub$/, '')}; the weights are fetched from ${label} at each start, and the volume stays empty`,
        fixes: [point(resource, server, cache.variable, meant.path)],
        ...containerField(container),
      });
    }
  },
});

/** A volume that outlives the pod, is there for the cache by its name, and that nothing else refers to. */
function isMeant({ container }: ModelServer, mount: Mounted, cache: string): boolean {
  const { lifetime, readOnly, path, name } = mount;
  if (lifetime !== 'kept' || readOnly || path === '/dev/shm') return false;
  // The caches of compiled kernels and of attention are others; under /run are sockets.
  if (/triton|torch|inductor|vllm$|flashinfer|deep_gemm|kv-?cache|lmcache|socket/i.test(`${path} ${name}`))
    return false;
  if (/^\/(var\/)?run(\/|$)/.test(path)) return false;
  return (
    (looksLikeCache.test(path) || looksLikeCache.test(name)) &&
    !isMentioned(container, path) &&
    path !== cache
  );
}

/** Points the server at the volume by its variable. */
function point(resource: Resource, server: ModelServer, variable: string, path: string): Fix | undefined {
  const { container } = server;
  const title = `Set ${variable} to ${path}`;
  const written = envValue(container, variable);
  if (written.state === 'known') {
    const changed = replaceScalar(resource.placed.document, written.node, path);
    return changed && { title, safe: false, edits: changed };
  }
  const added = addVariable(server, variable, path);
  if (added !== undefined) return { title, safe: false, edits: added };
  if (entryOf(container.node, 'env') !== undefined) return undefined;
  const edits = insertKey(
    resource.placed.document,
    container.node,
    'env',
    [{ name: variable, value: path }],
    {
      before: 'volumeMounts',
    },
  );
  return edits && { title, safe: false, edits };
}
