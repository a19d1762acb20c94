import { envOf } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import { formatBytes } from '../../kube/quantity';
import { valueOf } from '../../kube/settings';
import { hostMemoryForLoad, mapsFiles } from '../../sizing/memory/host';
import { describeParameters, storedWeights } from '../../sizing/memory/loaded-weights';
import { isUnquantised, schemeOf } from '../../sizing/models/quantization';
import { GiB } from '../../sizing/models/range';
import { noUserModels, type ModelIdentity, type UserModel } from '../../sizing/models/types';
import { isBelow, memoryVolumes, mountsOf } from './memory-volumes';
import { podShare, servedModel, type ServedModel } from './served-model';

/** One summand of the memory that a container needs, in bytes. */
export interface NeedTerm {
  readonly label: string;
  readonly bytes: number;
}

/** Host memory of a model server while it loads, in bytes. */
export interface HostNeed {
  readonly model: ServedModel;
  readonly terms: readonly NeedTerm[];
  /** The sum of the terms. */
  readonly full: number;
  /** The same with `/dev/shm` at what servers put there instead of what they may. */
  readonly likely: number;
  /** The sum with the weights as they are expected, where `full` has a lower bound: what to ask for. */
  readonly wanted: number;
  /** The memory-backed volumes in `full`. */
  readonly volumes: number;
  /** The figures are bounds in the author's favour: the name leaves the size or the precision open. */
  readonly atLeast: boolean;
  /** The part of the weights that the container holds. */
  readonly weights: number;
  /** What the loader does, in one clause. */
  readonly assumption: string;
  /** Statements with the origin of each figure. */
  readonly evidence: readonly string[];
}

/** Servers without Python: one process whose own needs are small. */
const lean: readonly ModelServer['engine'][] = ['ollama', 'llama.cpp', 'tei'];

/** CUDA's own libraries, buffers and the program, beside mapped weights. */
const leanProcess = 1 * GiB;

/** NCCL's buffers and the queues between workers, for each of several workers. */
export const sharedMemoryPerWorker = 1 * GiB;

/** Sizes of checkpoints are known to a few percent and those of processes to half a GiB: less is no difference. */
const tolerance = { share: 0.03, bytes: 0.5 * GiB };

/** Whether memory is too small for what is likely needed, by more than figures like these can be off. */
export function isShort(bytes: number, likely: number): boolean {
  return bytes < likely - Math.max(likely * tolerance.share, tolerance.bytes);
}

/**
 * What a container needs in host memory: weights held by the pod + 2 GiB for each GPU worker + 2 GiB for the server +
 * the memory-backed volumes that it mounts. Memory pinned for offloading is left to the rule about it.
 *
 * `undefined` where the model, its precision or its spread over pods is not known, or no weights are read.
 */
export function hostNeedOf(
  server: ModelServer,
  models: readonly UserModel[] = noUserModels,
): HostNeed | undefined {
  const known = memo.get(server);
  if (known?.models === models) return known.need;
  const need = reckon(server, models);
  memo.set(server, { models, need });
  return need;
}

const memo = new WeakMap<
  ModelServer,
  { readonly models: readonly UserModel[]; readonly need: HostNeed | undefined }
>();

function reckon(server: ModelServer, models: readonly UserModel[]): HostNeed | undefined {
  const model = servedModel(server, models);
  const share = podShare(server);
  if (model === undefined || share === undefined || model.loader === 'dummy') return undefined;
  const { workers, gpusPerCopy } = share;
  const least = leastWeights(server, model);
  const estimate = hostMemoryForLoad({
    weights: { low: least, expected: least, high: least },
    quantization: model.quantization,
    loader: model.loader,
    engine: model.engine,
    workers: Math.max(1, workers),
    gpusPerCopy,
    swapBytesPerGpu: 0,
  });
  const weights = estimate.weightsHeld.expected;
  const part = gpusPerCopy > Math.max(1, workers) ? ` (${workers} of ${gpusPerCopy} GPUs)` : '';
  const terms: NeedTerm[] = lean.includes(server.engine)
    ? [
        { label: 'weights', bytes: weights },
        { label: 'server', bytes: leanProcess },
      ]
    : estimate.terms.flatMap(({ label, bytes }) =>
        workers === 0 && label.endsWith('GPU worker')
          ? []
          : [
              {
                label: label === 'weights held by the pod' ? `weights${part}` : label,
                bytes: bytes.expected,
              },
            ],
      );
  const beside = terms.reduce((sum, { bytes }) => sum + bytes, 0);
  const volumes = volumeTerms(server, weights, workers);
  const inVolumes = volumes.reduce((sum, { bytes }) => sum + bytes, 0);
  const assumption =
    workers === 0 ? 'on CPUs the weights stay in host memory for as long as they serve' : estimate.assumption;
  const precision = schemeOf(model.quantization).label;
  return {
    model,
    terms: [...terms, ...volumes.filter(({ bytes }) => bytes > 0)],
    full: beside + inVolumes,
    wanted: beside + inVolumes + weights * (model.stored.expected / least - 1),
    volumes: inVolumes,
    atLeast: least < model.stored.expected,
    likely: beside + volumes.reduce((sum, { likely }) => sum + likely, 0),
    weights,
    assumption,
    evidence: [
      ...model.identity.reasons,
      `${describeParameters(model.identity.parameters)} at ${precision}: ${formatBytes(model.stored.expected)} on disk${
        least < model.stored.expected ? `, ${formatBytes(least)} at least` : ''
      }`,
      ...(part === ''
        ? []
        : [`One copy is spread over ${gpusPerCopy} GPUs, of which this pod has ${workers}`]),
      lean.includes(server.engine)
        ? `${server.title} itself: 1 GiB`
        : '2 GiB for each GPU worker and 2 GiB for the server: Python, CUDA and the engine',
      ...volumes.map(
        ({ label, bytes }) =>
          `${label}: ${formatBytes(bytes)}, charged to the container as far as it is filled`,
      ),
      ...(workers === 0
        ? []
        : [`${mapsFiles(model.loader) ? 'Mapped files' : 'Files read as a whole'}: ${assumption}`]),
    ],
  };
}

