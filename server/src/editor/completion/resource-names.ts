import { isMap } from '../../yaml/node';
import type { SuggestionSource } from './suggestion';

/** What a container can ask for on EKS. */
const resources: readonly { readonly name: string; readonly about: string; readonly value: string }[] = [
  { name: 'cpu', about: 'Cores, or thousandths of one with m', value: '' },
  { name: 'memory', about: 'Bytes: Gi and Mi are powers of 1,024', value: '' },
  {
    name: 'ephemeral-storage',
    about: "Bytes of the node's disk: container layers, logs and emptyDir volumes",
    value: '',
  },
  { name: 'nvidia.com/gpu', about: 'Whole NVIDIA GPUs; the limit is also the request', value: '"1"' },
  {
    name: 'nvidia.com/gpu.shared',
    about: 'Time slices of NVIDIA GPUs, where the device plugin renames them',
    value: '"1"',
  },
  {
    name: 'nvidia.com/mig-1g.10gb',
    about: 'A slice of an NVIDIA GPU with MIG: one seventh, 10 GB',
    value: '"1"',
  },
  {
    name: 'nvidia.com/mig-3g.40gb',
    about: 'A slice of an NVIDIA GPU with MIG: three sevenths, 40 GB',
    value: '"1"',
  },
  { name: 'aws.amazon.com/neuron', about: 'Whole Inferentia or Trainium devices', value: '"1"' },
  { name: 'aws.amazon.com/neuroncore', about: 'Cores of Inferentia or Trainium devices', value: '"1"' },
  {
    name: 'vpc.amazonaws.com/efa',
    about: 'Elastic Fabric Adapters, for pods that share one model',
    value: '"1"',
  },
  { name: 'hugepages-2Mi', about: 'Memory in large pages, which EFA asks for', value: '5120Mi' },
];

/** Resources of `requests` and `limits`. */
export const resourceNameSuggestions: SuggestionSource = ({ cursor: { kind, path, holders } }) => {
  const field = path.at(-1);
  if (kind !== 'key' || (field !== 'requests' && field !== 'limits') || path.at(-2) !== 'resources')
    return [];
  const map = holders.at(-1);
  const used = new Set(isMap(map) ? map.entries.map(({ key }) => key.text) : []);
  return resources
    .filter(({ name }) => !used.has(name))
    .map(({ name, about, value }, index) => ({
      label: name,
      insert: `${name}: ${value}`,
      kind: 'key',
      documentation: about,
      order: String(index).padStart(2, '0'),
    }));
};
