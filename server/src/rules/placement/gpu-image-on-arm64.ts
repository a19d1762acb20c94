import { otherCloud } from '../../kube/clouds';
import { runningContainers } from '../../kube/containers';
import { parseImage, type ImageReference } from '../../kube/images';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { nodeDemandOf, valueSetOf } from '../../kube/requirements';
import { admits, normaliseLabel } from '../../kube/value-set';
import { archLabel } from '../../sizing/nodes/labels';
import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import type { YamlNode } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { placeOfRequirement } from './demand';
import { possibleTypes } from './possible-types';
import { poolTitle } from './surroundings';
import { listWords } from './words';

export default defineRule({
  id: 'gpu-image-on-arm64',
  summary: 'An image that is built for amd64 only does not run on arm64 nodes',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource)) {
      const odd = runningContainers(template).filter(
        ({ imageText }) => imageText !== undefined && isAmd64Only(parseImage(imageText)),
      );
      if (odd.length === 0 || otherCloud(template) !== undefined) continue;
      const arm = onArm(workspace, template);
      if (arm === undefined) continue;
      for (const container of odd) {
        report({
          at: container.image ?? container.node,
          message: `${containerTitle(container)} runs ${container.imageText ?? ''}, which is built for amd64 only, and ${arm.says}: it ends with exec format error`,
          related:
            arm.at === undefined
              ? []
              : [{ resource: arm.at.resource, at: arm.at.node, message: 'arm64 is selected here' }],
          ...containerField(container),
        });
      }
    }
  },
});

interface Arm {
  readonly says: string;
  readonly at: { readonly resource: Resource; readonly node: YamlNode } | undefined;
}

/** Every node that the pod can get is arm64: it asks for that, or no other type is left. */
function onArm(workspace: Workspace, template: PodTemplate): Arm | undefined {
  const { alternatives, open } = nodeDemandOf(template);
  const asked = alternatives.map((requirements) =>
    requirements.find((requirement) => {
      const set = normaliseLabel(requirement.key) === archLabel ? valueSetOf(requirement) : undefined;
      return set !== undefined && admits(set, 'arm64') && !admits(set, 'amd64') && !set.complement;
    }),
  );
  const [first] = asked;
  if (!open && first !== undefined && !asked.includes(undefined)) {
    const node = placeOfRequirement(first);
    return {
      says: 'the pod asks for arm64',
      at: 'kind' in node ? { resource: template.resource, node } : undefined,
    };
  }
  const possible = possibleTypes(workspace, template);
  if (possible?.complete !== true || possible.types.length === 0) return undefined;
  if (possible.types.some(({ arch }) => arch !== 'arm64')) return undefined;
  const who =
    possible.pools.length === 0
      ? 'the types that the pod selects'
      : `the types of ${listWords(possible.pools.map(poolTitle))}`;
  return { says: `${who} are arm64`, at: undefined };
}

/**
 * Images without an arm64 variant in their registry: TGI and the CUDA images of TEI (their release workflows build
 * linux/amd64), vLLM before 0.10.2 (the first release with an arm64 image), and the Large Model Inference containers.
 */
function isAmd64Only({ registry, repository, name, tag }: ImageReference): boolean {
  if (tag !== undefined && /arm64|aarch64/.test(tag)) return false;
  if (registry === 'ghcr.io' && repository === 'huggingface/text-generation-inference') return true;
  if (registry === 'ghcr.io' && repository === 'huggingface/text-embeddings-inference') {
    return tag !== undefined && !tag.startsWith('cpu');
  }
  if (repository === 'vllm/vllm-openai' && tag !== undefined) return isBefore(tag, [0, 10, 2]);
  return (
    name === 'djl-inference' ||
    (repository === 'deepjavalibrary/djl-serving' && /lmi|tensorrt/.test(tag ?? ''))
  );
}

function isBefore(tag: string, version: readonly number[]): boolean {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(tag)?.slice(1).map(Number);
  if (parts === undefined) return false;
  for (const [index, bound] of version.entries()) {
    const part = parts[index] ?? 0;
    if (part !== bound) return part < bound;
  }
  return false;
}