/** The bound in the author's favour where a name leaves the number of parameters or the precision open. */
function leastWeights(server: ModelServer, { name, identity, stored, quantization }: ServedModel): number {
  if (isUnquantised(quantization) && identity.quantization === undefined) {
    // A NIM picks its profile by the GPU, and FP8 where it can.
    if (server.engine === 'nim') return stored.low / 2;
    // A folder of somebody's own may hold a quantised copy.
    if (!namesRepository(name, identity)) return storedWeights(identity, 'int4').low;
  }
  return identity.matchedBy === 'name-size' ? stored.low : stored.expected;
}

/** A name on the hub, or a path whose last part is such a name: what is quantised says so there. */
function namesRepository(name: string, { model, knownAs }: ModelIdentity): boolean {
  if (/^[\w.-]+\/[\w.-]+$/.test(name)) return true;
  const last = lastPart(name);
  return [model?.id, ...(model?.aliases ?? []), knownAs].some(
    (known) => known !== undefined && lastPart(known) === last,
  );
}

function lastPart(name: string): string {
  return name.replace(/\/+$/, '').replace(/^.*\//, '').toLowerCase();
}

/** Variables that say where downloaded weights are kept. */
const cacheVariables =
  /^(HF_HOME|HF_HUB_CACHE|HUGGINGFACE_HUB_CACHE|TRANSFORMERS_CACHE|MODELSCOPE_CACHE|NIM_CACHE_PATH|OLLAMA_MODELS|VLLM_CACHE_ROOT)$/;

/** Folders from which the weights are read. */
function weightFolders(server: ModelServer): readonly string[] {
  const { container } = server;
  const folders = envOf(container)
    .filter(({ name, value }) => cacheVariables.test(name) && value !== undefined && !value.unknown)
    .map(({ value }) => value?.text ?? '');
  const options = [server.model, server.arguments.get('download-dir')].map(valueOf);
  return [...folders, ...options].filter((path) => path !== undefined && path.startsWith('/')) as string[];
}

interface VolumeTerm extends NeedTerm {
  /** What is in the volume in practice. */
  readonly likely: number;
}

/** The memory-backed volumes with a size limit that the container mounts, each once. */
function volumeTerms(server: ModelServer, weights: number, workers: number): readonly VolumeTerm[] {
  const mounts = mountsOf(server.container);
  const folders = weightFolders(server);
  return memoryVolumes(server.container.template).flatMap(({ name, bytes }) => {
    const paths = mounts.filter(({ volume }) => volume === name).flatMap(({ path }) => path ?? []);
    if (bytes === undefined || paths.length === 0) return [];
    const label = `memory-backed volume "${name}"`;
    if (paths.includes('/dev/shm')) {
      const most = workers > 1 ? sharedMemoryPerWorker * workers : 0;
      return [{ label, bytes, likely: Math.min(bytes, most) }];
    }
    if (paths.some((path) => folders.some((folder) => isBelow(folder, path)))) {
      // The weights are the volume's own pages: they count once.
      const rest = Math.max(0, bytes - weights);
      return [{ label: `${label} beyond the weights in it`, bytes: rest, likely: 0 }];
    }
    return [{ label, bytes, likely: bytes }];
  });
}
