import { noUserModels, type UserModel } from '../../sizing/models/types';
import { onceFor } from '../../sizing/memo';
import { containers } from '../../kube/containers';
import { commandLines } from '../../kube/arguments';
import type { ModelServer } from '../../kube/model-server';
import { valueOf } from '../../kube/settings';
import { engineOf } from '../../sizing/from-manifest';
import { loadTime, type LoadTime, type WeightSource } from '../../sizing/memory/load-time';
import { storedWeights } from '../../sizing/memory/loaded-weights';
import { identifyModel } from '../../sizing/models/identify';
import { GiB, range, type Range } from '../../sizing/models/range';
import type { Workspace } from '../../workspace/workspace';
import { getIn, itemsIn, textIn } from '../../yaml/node';
import { hostNeedOf } from '../sizing/host-memory';
import { servedModel } from '../sizing/served-model';
import { cacheFolder, ownImage, weightOrigin, type CacheFolder, type WeightOrigin } from './weight-store';
import { mountAt, mountsIn, type Mounted, type Mounts } from './volumes';

/** Where the weights of a server are between two starts of its pods. */
export interface WeightStore {
  readonly origin: WeightOrigin;
  readonly mounts: Mounts;
  /** The folder of the download or of the model, where it is known. */
  readonly folder: string | undefined;
  readonly cache: CacheFolder | undefined;
  /** What is mounted there. */
  readonly mount: Mounted | undefined;
  /** Whether they are still there when the next pod starts. */
  readonly kept: 'yes' | 'no' | 'unknown';
  /** Where they are fetched from when they are not, for messages. */
  readonly label: string;
}

/** Reads the volumes, variables and arguments of a server. */
export const weightStore = onceFor(readWeightStore);

function readWeightStore(server: ModelServer): WeightStore {
  const origin = weightOrigin(server);
  const mounts = mountsIn(server.container);
  const base = { origin, mounts, cache: undefined, label: 'label' in origin ? origin.label : '' };
  const unknown: WeightStore = { ...base, folder: undefined, mount: undefined, kept: 'unknown' };
  switch (origin.kind) {
    case 'hub': {
      const cache = cacheFolder(server);
      const mount = cache === undefined ? undefined : mountAt(mounts, cache.path);
      const place = { ...base, cache, folder: cache?.path, mount };
      if (mounts.open || mountsElsewhere(server)) return { ...place, kept: 'unknown' };
      // Wherever the cache is: nothing of the container outlives its pod.
      const nothingKept = mounts.all.every(({ lifetime }) => lifetime === 'pod' || lifetime === 'given');
      if (nothingKept && ownImage(server)) return { ...place, kept: 'no' };
      if (cache === undefined) return { ...place, kept: 'unknown' };
      const lifetime = mount?.lifetime ?? 'pod';
      return { ...place, kept: lifetime === 'kept' ? 'yes' : lifetime === 'pod' ? 'no' : 'unknown' };
    }
    case 'path': {
      const mount = mountAt(mounts, origin.path);
      const place = { ...base, folder: origin.path, mount };
      // Without a volume the folder is part of the image.
      if (mount === undefined || mounts.open) return { ...place, kept: 'unknown' };
      // What starts empty has been filled by somebody.
      if (mount.lifetime === 'pod') return { ...place, kept: 'no', label: filledFrom(server, mount) };
      return { ...place, kept: mount.lifetime === 'kept' ? 'yes' : 'unknown' };
    }
    case 'copied':
      return { ...unknown, kept: 'no' };
    case 'claim':
      return { ...unknown, kept: 'yes' };
    default:
      return unknown;
  }
}

/** Another object can mount volumes into the container; a KubeAI model has its cache profile for that. */
function mountsElsewhere({ container: { template } }: ModelServer): boolean {
  return template.resourcesElsewhere && template.resource.group !== 'kubeai.org';
}

/** What an init container or sidecar fills a folder from. */
function filledFrom({ container }: ModelServer, mount: Mounted): string {
  const others = containers(container.template).filter(
    (other) => other !== container && mountsIn(other).all.some(({ name }) => name === mount.name),
  );
  const text = others
    .flatMap(commandLines)
    .flatMap(({ words }) => words.map((word) => word.text))
    .join(' ');
  if (/\bs3:\/\/|\baws s3\b|\bs5cmd\b/.test(text)) return 'S3';
  if (/huggingface|hf download|snapshot_download/.test(text)) return 'the Hugging Face hub';
  return 'elsewhere';
}

