import type { ModelServer } from '../../kube/model-server';
import { formatBytes } from '../../kube/quantity';
import { estimateOn, type Serving } from '../../sizing/from-manifest';
import type { GpuChoice } from '../../sizing/gpu-choices';
import type { MemoryEstimate } from '../../sizing/memory/estimate';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Fix, type Severity } from '../rule';
import { addFlag, addVariable, setSetting } from './flags';
import { choiceText, gpuMayBePatched, servingIn, serversIn, tokenText } from './servings';

/** Servers that compare the longest request with the cache before they start, and refuse. */
const refuses: ReadonlySet<ModelServer['engine']> = new Set([
  'vllm',
  'kserve',
  'ray-serve-llm',
  'lmi',
  'dynamo',
  'nim',
]);

export default defineRule({
  id: 'context-exceeds-kv-cache',
  summary: 'A request of the maximum length must fit into the KV cache',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    for (const server of serversIn(workspace, resource)) {
      if (!refuses.has(server.engine)) continue;
      const serving = servingIn(workspace, server, models);
      const judged = serving === undefined ? undefined : judge(serving);
      if (serving === undefined || judged === undefined || gpuMayBePatched(workspace, resource)) continue;
      const { maxModelLen, model } = server;
      const setting = maxModelLen.state === 'known' ? maxModelLen : model;
      if (setting.state !== 'known') continue;
      report({
        at: setting.at,
        severity: judged.severity,
        message: messageFor(serving, judged),
        fixes: [shorten(server, judged)],
        evidence: [
          ...(judged.estimate.kvPerToken?.reasons ?? []),
          ...judged.estimate.reasons,
          ...serving.assumptions,
        ],
        ...containerField(server.container),
      });
    }
  },
});

interface Judged {
  readonly severity: Severity;
  readonly choice: GpuChoice;
  readonly estimate: MemoryEstimate;
  /** Some GPUs that the pod may get have the room. */
  readonly others: boolean;
}

function judge({ server, gpus, config, contextKnown, model }: Serving): Judged | undefined {
  if (config === undefined || !contextKnown || !gpus.named) return undefined;
  const all = gpus.choices.map((choice) => ({ choice, estimate: estimateOn(config, choice) }));
  // Weights that do not fit are another matter.
  if (all.some(({ estimate }) => estimate.weightsFit === 'no')) return undefined;
  const failing = all.filter(({ estimate }) => estimate.contextFits === 'no');
  const likely = all.filter(({ estimate }) => failsExpected(estimate));
  const isWritten = server.maxModelLen.state === 'known';
  // A fine-tune may say another maximum than its base, and a NIM chooses its own profile.
  const isCertain = (isWritten || model.matchedBy !== 'family') && server.engine !== 'nim';
  const shown = failing.length === all.length ? failing.at(-1) : (failing[0] ?? undefined);
  if (shown !== undefined) {
    const others = failing.length < all.length;
    return { ...shown, others, severity: !others && gpus.exhaustive && isCertain ? 'error' : 'warning' };
  }
  const best = likely.at(-1);
  return best !== undefined && likely.length === all.length && isCertain && gpus.exhaustive
    ? { ...best, others: false, severity: 'warning' }
    : undefined;
}

/**
 * What is expected to be left is too little. Only for models whose need is exact: with windows and linear attention it
 * depends on the version, by more than what is left.
 */
function failsExpected({ kvNeeded, kv }: MemoryEstimate): boolean {
  if (kvNeeded === undefined || kv === undefined || kvNeeded.low < kvNeeded.high) return false;
  return kvNeeded.expected > kv.available.expected;
}

function messageFor(serving: Serving, { choice, estimate, severity, others }: Judged): string {
  const { server, name, config } = serving;
  const { maxModelLen, kvNeeded, kv } = estimate;
  const tokens = tokenText(maxModelLen ?? 0);
  const who = containerTitle(server.container);
  const what =
    server.maxModelLen.state === 'known'
      ? `${who} allows requests of ${tokens} tokens`
      : `${who} sets no maximum length, so that ${name}'s own ${tokens} tokens hold`;
  const copies = (config?.tensorParallel ?? 1) * (config?.pipelineParallel ?? 1) > 1 ? ' on each GPU' : '';
  const available = kv === undefined ? '' : formatBytes(kv.available.expected);
  const needs = `they need ${formatBytes(kvNeeded?.expected ?? 0)} of KV cache${copies}, and ${choiceText(choice)} has about ${available} left for it`;
  const longest = kv?.longestRequest;
  const most =
    longest === undefined || longest.high <= 0
      ? ''
      : `; the largest length that fits is about ${tokenText(longest.expected)} (${tokenText(longest.low)} to ${tokenText(longest.high)})`;
  const then = others
    ? `${server.title} refuses to start where the pod gets it`
    : severity === 'error'
      ? `${server.title} refuses to start`
      : `${server.title} probably refuses to start`;
  return `${what}: ${needs}; ${then}${most}`;
}

/** A length that fits even at the lower bound, in whole kibi-tokens. */
function lengthFor({ kv }: MemoryEstimate): number | undefined {
  const longest = kv?.longestRequest;
  if (longest === undefined) return undefined;
  const tokens = longest.low > 0 ? longest.low : longest.expected * 0.8;
  const step = tokens >= 4096 ? 1024 : 256;
  const rounded = Math.floor(tokens / step) * step;
  return rounded >= 256 ? rounded : undefined;
}

function shorten(server: ModelServer, { estimate }: Judged): Fix | undefined {
  const length = lengthFor(estimate);
  if (length === undefined) return undefined;
  const names: Readonly<Partial<Record<ModelServer['engine'], string>>> = {
    lmi: 'OPTION_MAX_MODEL_LEN',
    nim: 'NIM_MAX_MODEL_LEN',
  };
  const variable = names[server.engine];
  const edits =
    server.maxModelLen.state === 'known'
      ? setSetting(server, server.maxModelLen, String(length))
      : variable === undefined
        ? addFlag(server, '--max-model-len', String(length))
        : addVariable(server, variable, String(length));
  return edits && { title: `Set ${variable ?? '--max-model-len'} to ${length}`, safe: false, edits };
}
