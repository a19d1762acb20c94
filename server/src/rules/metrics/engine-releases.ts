import { podTemplates } from '../../kube/pod-carriers';
import { parseImage } from '../../kube/images';
import { modelServers } from '../../kube/model-server';
import type { Resource } from '../../kube/resource';
import type { Index } from '../../workspace/indexes';
import type { Workspace } from '../../workspace/workspace';

/** Major, minor and patch of a release. */
export type Release = readonly [number, number, number];

export function releaseOf(text: string): Release | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

export function isBefore(a: Release, b: Release): boolean {
  for (let part = 0; part < 3; part++) {
    const [left, right] = [a[part] ?? 0, b[part] ?? 0];
    if (left !== right) return left < right;
  }
  return false;
}

/** Images of vLLM whose tag is the release: the project's own and AWS's. */
const ownImage = /(?:^|\/)(?:vllm-openai|vllm|vllm-openai-cpu)$/;

interface Served {
  readonly resource: Resource;
  /** `undefined` where the image does not tell. */
  readonly release: Release | undefined;
}

function served(resource: Resource): readonly Served[] {
  return podTemplates(resource)
    .flatMap(modelServers)
    .filter(({ engine }) => engine === 'vllm')
    .map(({ container: { imageText } }) => {
      const image = imageText === undefined ? undefined : parseImage(imageText);
      const tag = image !== undefined && ownImage.test(image.repository) ? image.tag : undefined;
      return { resource, release: tag === undefined ? undefined : releaseOf(tag) };
    });
}

/** Servers of vLLM by scope. */
const servers: Index<Served> = {
  read: ({ resources }, add) => {
    for (const resource of resources) {
      if (resource.role === 'kustomize-patch' || !/vllm/i.test(resource.placed.document.text)) continue;
      for (const one of served(resource)) add(resource.scope, one);
    }
  },
  uriOf: ({ resource }) => resource.uri,
};

/**
 * The releases of vLLM whose metrics an object reads: of its target, where it has one, else of all servers around.
 * `undefined` where there are none, or one does not tell.
 */
export function vllmReleases(workspace: Workspace, from: Resource): readonly Release[] | undefined {
  const target = workspace.references(from).target;
  const aimed = target?.state === 'found' ? served(target.resource) : [];
  const found =
    aimed.length > 0 ? aimed : workspace.around(from).flatMap((scope) => workspace.index(servers).get(scope));
  const releases = found.flatMap(({ release }) => (release === undefined ? [] : [release]));
  return releases.length === 0 || releases.length < found.length ? undefined : releases;
}
