import { soleAccelerator } from '../../sizing/gpu-choices';
import type { Serving } from '../../sizing/from-manifest';
import { neuronDevices, type NeuronDevice } from '../../sizing/gpus';
import { storedWeights } from '../../sizing/memory/loaded-weights';
import { schemeOf, type QuantizationId } from '../../sizing/models/quantization';
import { MiB } from '../../sizing/models/range';
import type { Workspace } from '../../workspace/workspace';
import { possibleTypes } from '../placement/possible-types';

/** Weights that are more than the Neuron devices of a replica can hold together. */
export interface NeuronShortage {
  /** Bytes, at least. */
  readonly weights: number;
  readonly precision: string;
  /** Bytes of all devices or cores that the replica is given, at most. */
  readonly memory: number;
  /** `1 Neuron device`, `2 NeuronCores`. */
  readonly asked: string;
  readonly device: NeuronDevice;
  /** Selectors or pools leave these devices only; else it is the largest that there is. */
  readonly named: boolean;
}

/**
 * Whether the weights of a server certainly exceed the memory of its Neuron devices. The compiled graph, the KV cache and
 * the runtime come on top, and are left out in the author's favour; so is that a NeuronCore reaches its own part of a
 * device's memory only.
 *
 * @returns `undefined` where they may fit, or where anything that matters is only known later.
 */
export function neuronShortage(workspace: Workspace, serving: Serving): NeuronShortage | undefined {
  const { server, group, model, engine } = serving;
  const { container } = server;
  const accelerator = soleAccelerator(container);
  if (engine.kind !== 'neuron' || accelerator?.vendor !== 'aws' || accelerator.count === undefined)
    return undefined;
  if (group.pods === undefined || group.shared) return undefined;
  const possible = possibleTypes(workspace, container.template);
  const names = new Set(
    (possible?.complete === true ? possible.types : []).flatMap(
      ({ accelerators }) => accelerators?.name ?? [],
    ),
  );
  const left = neuronDevices.filter(({ id }) => names.has(id));
  const named = left.length > 0;
  const device = (named ? left : neuronDevices).reduce((a, b) => (b.memoryMiB > a.memoryMiB ? b : a));
  const count = accelerator.count * group.pods;
  const isCore = accelerator.unit === 'core';
  // Trainium2 can join two physical cores to a logical one, which is then what a pod asks for.
  const coresOfOne = device.id === 'trainium2' ? 2 : 1;
  const each = isCore ? (device.memoryMiB * coresOfOne) / device.cores : device.memoryMiB;
  const memory = count * each * MiB;
  // Nothing is kept in fewer than 8 bit there; what is only known later may be.
  const quantization: QuantizationId = serving.config?.quantization ?? 'int8';
  const weights = storedWeights(model, quantization, model.bitsPerWeight).low;
  if (!(weights > memory)) return undefined;
  const unit = isCore ? ['NeuronCore', 'NeuronCores'] : ['Neuron device', 'Neuron devices'];
  return {
    weights,
    precision: schemeOf(quantization).label,
    memory,
    asked: `${count} ${count === 1 ? unit[0] : unit[1]}`,
    device,
    named,
  };
}
