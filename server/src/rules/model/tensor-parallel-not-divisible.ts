import { valueOf } from '../../kube/settings';
import { dealsOutExperts, isOn } from '../../sizing/from-manifest';
import { identifyModel } from '../../sizing/models/identify';
import { unevenSplit, unevenText, type UnevenSplit } from '../../sizing/placements';
import type { ModelServer } from '../../kube/model-server';
import { listWords } from '../placement/words';
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

/** Those of them whose source says that it stops over KV heads and over FP8 blocks, too. */
const cutsAll: ReadonlySet<ModelServer['engine']> = new Set(
  [...cutsHeads].filter((engine) => engine !== 'tgi'),
);

export default defineRule({
  id: 'tensor-parallel-not-divisible',
  summary: 'Tensor parallel must divide the attention heads, the KV heads and the FP8 blocks of the model',
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
      if (model === undefined || !Number.isInteger(value) || value < 1) continue;
      const expertParallel = dealsOutExperts(server);
      const split = (count: number): UnevenSplit | undefined => {
        const uneven = unevenSplit({ model, expertParallel }, count);
        return uneven?.what === 'heads' || cutsAll.has(server.engine) ? uneven : undefined;
      };
      const uneven = split(value);
      if (uneven === undefined) continue;
      const others = counts.filter((count) => split(count) === undefined).map(String);
      const whole = uneven.what === 'expert-blocks' ? ', and so would --enable-expert-parallel' : '';
      report({
        at: tensorParallel.at,
        message: `${containerTitle(container)} cuts ${name} for tensor parallel ${value}, which ${unevenText(uneven)}; ${server.title} refuses to start (${listWords(others, 'or')} would do${whole})`,
        evidence: model.reasons,
        ...containerField(container),
      });
    }
  },
});

/** The numbers of GPUs that people use. */
const counts: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 16];
