import { valueOf } from '../../kube/settings';
import { isOn } from '../../sizing/from-manifest';
import { identifyModel } from '../../sizing/models/identify';
import { divides } from '../../sizing/placements';
import type { ModelServer } from '../../kube/model-server';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { serversOf } from './servings';

/** Servers that give each GPU whole attention heads, and stop where that does not come out even. */
const cutsHeads: ReadonlySet<ModelServer['engine']> = new Set([
  'vllm',
  'kserve',
  'ray-serve-llm',
  'dynamo',
  'lmi',
  'sglang',
  'tgi',
  'tensorrt-llm',
]);

export default defineRule({
  id: 'tensor-parallel-not-divisible',
  summary: 'Tensor parallel must divide the attention heads of the model',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, models: userModels }) {
    for (const server of serversOf(resource)) {
      const { tensorParallel, container } = server;
      const name = valueOf(server.model);
      // Data parallel attention divides the heads over a part of the group.
      const sharesGroup = isOn(server.arguments.get('enable-dp-attention')) || server.arguments.open;
      if (
        !cutsHeads.has(server.engine) ||
        name === undefined ||
        tensorParallel.state !== 'known' ||
        sharesGroup
      ) {
        continue;
      }
      const { value } = tensorParallel;
      const model = identifyModel(name, { userModels });
      const heads = model?.model?.shape?.heads ?? 0;
      if (model === undefined || !Number.isInteger(value) || value < 1 || divides({ model }, value)) continue;
      report({
        at: tensorParallel.at,
        message: `${containerTitle(container)} cuts ${name} for tensor parallel ${value}, which does not divide its ${heads} attention heads; ${server.title} refuses to start (${dividers(heads)} would do)`,
        evidence: model.reasons,
        ...containerField(container),
      });
    }
  },
});

/** The numbers of GPUs that people use and that divide the heads: `1, 2, 4, 5 or 8`. */
function dividers(heads: number): string {
  const found = [1, 2, 3, 4, 5, 6, 7, 8, 16].filter((count) => heads % count === 0).map(String);
  const last = found.pop() ?? '';
  return found.length === 0 ? last : `${found.join(', ')} or ${last}`;
}
