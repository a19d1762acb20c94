import { acceleratorsOfPod } from '../../kube/accelerators';
import { readRequirements, type NodeRequirement } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { normaliseLabel } from '../../kube/value-set';
import { findInstanceType, instanceTypes, type InstanceType } from '../../sizing/nodes/instances';
import { archLabel } from '../../sizing/nodes/labels';
import { acceleratorResource, readNodePool, typesOf } from '../../sizing/nodes/read-pool';
import type { Workspace } from '../../workspace/workspace';
import { removeItem } from '../../yaml/edit';
import { entryOf, getIn, isScalar, isSequence, mapIn, type ScalarNode } from '../../yaml/node';
import { namesPool } from '../placement/meant-pools';
import { podOf } from '../placement/surroundings';
import { templatesNear } from '../placement/tenants';
import { defineRule, type Fix } from '../rule';

export default defineRule({
  id: 'nodepool-fractional-or-foreign-gpu',
  summary: 'A pool for nvidia.com/gpu names only types whose nodes offer it to amd64 images',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.group !== 'karpenter.sh') return;
    const list = getIn(resource.root, 'spec', 'template', 'spec', 'requirements');
    const named = readRequirements(list).flatMap((requirement) =>
      namesTypes(requirement).flatMap((node) => {
        const about = oddity(requirement, node.text);
        return about === undefined ? [] : [{ requirement, node, about }];
      }),
    );
    if (named.length === 0 || !isMeantForNvidia(workspace, resource)) return;
    const knowsArm = readNodePool(resource).requirements.some(
      ({ key, operator, values }) =>
        normaliseLabel(key) === archLabel && operator === 'In' && values?.includes('arm64') === true,
    );
    const admitted = new Set(typesOf(resource).types.map(({ name }) => name));
    for (const { requirement, node, about } of named) {
      if (knowsArm && about.types.every(({ gpus }) => gpus?.name === 't4g')) continue;
      // What another requirement excludes is never launched.
      if (!about.types.some(({ name }) => admitted.has(name))) continue;
      report({
        at: node,
        message: `NodePool "${resource.name ?? ''}" is for nvidia.com/gpu, and ${about.says}`,
        fixes: [withoutValue(resource, requirement, node)],
      });
    }
  },
});

const typeLabels =
  /^(?:node\.kubernetes\.io\/instance-type|(?:karpenter\.k8s\.aws|eks\.amazonaws\.com)\/instance-family)$/;

function namesTypes({ key, operator, valueNodes }: NodeRequirement): readonly ScalarNode[] {
  if (operator !== 'In' || !typeLabels.test(normaliseLabel(key))) return [];
  return valueNodes.filter(isScalar).filter(({ unknown }) => !unknown);
}

interface Oddity {
  readonly types: readonly InstanceType[];
  readonly says: string;
}

/** What is odd about the GPUs of a type or family for pods that ask for `nvidia.com/gpu`. */
function oddity(requirement: NodeRequirement, name: string): Oddity | undefined {
  const isType = normaliseLabel(requirement.key).endsWith('/instance-type');
  const type = isType ? findInstanceType(name) : undefined;
  const types = isType
    ? type === undefined
      ? []
      : [type]
    : instanceTypes().filter(({ family }) => family === name);
  const [first] = types;
  if (first?.gpus === undefined) return undefined;
  const { gpus, arch } = first;
  if (gpus.manufacturer === 'amd') {
    return {
      types,
      says: `the GPUs of ${name} are AMD's: its nodes offer amd.com/gpu, and no pod that asks for nvidia.com/gpu runs there`,
    };
  }
  if (types.every((one) => one.gpus?.count === 0)) {
    return {
      types,
      says: `${name} has a fraction of a GPU: its nodes offer no nvidia.com/gpu, and no pod that asks for one runs there`,
    };
  }
  if (arch === 'arm64' && gpus.name === 't4g') {
    return {
      types,
      says: `${name} is arm64 (Graviton with T4G): images that are built for amd64 only, as those of most model servers, crash there`,
    };
  }
  return undefined;
}

/** The pool taints or limits with it, asks for NVIDIA, has other such types, or pods that ask for it name the pool. */
function isMeantForNvidia(workspace: Workspace, pool: Resource): boolean {
  const spec = readNodePool(pool);
  const nvidia = 'nvidia.com/gpu';
  if (spec.taints?.some(({ key }) => key === nvidia) === true) return true;
  if (entryOf(mapIn(pool.root, 'spec', 'limits'), nvidia) !== undefined) return true;
  if (
    spec.requirements.some(
      ({ key, operator, values }) =>
        key.endsWith('/instance-gpu-manufacturer') &&
        operator === 'In' &&
        values?.includes('nvidia') === true,
    )
  )
    return true;
  const types = typesOf(pool).types;
  const offered = types.filter((type) => acceleratorResource(type) === nvidia && (type.gpus?.count ?? 0) > 0);
  if (offered.some(({ gpus }) => gpus?.name !== 't4g')) return true;
  return templatesNear(workspace, pool).some(
    (template) =>
      acceleratorsOfPod(template).some(({ resource }) => resource === nvidia) &&
      namesPool(podOf(workspace, template), spec),
  );
}

function withoutValue(pool: Resource, requirement: NodeRequirement, node: ScalarNode): Fix | undefined {
  const values = entryOf(requirement.node, 'values')?.value;
  if (!isSequence(values) || values.items.length < 2) return undefined;
  const edits = removeItem(pool.placed.document, values, values.items.indexOf(node));
  return edits === undefined ? undefined : { title: `Remove ${node.text}`, safe: false, edits };
}
