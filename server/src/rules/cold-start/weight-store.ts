import { envOf, envValue, type Container, type EnvLookup } from '../../kube/containers';
import { parseImage } from '../../kube/images';
import type { ModelServer } from '../../kube/model-server';
import { valueOf, type Setting } from '../../kube/settings';
import { entryOf, isNull, mapIn, scalarIn, textIn } from '../../yaml/node';

/** Where a server finds its weights, as the manifest names them. */
export type WeightOrigin =
  /** Fetched by name from a hub or registry, into the server's cache. */
  | { readonly kind: 'hub'; readonly label: string }
  /** Copied by an operator from object storage or a hub before the server starts. */
  | { readonly kind: 'copied'; readonly label: string }
  /** Read from object storage without a copy on disk. */
  | { readonly kind: 'streamed' }
  /** A folder of the container. */
  | { readonly kind: 'path'; readonly path: string }
  /** On a volume that the operator mounts. */
  | { readonly kind: 'claim' }
  /** Part of an image. */
  | { readonly kind: 'image' }
  | { readonly kind: 'unknown' };

const unknown: WeightOrigin = { kind: 'unknown' };

const hubs: Readonly<Partial<Record<ModelServer['engine'], string>>> = {
  nim: 'NGC',
  ollama: 'the Ollama library',
};

/** A name such as `org/model`, which servers look up on the Hugging Face hub. */
function isRepository(name: string): boolean {
  return /^[\w.-]+\/[\w.-]+(:[\w.-]+)?$/.test(name);
}

/** The scheme before `://`, as written: settings have lost `hf://`. */
function schemeOf(text: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
}

/** Of an object whose operator brings the weights: KServe, KubeAI, NIM Operator. */
function byOperator(server: ModelServer, name: string): WeightOrigin | undefined {
  const { container } = server;
  const { group, kind } = container.template.resource;
  if (group === 'serving.kserve.io') {
    const uri =
      textIn(container.node, 'storageUri') ??
      textIn(container.template.resource.root, 'spec', 'model', 'uri');
    if (uri === undefined) return unknown;
    return byScheme(schemeOf(uri));
  }
  if (group === 'kubeai.org' && kind === 'Model') {
    if (!isNull(entryOf(container.node, 'cacheProfile')?.value)) return { kind: 'claim' };
    const scheme = schemeOf(textIn(container.node, 'url') ?? '');
    if (scheme === 'hf') return { kind: 'hub', label: 'the Hugging Face hub' };
    if (scheme === 'ollama') return { kind: 'hub', label: 'the Ollama library' };
    // vLLM streams from object storage by itself.
    return scheme === 's3' || scheme === 'gs' ? { kind: 'streamed' } : byScheme(scheme);
  }
  if (kind === 'NIMService') {
    const storage = mapIn(container.node, 'storage');
    const isKept = storage?.entries.some(
      ({ key, value }) => /^(pvc|nimCache|hostPath)$/.test(key.text) && !isNull(value),
    );
    if (isKept === true) return { kind: 'claim' };
    if (storage?.open === true || container.node.open) return unknown;
    return { kind: 'hub', label: 'NGC' };
  }
  return name === '' ? unknown : undefined;
}

function byScheme(scheme: string | undefined): WeightOrigin {
  switch (scheme) {
    case 'hf':
      return { kind: 'copied', label: 'the Hugging Face hub' };
    case 's3':
      return { kind: 'copied', label: 'S3' };
    case 'gs':
    case 'https':
    case 'http':
    case 'azure':
      return { kind: 'copied', label: 'object storage' };
    case 'pvc':
      return { kind: 'claim' };
    case 'oci':
      return { kind: 'image' };
    default:
      return unknown;
  }
}

/** Where the weights of a server come from. */
export function weightOrigin(server: ModelServer): WeightOrigin {
  const name = valueOf(server.model);
  if (name === undefined) return unknown;
  const operator = byOperator(server, name);
  if (operator !== undefined) return operator;
  if (name.startsWith('/')) return { kind: 'path', path: name.replace(/(?<=.)\/+$/, '') };
  const scheme = schemeOf(name);
  if (scheme !== undefined) {
    if (server.engine === 'ray-serve-llm') return byScheme(scheme);
    return scheme === 's3' || scheme === 'gs' ? { kind: 'streamed' } : unknown;
  }
  const isOffline = [
    envValue(server.container, 'HF_HUB_OFFLINE'),
    envValue(server.container, 'TRANSFORMERS_OFFLINE'),
  ].some((found) => found.state === 'known' && /^(1|true|yes|on)$/i.test(found.text));
  if (isOffline) return unknown;
  const label = hubs[server.engine];
  if (label !== undefined) return { kind: 'hub', label };
  return isRepository(name) && !name.startsWith('models/')
    ? { kind: 'hub', label: 'the Hugging Face hub' }
    : unknown;
}

/** The folder that a server keeps downloaded weights in, and what says so. */
export interface CacheFolder {
  readonly path: string;
  /** The variable to point elsewhere with. */
  readonly variable: string;
}

/** Whether the container may run as another user than its image's, with another home. */
function changesUser({ node, template }: Container): boolean {
  return [mapIn(node, 'securityContext'), mapIn(template.spec, 'securityContext')].some((context) => {
    const user = scalarIn(context, 'runAsUser');
    const isRoot = user !== undefined && !user.unknown && user.text === '0';
    return user !== undefined && user.value !== null && !isRoot;
  });
}

