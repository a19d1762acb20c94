import type { Engine as ServerEngine } from '../../kube/engines';

/** The servers whose memory the estimator knows. `triton` without a backend that is known stays unknown. */
export type EngineKind =
  | 'vllm'
  | 'sglang'
  | 'tgi'
  | 'tensorrt-llm'
  | 'nim'
  | 'triton'
  | 'ollama'
  | 'llama.cpp'
  | 'tei'
  | 'neuron'
  | 'transformers';

/** Major and minor number, `0.10.1` = [0, 10]. */
export type EngineVersion = readonly [number, number];

/** A server and what is known of its version. */
export interface Engine {
  readonly kind: EngineKind;
  readonly version?: EngineVersion;
  /** vLLM only: the engine generation where it is written; else it follows from the version. */
  readonly generation?: 'V0' | 'V1';
}

/** Servers that run vLLM inside, or count memory as it does. */
const kindOfServer: Readonly<Record<ServerEngine, EngineKind>> = {
  vllm: 'vllm',
  kserve: 'vllm',
  'ray-serve-llm': 'vllm',
  lmi: 'vllm',
  dynamo: 'vllm',
  sglang: 'sglang',
  tgi: 'tgi',
  triton: 'triton',
  'tensorrt-llm': 'tensorrt-llm',
  // LMDeploy, too, takes a share of what is free after loading.
  lmdeploy: 'tensorrt-llm',
  nim: 'nim',
  ollama: 'ollama',
  'llama.cpp': 'llama.cpp',
  tei: 'tei',
};

/**
 * The engine of a recognised model server.
 *
 * @param tag - the tag of its image; only vLLM's and NIM's own images count versions as the engine does.
 */
export function engineOfServer(server: ServerEngine, tag?: string): Engine {
  const kind = kindOfServer[server];
  const version =
    tag !== undefined && (server === 'vllm' || server === 'nim') ? parseVersion(tag) : undefined;
  return version === undefined ? { kind } : { kind, version };
}

/** Compares versions; negative when `a` is older. */
export function compareVersions(a: EngineVersion, b: EngineVersion): number {
  return a[0] - b[0] || a[1] - b[1];
}

/** True when the version is known and at least `major.minor`. */
export function atLeast(engine: Engine, major: number, minor: number): boolean {
  return engine.version !== undefined && compareVersions(engine.version, [major, minor]) >= 0;
}

/** True when the version is known and older than `major.minor`. */
export function olderThan(engine: Engine, major: number, minor: number): boolean {
  return engine.version !== undefined && compareVersions(engine.version, [major, minor]) < 0;
}

/** `v0.8.5.post1`, `0.10`, `25.06-py3` as a version; undefined for `latest` and the like. */
export function parseVersion(text: string): EngineVersion | undefined {
  const match = /(?<![\d.])v?(\d{1,2})\.(\d{1,2})(?!\d)/i.exec(text);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : [Number(match[1]), Number(match[2])];
}

/** What an image without a version is taken to be: the release of the day these figures were last compared. */
export const currentVllm: EngineVersion = [0, 31];

/** First vLLM release of a month; a model cannot run on one that is older than itself. */
const vllmReleases: readonly (readonly [string, EngineVersion])[] = [
  ['2024-06', [0, 5]],
  ['2024-09', [0, 6]],
  ['2025-01', [0, 7]],
  ['2025-03', [0, 8]],
  ['2025-05', [0, 9]],
  ['2025-07', [0, 10]],
  ['2025-10', [0, 11]],
  ['2025-12', [0, 12]],
  ['2026-01', [0, 14]],
  ['2026-02', [0, 16]],
  ['2026-03', [0, 18]],
  ['2026-04', [0, 20]],
  ['2026-06', [0, 22]],
  ['2026-07', [0, 24]],
  ['2026-08', [0, 27]],
];

/** The vLLM release that was current in a month, `2025-06`; undefined before the calendar begins. */
export function vllmReleaseOf(month: string): EngineVersion | undefined {
  let found: EngineVersion | undefined;
  for (const [from, version] of vllmReleases) if (month >= from) found = version;
  return found;
}

