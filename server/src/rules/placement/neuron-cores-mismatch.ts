import { amountOf, containers, effectiveRequest, type Container } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { toNumber } from '../../kube/quantity';
import { valueOf } from '../../kube/settings';
import type { Workspace } from '../../workspace/workspace';
import { containerField, containerTitle } from '../resources/wording';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';
import { possibleTypes } from './possible-types';
import { amountWords } from './words';

const device = 'aws.amazon.com/neuron';
const core = 'aws.amazon.com/neuroncore';

/** The most NeuronCores of any device (Trainium2), where the type is not known. */
const mostCoresOfDevice = 8;

export default defineRule({
  id: 'neuron-cores-mismatch',
  summary: 'A Neuron server asks for the cores that its tensor parallelism uses, in one unit',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource)) {
      for (const container of containers(template)) {
        const devices = effectiveRequest(container, device);
        const cores = effectiveRequest(container, core);
        if (devices !== undefined && cores !== undefined && isSome(devices) && isSome(cores)) {
          report({
            at: (amountOf(container.limits, core) ?? cores).entry,
            message: `${containerTitle(container)} asks for ${device} and ${core} both: they are two ways to count the same devices, which the plug-in hands out twice or not at all, so the pod does not start`,
            ...containerField(container),
          });
          continue;
        }
        const server = modelServerOf(container);
        const tensor = server === undefined ? undefined : valueOf(server.tensorParallel);
        const has = coresOf(workspace, container);
        if (server === undefined || tensor === undefined || has === undefined || tensor <= has.cores)
          continue;
        if (mayBePatched(workspace, resource, 'neuron')) continue;
        report({
          at: server.tensorParallel.state === 'known' ? server.tensorParallel.at : has.at,
          message: `${containerTitle(container)} spreads its model over ${tensor} NeuronCores and asks for ${has.words}: the server does not start`,
          related: [{ resource, at: has.at, message: `It asks for ${has.words}` }],
          ...containerField(container),
        });
      }
    }
  },
});

type Amount = NonNullable<ReturnType<typeof effectiveRequest>>;

function isSome({ quantity }: Amount): boolean {
  return quantity !== undefined && toNumber(quantity) > 0;
}

interface Cores {
  readonly cores: number;
  readonly words: string;
  readonly at: Amount['entry'];
}

/** The NeuronCores that a container gets at most; `undefined` when it asks for none, or that is not known. */
function coresOf(workspace: Workspace, container: Container): Cores | undefined {
  const cores = effectiveRequest(container, core);
  if (cores?.quantity !== undefined) {
    const count = toNumber(cores.quantity);
    return {
      cores: count,
      words: amountWords(core, count),
      at: (amountOf(container.limits, core) ?? cores).entry,
    };
  }
  const devices = effectiveRequest(container, device);
  if (devices?.quantity === undefined || cores !== undefined) return undefined;
  const count = toNumber(devices.quantity);
  const possible = possibleTypes(workspace, container.template);
  const each = (possible?.types ?? []).map(({ accelerators }) => accelerators?.coresPerDevice ?? 0);
  const most =
    possible?.complete === true && each.length > 0 && !each.includes(0)
      ? Math.max(...each)
      : mostCoresOfDevice;
  return {
    cores: count * most,
    words: `${amountWords(device, count)} with at most ${most} cores each`,
    at: (amountOf(container.limits, device) ?? devices).entry,
  };
}