/** Bytes of the files that a pod fetches: the whole model, whatever part of it it loads. */
export function downloadBytes(
  server: ModelServer,
  models: readonly UserModel[] = noUserModels,
): Range | undefined {
  const served = servedModel(server, models);
  if (served !== undefined) {
    const { low, expected, high } = served.stored;
    return { low, expected, high };
  }
  // A NIM or a path does not say its precision: between 4 and 16 bit for each weight.
  const name = valueOf(server.model);
  const model = name === undefined ? undefined : identifyModel(name, { userModels: models });
  if (model === undefined) return undefined;
  const least = storedWeights(model, 'int4');
  const most = storedWeights(model, 'bf16');
  return range(least.low, least.expected, most.high);
}

const rates: Readonly<Record<string, WeightSource>> = {
  S3: 's3',
  'object storage': 's3',
  'the Hugging Face hub': 'hub',
  'the Ollama library': 'hub',
  NGC: 'hub',
};

/** How fast weights come that are not kept. */
export function rateOf({ label }: WeightStore): WeightSource {
  return rates[label] ?? 'hub';
}

/** The kind of storage behind a volume, by its driver or storage class. */
function storageOf(
  workspace: Workspace | undefined,
  server: ModelServer,
  mount: Mounted,
): WeightSource | undefined {
  const { template } = server.container;
  const { volume } = mount;
  const byName = (text: string | undefined): WeightSource | undefined => {
    if (text === undefined) return undefined;
    if (/fsx|lustre/i.test(text)) return 'fsx';
    if (/efs|nfs/i.test(text)) return 'efs';
    if (/s3/i.test(text)) return 's3-csi';
    return /ebs|gp[23]|io[12]/i.test(text) ? 'ebs' : undefined;
  };
  if (volume === undefined) {
    const claim = itemsIn(template.resource.root, 'spec', 'volumeClaimTemplates').find(
      (candidate) => textIn(candidate, 'metadata', 'name') === mount.name,
    );
    return byName(textIn(claim, 'spec', 'storageClassName'));
  }
  if (getIn(volume, 'nfs') !== undefined) return 'efs';
  const driver = textIn(volume, 'csi', 'driver');
  if (driver !== undefined) return byName(driver);
  if (workspace === undefined) return undefined;
  const claim = workspace
    .references(template.resource)
    .claims(template)
    .find((candidate) => candidate.volume === volume)?.claim;
  return claim?.state === 'found'
    ? byName(textIn(claim.resource.root, 'spec', 'storageClassName'))
    : undefined;
}

/** How long a pod takes to serve, with where it reads from. */
export interface ColdStart {
  readonly time: LoadTime;
  readonly bytes: Range;
  /** `the Hugging Face hub`, `an EBS volume`. */
  readonly from: string;
}

const sourceLabels: Readonly<Record<WeightSource, string>> = {
  hub: 'the hub',
  s3: 'S3',
  's3-csi': 'S3 through its CSI driver',
  ebs: 'an EBS volume',
  efs: 'EFS',
  fsx: 'FSx for Lustre',
  nvme: 'a local disk',
  image: 'the image',
  'page-cache': 'memory',
};

/**
 * The time from the start of a container to its first answer. What is kept between starts is read from there; where the
 * storage is not known, the fastest is assumed. `undefined` where the model or its part in the pod is not known.
 */
export function coldStart(
  server: ModelServer,
  workspace: Workspace | undefined,
  models: readonly UserModel[] = noUserModels,
): ColdStart | undefined {
  const bytes = downloadBytes(server, models);
  if (bytes === undefined || valueOf(server.loadFormat) === 'dummy') return undefined;
  const store = weightStore(server);
  const part = partOf(server, models);
  const fetched = store.kept === 'no' && store.origin.kind === 'hub';
  const source: WeightSource = fetched
    ? rateOf(store)
    : store.origin.kind === 'streamed'
      ? 's3'
      : ((store.mount === undefined ? undefined : storageOf(workspace, server, store.mount)) ?? 'nvme');
  // A download takes all files; from there each pod reads its own part.
  const factor = fetched ? 1 : part;
  const read = range(bytes.low * factor, bytes.expected * factor, bytes.high * factor);
  const time = loadTime(read, source, engineOf(server));
  return { time, bytes: read, from: fetched ? store.label : sourceLabels[source] };
}

/** The share of the weights that a pod goes through. */
function partOf(server: ModelServer, models: readonly UserModel[]): number {
  const need = hostNeedOf(server, models);
  if (need === undefined) return 1;
  const whole = need.model.stored.expected;
  return whole > 0 ? Math.min(1, need.weights / whole) : 1;
}

/** Weights beyond this size make a start slow: 5 GiB are half a minute from the hub. */
export const largeBytes = 5 * GiB;

/** `107 s`, `3 minutes`. */
export function durationText(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return `${minutes < 10 ? Number(minutes.toFixed(1)) : Math.round(minutes)} minutes`;
}
