import type { Accelerator, AcceleratorVendor } from '../../kube/accelerators';

/**
 * The taints by which nodes are kept for their accelerators, by custom: the name of the resource of a whole device,
 * whatever part of one a pod asks for.
 */
const keys: Readonly<Partial<Record<AcceleratorVendor, string>>> = {
  nvidia: 'nvidia.com/gpu',
  amd: 'amd.com/gpu',
  aws: 'aws.amazon.com/neuron',
  habana: 'habana.ai/gaudi',
};

/** The key of the taint that nodes with this accelerator usually have; `undefined` for claims and unknown devices. */
export function taintKeyOf(accelerator: Accelerator): string | undefined {
  return accelerator.unit === 'claim' ? undefined : keys[accelerator.vendor];
}

/** Keys of people's own taints on accelerator nodes: `gpu-node`, `sku-gpu`, `example.com/accelerator`. */
export function looksLikeAcceleratorTaint(key: string): boolean {
  return /gpu|nvidia|accelerator|neuron|inferentia|trainium|gaudi|habana/i.test(key);
}