/** Images whose home and cache are known: the projects' own, also from a mirror. */
const ownImages: Readonly<Partial<Record<ModelServer['engine'], RegExp>>> = {
  vllm: /(^|\/)(vllm-openai(-\w+)?|sagemaker-vllm)$/,
  sglang: /(^|\/)sglang$/,
  tgi: /(^|\/)text-generation-inference$/,
  tei: /(^|\/)text-embeddings-inference$/,
  ollama: /(^|\/)ollama$/,
  nim: /(^|\/)nim\/[^/]+\/[^/]+$/,
  lmi: /(^|\/)djl-(serving|inference)$/,
  'ray-serve-llm': /(^|\/)ray(-llm|-ml)?$/,
};

/** Whether a server runs in its project's own image, which carries no weights. Operators run images of their choice. */
export function ownImage(server: ModelServer): boolean {
  const { imageText, template } = server.container;
  if (imageText === undefined)
    return template.resource.group === 'kubeai.org' || template.resource.kind === 'NIMService';
  return ownImages[server.engine]?.test(parseImage(imageText).repository) === true;
}

interface Home {
  readonly cache: string;
  /** Variables in the order in which they count, each with what follows its value. */
  readonly variables: readonly (readonly [name: string, below: string])[];
  readonly flag?: string;
  /** The one to set. */
  readonly set: string;
}

const huggingFace: readonly (readonly [string, string])[] = [
  ['HF_HUB_CACHE', ''],
  ['HUGGINGFACE_HUB_CACHE', ''],
  ['TRANSFORMERS_CACHE', ''],
  ['HF_HOME', '/hub'],
  ['XDG_CACHE_HOME', '/huggingface/hub'],
  ['HOME', '/.cache/huggingface/hub'],
];

/**
 * Where images keep downloads when nothing is said. Sources: the Dockerfiles and documentation of each project (vLLM and
 * SGLang run as root; TGI and TEI set HUGGINGFACE_HUB_CACHE=/data; Ollama, NIM and DJL Serving document theirs).
 */
const homes: Readonly<Partial<Record<ModelServer['engine'], Home>>> = {
  vllm: {
    cache: '/root/.cache/huggingface/hub',
    variables: huggingFace,
    flag: 'download-dir',
    set: 'HF_HOME',
  },
  sglang: {
    cache: '/root/.cache/huggingface/hub',
    variables: huggingFace,
    flag: 'download-dir',
    set: 'HF_HOME',
  },
  'ray-serve-llm': { cache: '/home/ray/.cache/huggingface/hub', variables: huggingFace, set: 'HF_HOME' },
  tgi: {
    cache: '/data',
    variables: [
      ['HF_HUB_CACHE', ''],
      ['HUGGINGFACE_HUB_CACHE', ''],
      ['HF_HOME', ''],
    ],
    flag: 'huggingface-hub-cache',
    set: 'HUGGINGFACE_HUB_CACHE',
  },
  tei: {
    cache: '/data',
    variables: [
      ['HF_HUB_CACHE', ''],
      ['HUGGINGFACE_HUB_CACHE', ''],
      ['HF_HOME', ''],
    ],
    flag: 'huggingface-hub-cache',
    set: 'HUGGINGFACE_HUB_CACHE',
  },
  ollama: {
    cache: '/root/.ollama/models',
    variables: [
      ['OLLAMA_MODELS', ''],
      ['HOME', '/.ollama/models'],
    ],
    set: 'OLLAMA_MODELS',
  },
  nim: { cache: '/opt/nim/.cache', variables: [['NIM_CACHE_PATH', '']], set: 'NIM_CACHE_PATH' },
  lmi: { cache: '/tmp', variables: huggingFace.slice(0, 4), set: 'HF_HOME' },
};

function isWritten(setting: Setting): boolean {
  return setting.state === 'known' || (setting.state === 'unknown' && setting.at !== undefined);
}

/** The cache of a server; `undefined` where it is only known later, or the image is not known. */
export function cacheFolder(server: ModelServer): CacheFolder | undefined {
  const { container } = server;
  const home = homes[server.engine];
  if (home === undefined) return undefined;
  const flag = home.flag === undefined ? undefined : server.arguments.get(home.flag);
  if (flag !== undefined && isWritten(flag)) {
    const value = valueOf(flag);
    return value?.startsWith('/') === true ? { path: clean(value), variable: home.set } : undefined;
  }
  let open = false;
  for (const [name, below] of home.variables) {
    const found: EnvLookup = envValue(container, name);
    if (found.state === 'known') {
      return found.text.startsWith('/')
        ? { path: `${clean(found.text)}${below}`, variable: home.set }
        : undefined;
    }
    if (found.state === 'unknown') {
      if (found.variable !== undefined) return undefined;
      open = true;
    }
  }
  const staysRoot = !changesUser(container) || home.cache === '/data' || home.cache === '/opt/nim/.cache';
  return open || !ownImage(server) || !staysRoot ? undefined : { path: home.cache, variable: home.set };
}

const clean = (path: string): string => path.replace(/(?<=.)\/+$/, '');

/** Whether a folder is named anywhere in what a container is told, so that somebody means it. */
export function isMentioned(container: Container, folder: string): boolean {
  const mentions = (text: string): boolean =>
    text === folder || text.includes(`${folder}/`) || text.endsWith(folder);
  return (
    envOf(container).some(({ value }) => value !== undefined && mentions(value.text)) ||
    ['command', 'args'].some((key) => {
      const list = entryOf(container.node, key)?.value;
      if (list === undefined) return false;
      const items = list.kind === 'sequence' ? list.items : [list];
      return items.some((item) => item.kind === 'scalar' && mentions(item.text));
    })
  );
}
