import { acceleratorCount } from '../../kube/accelerators';
import { amountOf, amountState, containers, type Container } from '../../kube/containers';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { otherCloud } from '../../kube/clouds';
import { modelServers } from '../../kube/model-server';
import { valueOr } from '../../kube/settings';
import { nvidiaGpus, type InstanceType } from '../../sizing/nodes/instances';
import { insertKey, type Edit } from '../../yaml/edit';
import { mapIn, scalarIn } from '../../yaml/node';
import { containerField, containerTitle, scalarLike } from '../resources/wording';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix } from '../rule';
import { possibleTypes } from './possible-types';
import { someOf } from './words';

const gpu = 'nvidia.com/gpu';
const efa = 'vpc.amazonaws.com/efa';

export default defineRule({
  id: 'missing-efa-for-multi-node',
  summary: 'A model that is spread over nodes with eight GPUs asks for their EFA interfaces',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource)) {
      const pods = podsOfGroup(template);
      // Only pods that have a node of eight GPUs to themselves.
      if (pods === undefined || acceleratorCount(template, gpu) !== 8) continue;
      if (otherCloud(template) !== undefined || reachesHost(template)) continue;
      const container = containers(template).find(
        (one) => one.kind === 'main' && amountOf(one.limits, gpu) !== undefined,
      );
      const asked = container === undefined ? undefined : amountOf(container.limits, gpu);
      if (container === undefined || asked === undefined || !isWithoutEfa(template)) continue;
      const types = fastTypes(possibleTypes(workspace, template)?.types ?? []);
      const [first] = types;
      if (first === undefined || mayBePatched(workspace, resource, 'efa')) continue;
      const counts = new Set(types.map(({ efaInterfaces }) => efaInterfaces));
      const names = someOf(types.map(({ name }) => name));
      report({
        at: asked.entry,
        message: `${containerTitle(container)} is one of ${pods} pods that share a model on ${names} and asks for no ${efa}: NCCL falls back to TCP, and the GPUs wait for the network`,
        ...containerField(container),
        fixes: [counts.size === 1 ? askFor(container, first.efaInterfaces) : undefined],
      });
    }
  },
});

/** Kinds whose replicas train one model together. */
const trainedTogether: readonly string[] = ['PyTorchJob', 'MPIJob', 'JAXJob'];

/** How many pods one model is certainly spread over, where it is several. */
function podsOfGroup(template: PodTemplate): number | undefined {
  const { resource, groupSize, replicas } = template;
  if (trainedTogether.includes(resource.kind)) {
    return replicas.known && replicas.value > 1 ? replicas.value : undefined;
  }
  if (!groupSize.known || groupSize.value < 2) return undefined;
  // The workers of Ray may each hold a model of their own.
  if (resource.group === 'ray.io' && !podTemplates(resource).some(spansPods)) return undefined;
  return groupSize.value;
}

/** Some engine wants more than the eight GPUs of one pod. */
function spansPods(template: PodTemplate): boolean {
  return modelServers(template).some((server) => {
    const tensor = valueOr(server.tensorParallel, 1);
    const pipeline = valueOr(server.pipelineParallel, 1);
    return tensor !== undefined && pipeline !== undefined && tensor * pipeline > 8;
  });
}

/** Privileged pods on the network of the host see its EFA devices without asking. */
function reachesHost(template: PodTemplate): boolean {
  return (
    scalarIn(template.spec, 'hostNetwork')?.value === true &&
    containers(template).some(({ node }) => scalarIn(node, 'securityContext', 'privileged')?.value === true)
  );
}

function isWithoutEfa(template: PodTemplate): boolean {
  return containers(template).every(
    (container) =>
      amountState(container, 'limits', efa) === 'absent' &&
      amountState(container, 'requests', efa) === 'absent',
  );
}

/** All of the types, when each has eight GPUs and several interfaces; none otherwise. */
function fastTypes(types: readonly InstanceType[]): readonly InstanceType[] {
  return types.every((type) => nvidiaGpus(type) === 8 && type.category === 'p' && type.efaInterfaces >= 4)
    ? types
    : [];
}

function askFor(container: Container, count: number): Fix | undefined {
  const { document } = container.template.resource.placed;
  const edits: Edit[] = [];
  for (const where of ['requests', 'limits'] as const) {
    const map = mapIn(container.resources, where);
    const devices = amountOf(container[where], gpu);
    if (map === undefined || devices === undefined || devices.entry.value.kind !== 'scalar') continue;
    const added = insertKey(document, map, efa, scalarLike(devices.entry.value, String(count)), {
      after: gpu,
    });
    if (added === undefined) return undefined;
    edits.push(...added);
  }
  return edits.length === 0 ? undefined : { title: `Ask for ${count} EFA interfaces`, safe: false, edits };
}
