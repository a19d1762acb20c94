import { envOf } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import { identifyModel } from '../../sizing/models/identify';
import { entryOf } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { setSetting } from './flags';
import { serversOf, tokenText } from './servings';

/** Servers that compare the length with the model's own, with the variable by which they let it pass. */
const refuses: Readonly<Partial<Record<ModelServer['engine'], string>>> = {
  vllm: 'VLLM_ALLOW_LONG_MAX_MODEL_LEN',
  kserve: 'VLLM_ALLOW_LONG_MAX_MODEL_LEN',
  'ray-serve-llm': 'VLLM_ALLOW_LONG_MAX_MODEL_LEN',
  dynamo: 'VLLM_ALLOW_LONG_MAX_MODEL_LEN',
  lmi: 'VLLM_ALLOW_LONG_MAX_MODEL_LEN',
  sglang: 'SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN',
};

/** Options that give the model another maximum. */
const overriding: readonly string[] = [
  'hf-overrides',
  'rope-scaling',
  'rope-theta',
  'json-model-override-args',
  'hf-config-path',
  'config-format',
];

/**
 * Families whose `max_position_embeddings` is what engines take. Elsewhere a scaling in the configuration, or a second
 * key, makes more of it (`deepseek-coder`, `internlm2_5`, Mistral's own format).
 */
const plainFamilies =
  /^(qwen\/qwen(2|2\.5|3)-|meta-llama\/|google\/gemma-[23]-|microsoft\/phi-4$|mistralai\/(mistral-7b|mixtral-8x7b)-)/i;

export default defineRule({
  id: 'context-exceeds-model',
  summary: 'Requests must not be longer than the model was made for',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, models: userModels }) {
    for (const server of serversOf(resource)) {
      const { maxModelLen: length, model, container, arguments: words } = server;
      const variable = refuses[server.engine];
      if (variable === undefined || length.state !== 'known' || model.state !== 'known' || words.open)
        continue;
      const identity = identifyModel(model.value, { userModels });
      const most = identity?.model?.maxPositions;
      if (identity?.matchedBy !== 'catalogue' || most === undefined || length.value <= most) continue;
      if (!plainFamilies.test(identity.name)) continue;
      if (overriding.some((option) => words.get(option).state !== 'absent')) continue;
      // What comes from elsewhere may hold it.
      if (
        envOf(container).some(({ name }) => name === variable) ||
        entryOf(container.node, 'envFrom') !== undefined
      )
        continue;
      const edits = setSetting(server, length, String(most));
      report({
        at: length.at,
        message: `${containerTitle(container)} allows requests of ${tokenText(length.value)} tokens, and ${model.value} was made for ${tokenText(most)}; ${server.title} refuses to start`,
        fixes: [edits && { title: `Allow ${most} tokens`, safe: false, edits }],
        evidence: identity.reasons,
        ...containerField(container),
      });
    }
  },
});