/**
 * The version whose behaviour is expected: the written one; the current one where nothing is written; none
 * where only the generation is (`VLLM_USE_V1=1`), except that a model's own release gives the earliest.
 */
export function expectedVersion(engine: Engine, modelReleased?: string): EngineVersion | undefined {
  // A NIM counts its own versions; from 2.0 on it wraps a recent vLLM.
  if (engine.kind === 'nim') return (engine.version?.[0] ?? 1) >= 2 ? currentVllm : undefined;
  if (engine.version !== undefined) return engine.version;
  if (engine.generation === undefined) return currentVllm;
  return modelReleased === undefined ? undefined : vllmReleaseOf(modelReleased);
}

/** The generation that runs: vLLM 0.8 made V1 the default, 0.11 removed V0. */
export function generationOf(engine: Engine): 'V0' | 'V1' {
  if (engine.generation !== undefined) return engine.generation;
  return engine.kind === 'vllm' && olderThan(engine, 0, 8) ? 'V0' : 'V1';
}

/** What a change of vLLM means for memory, with the release that brought it. */
export interface VllmTraits {
  readonly generation: 'V0' | 'V1';
  /** Default of `--gpu-memory-utilization`: 0.92 since 0.21, 0.9 before. */
  readonly utilization: number;
  /** `Model loading took` counts what the device lost, not the tensors, since 0.20. */
  readonly loadCountsReserved: boolean;
  /** CUDA graphs are profiled inside the budget since 0.21; before they came on top of it. */
  readonly graphsInBudget: boolean;
  /** MLA up to 0.7 multiplied the projections out in advance, which costs extra weights. */
  readonly latentAbsorbed: boolean;
  /** MLA in V0 aligned each cache entry to 256 bytes: 576 elements took the room of 640. */
  readonly latentAligned: boolean;
  /** Hybrid models: the printed tokens are concurrency x length (since 0.22), not blocks / groups. */
  readonly tokensFromConcurrency: boolean;
  /** The sampler sorted all logits in fp32 while it was profiled; the model runner since 0.25 does not. */
  readonly sortingSampler: boolean;
  /** False when the version is assumed; ranges then cover the neighbours. */
  readonly certain: boolean;
}

export function vllmTraits(engine: Engine, modelReleased?: string): VllmTraits {
  const generation = generationOf(engine);
  const version = expectedVersion(engine, modelReleased);
  const since = (major: number, minor: number): boolean =>
    version !== undefined && compareVersions(version, [major, minor]) >= 0;
  return {
    generation,
    utilization: since(0, 21) ? 0.92 : 0.9,
    loadCountsReserved: since(0, 20),
    graphsInBudget: since(0, 21),
    latentAbsorbed: generation === 'V0' && !since(0, 8),
    latentAligned: generation === 'V0',
    tokensFromConcurrency: since(0, 22),
    sortingSampler: !since(0, 25),
    certain: engine.version !== undefined && engine.kind === 'vllm',
  };
}

/**
 * Default share of GPU memory: vLLM `--gpu-memory-utilization`, SGLang `--mem-fraction-static`, TensorRT-LLM
 * `kv_cache_free_gpu_mem_fraction` (of what is free after loading), TGI (of what is free after warm-up).
 */
export function defaultUtilization(engine: Engine, tensorParallel: number): number {
  switch (engine.kind) {
    case 'sglang':
      // server_args.py: 0.88, 0.87, 0.85, 0.81, 0.79 as the tensor-parallel size grows.
      if (tensorParallel >= 16) return 0.79;
      if (tensorParallel >= 8) return 0.81;
      if (tensorParallel >= 4) return 0.85;
      return tensorParallel >= 2 ? 0.87 : 0.88;
    case 'vllm':
    case 'nim':
      return vllmTraits(engine).utilization;
    case 'tgi':
      return 0.95;
    case 'tensorrt-llm':
    case 'triton':
      return 0.9;
    default:
      return 1;
  }
}
