import type { Gpu } from '../gpus';
import type { QuantizationId } from '../models/quantization';
import { unpadded, type ExpertPadding } from '../models/weights';
import type { Engine } from './engines';

/** What the kernels may round the matrices of experts up to, from the least to the most. */
export interface ExpertPaddings {
  readonly low: ExpertPadding;
  readonly expected: ExpertPadding;
  readonly high: ExpertPadding;
}

/** Marlin: vLLM logs of gpt-oss-20b say 13.72 GiB, of 120b on an H100 65.97 GiB. */
const marlin: ExpertPadding = { inner: 128, hidden: 256 };
/** OpenAI's Triton kernels as they lay values out on Hopper: gpt-oss-120b takes 64.38 GiB of an H100 (vLLM 0.14). */
const triton: ExpertPadding = { inner: 64, hidden: 256 };
/** FlashInfer's CUTLASS kernels. */
const cutlass: ExpertPadding = { inner: 128, hidden: 128 };
/** FlashInfer's TensorRT-LLM kernels, the default on Blackwell's data-centre cards. */
const trtllm: ExpertPadding = { inner: 256, hidden: 256 };

/**
 * MXFP4 experts are stored in the tiles of the kernel that runs them, and which one that is depends on the card. The
 * sizes of gpt-oss (2880 both ways) are no multiple of any tile, so 4 to 14 % come on top of the file.
 *
 * Sources: vLLM `layers/quantization/mxfp4.py` (rounding by backend), SGLang `layers/quantization/mxfp4.py`, and the
 * sizes that vLLM logged (issues 23278 and 33155).
 */
export function expertPaddings(
  quantization: QuantizationId,
  engine: Engine,
  gpu: Gpu | undefined,
): ExpertPaddings | undefined {
  if (!quantization.startsWith('mxfp4') || (engine.kind !== 'vllm' && engine.kind !== 'sglang'))
    return undefined;
  const capability = gpu?.computeCapability;
  if (capability === undefined) return { low: unpadded, expected: marlin, high: trtllm };
  if (capability >= 12) return { low: marlin, expected: marlin, high: marlin };
  if (capability >= 10) return { low: cutlass, expected: trtllm, high: trtllm };
  if (capability >= 9) return { low: cutlass, expected: triton, high: marlin };
  return { low: marlin, expected: marlin, high: marlin };
}
