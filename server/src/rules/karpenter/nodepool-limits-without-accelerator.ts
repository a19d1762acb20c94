import { acceleratorsOnly, typesOf } from '../../sizing/nodes/read-pool';
import { acceleratorKind } from '../../kube/accelerators';
import { amount } from '../../sizing/nodes/resources';
import { nvidiaGpus, type InstanceType } from '../../sizing/nodes/instances';
import { insertKey, renameKey } from '../../yaml/edit';
import { entryOf, isMap, isNull, isScalar, mapIn, type MapNode } from '../../yaml/node';
import { amountWords, listWords } from '../placement/words';
import { defineRule, type Fix } from '../rule';

/** Resources that count the same devices. */
const counted: Readonly<Record<string, readonly string[]>> = {
  'aws.amazon.com/neuron': ['aws.amazon.com/neuron', 'aws.amazon.com/neuroncore'],
};

export default defineRule({
  id: 'nodepool-limits-without-accelerator',
  summary: 'The limits of a pool of accelerator nodes count its accelerators',
  severity: 'info',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report }) {
    if (resource.group !== 'karpenter.sh' || resource.role === 'kustomize-patch') return;
    const entry = entryOf(mapIn(resource.root, 'spec'), 'limits');
    const limits = entry?.value;
    if (entry === undefined || !isMap(limits) || limits.open || limits.entries.length === 0) return;
    const accelerators = acceleratorsOnly(resource);
    const [accelerator] = accelerators;
    if (accelerator === undefined) return;
    const written = limits.entries.filter(({ value }) => !isNull(value));
    const counts = accelerators.flatMap((name) => counted[name] ?? [name]);
    // A number of nodes bounds their accelerators as well.
    if (written.some(({ key }) => key.unknown || key.text === 'nodes' || counts.includes(key.text))) return;
    const { document } = resource.placed;
    const foreign = written.find(({ key }) => acceleratorKind(key.text) !== undefined);
    if (foreign !== undefined) {
      const edits = accelerators.length === 1 ? renameKey(document, foreign, accelerator) : undefined;
      report({
        at: foreign,
        message: `The limits of NodePool "${resource.name ?? ''}" count ${foreign.key.text}, which none of its types has: its nodes have ${listWords(accelerators)}, and this limit never holds`,
        fixes: [edits === undefined ? undefined : { title: `Count ${accelerator}`, safe: false, edits }],
      });
      return;
    }
    const names = written.map(({ key }) => key.text);
    report({
      at: entry,
      message: `The limits of NodePool "${resource.name ?? ''}" count ${listWords(names)} only${most(limits, typesOf(resource).types)}: the accelerators, which cost most, are bounded only by the way`,
      fixes: [accelerators.length > 1 ? undefined : addLimit(limits, accelerator)],
    });

    function addLimit(map: MapNode, name: string): Fix | undefined {
      const edits = insertKey(document, map, name, '16');
      return edits === undefined ? undefined : { title: `Limit ${name} to 16`, safe: false, edits };
    }
  },
});

/** How many GPUs a limit on CPUs leaves room for, at the fewest CPUs for each. */
function most(limits: MapNode, types: readonly InstanceType[]): string {
  const written = entryOf(limits, 'cpu')?.value;
  const cpu = isScalar(written) && !written.unknown ? amount('cpu', written.text) : undefined;
  if (cpu === undefined) return '';
  let gpus = 0;
  let name = '';
  for (const type of types) {
    const here = Math.floor(cpu / 1000 / type.vcpu) * nvidiaGpus(type);
    if (here > gpus) {
      gpus = here;
      name = type.name;
    }
  }
  return gpus === 0 ? '' : `, which admits ${amountWords('nvidia.com/gpu', gpus)} (${name})`;
}
