import type { UserModel } from '../../sizing/models/types';
import type { ModelServer } from '../../kube/model-server';
import type { Setting } from '../../kube/settings';
import { engineOf, type Serving } from '../../sizing/from-manifest';
import { olderThan } from '../../sizing/memory/engines';
import { gpuChoices, type GpuChoice } from '../../sizing/gpu-choices';
import {
  nativeFp4,
  precisionOfWeights,
  tooOldFor,
  type Precision,
  type TooOld,
} from '../../sizing/precision-limits';
import type { Workspace } from '../../workspace/workspace';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Fix, type Place } from '../rule';
import { addFlag, setSetting } from './flags';
import { choiceText, gpuMayBePatched, poolsFor, servingIn, serversIn } from './servings';

export default defineRule({
  id: 'dtype-unsupported-on-gpu',
  summary: 'A GPU must support the number format of the weights',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    for (const server of serversIn(workspace, resource)) {
      const gpus = gpuChoices(server.container, poolsFor(workspace, server.container.template));
      if (!gpus.named || gpus.choices.length === 0) continue;
      for (const used of formatsOf(server, workspace, models)) {
        const tooOld = gpus.choices.flatMap((choice) => {
          const why = tooOldFor(choice.gpu, used.precision, server.engine, engineOf(server));
          return why === undefined ? [] : [{ choice, why }];
        });
        const [first] = tooOld;
        if (first === undefined) {
          if (!gpus.exhaustive || !unpacksFp4(server, used.precision, gpus.choices)) continue;
          if (gpuMayBePatched(workspace, resource)) continue;
          report({
            at: used.at,
            severity: 'info',
            message: `${containerTitle(server.container)} loads NVFP4 weights, for which ${gpus.choices.map(choiceText).join(', ')} has no tensor cores; they save memory, but are unpacked for each use, so that nothing is computed faster`,
            ...containerField(server.container),
          });
          continue;
        }
        if (gpuMayBePatched(workspace, resource)) continue;
        const all = tooOld.length === gpus.choices.length;
        report({
          at: used.at,
          severity: all && gpus.exhaustive ? 'error' : 'warning',
          message: messageFor(server, used, first, all),
          evidence: tooOld.map(({ choice, why }) => `${choice.label}: ${why.source}`),
          fixes: [halfFor(server, used)],
          ...containerField(server.container),
        });
      }
    }
  },
});

interface Used {
  readonly precision: Precision;
  /** The start of a sentence: `computes in bfloat16, which takes`. */
  readonly what: string;
  readonly at: Place;
  /** Where another format can be named; `flag`: none is named yet. */
  readonly setting: Setting | 'flag' | undefined;
}

/**
 * vLLM before 0.9 takes the type of the checkpoint as it is; later versions fall back to float16 on older cards by
 * themselves (vllm#17265). A version that the image does not tell is taken to be new enough.
 */
function takesModelType(server: ModelServer, serving: Serving | undefined): boolean {
  const { dtype } = server;
  const isLeftOpen = dtype.state === 'absent' || (dtype.state === 'known' && /^auto$/i.test(dtype.value));
  if (serving === undefined || !isLeftOpen || server.engine !== 'vllm') return false;
  const { model, engine, config } = serving;
  const isStored = model.model?.dtype === 'bf16' && config?.quantization === 'bf16';
  return isStored && model.matchedBy !== 'name-size' && olderThan(engine, 0, 9);
}

/** The formats that a server certainly uses, each with the place that says so. */
function formatsOf(server: ModelServer, workspace: Workspace, models: readonly UserModel[]): readonly Used[] {
  const found: Used[] = [];
  const { dtype, quantization, model } = server;
  if (dtype.state === 'known' && /^(bf16|bfloat16)$/i.test(dtype.value)) {
    found.push({
      precision: 'bfloat16',
      what: 'computes in bfloat16, which takes',
      at: dtype.at,
      setting: dtype,
    });
  }
  const serving = servingIn(workspace, server, models);
  const loaded = serving?.config?.quantization;
  if (takesModelType(server, serving) && model.state === 'known') {
    const what = 'computes in bfloat16 as its model is stored, which takes';
    found.push({ precision: 'bfloat16', what, at: model.at, setting: 'flag' });
  }
  const weights = loaded === undefined ? undefined : precisionOfWeights(loaded);
  const place = quantization.state === 'known' && quantization.value !== '' ? quantization : model;
  if (weights !== undefined && place.state === 'known') {
    // FP8 by NVIDIA's Model Optimizer has other kernels than the FP8 of everybody else.
    const isModelOpt = weights === 'fp8' && place === quantization && /^modelopt/i.test(place.value);
    const precision: Precision = isModelOpt ? 'modelopt-fp8' : weights;
    const name = isModelOpt ? 'ModelOpt FP8' : precision.toUpperCase();
    found.push({ precision, what: `loads ${name} weights, which take`, at: place.at, setting: undefined });
  }
  return found;
}

/** Weight-only kernels run FP4 on older cards; that is worth a word, not more. */
function unpacksFp4(server: ModelServer, precision: Precision, choices: readonly GpuChoice[]): boolean {
  return (
    precision === 'nvfp4' &&
    server.engine !== 'tensorrt-llm' &&
    choices.every(({ gpu }) => gpu.vendor === 'nvidia' && (gpu.computeCapability ?? nativeFp4) < nativeFp4)
  );
}

function messageFor(
  server: ModelServer,
  { what }: Used,
  { choice, why }: { readonly choice: GpuChoice; readonly why: TooOld },
  all: boolean,
): string {
  const has = choice.gpu.computeCapability?.toFixed(1) ?? '';
  const then = all
    ? `has ${has}, and ${server.title} refuses to start`
    : `is among the GPUs that the pod may get, has ${has}, and ${server.title} refuses to start there`;
  return `${containerTitle(server.container)} ${what} compute capability ${why.least.toFixed(1)}; ${choiceText(choice)} ${then}`;
}

/** The 16-bit format that every GPU has. */
function halfFor(server: ModelServer, { precision, setting }: Used): Fix | undefined {
  if (precision !== 'bfloat16' || setting === undefined) return undefined;
  const edits =
    setting !== 'flag'
      ? setSetting(server, setting, 'float16')
      : server.dtype.state === 'known'
        ? setSetting(server, server.dtype, 'float16')
        : addFlag(server, '--dtype', 'float16');
  return edits && { title: 'Compute in float16', safe: false, edits };
}
