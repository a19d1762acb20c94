import { describeModel, type DescribedModel, type ElementCounts } from '../sizing/models/from-config';
import { isRemoteError, RemoteError } from './remote-error';

/** Where a model is read from, and as whom. */
export interface HubRequest {
  /** `meta-llama/Llama-3.1-8B-Instruct`. */
  readonly repository: string;
  /** A branch, a tag or a commit. */
  readonly revision?: string;
  /** Of a user; sent to the hub and nowhere else, and in no message. */
  readonly token?: string;
  /** `https://huggingface.co` when absent. */
  readonly hubUrl?: string;
  /** Milliseconds for each request. */
  readonly timeout?: number;
}

const publicHub = 'https://huggingface.co';
/** A `config.json` is some kilobytes; what is larger is none. */
const mostConfigBytes = 4 * 1024 * 1024;

/**
 * Reads `config.json` and the headers of the safetensors files of a repository, some kilobytes each; no weights.
 *
 * @throws {RemoteError} with a message for the user.
 */
export async function readHubModel(request: HubRequest): Promise<DescribedModel> {
  const { repository, token } = request;
  if (!/^\w[\w.-]*(?:\/\w[\w.-]*)?$/.test(repository)) {
    throw new RemoteError(`"${repository}" is no repository of the hub; it is written as owner/name`);
  }
  if (token !== undefined && !/^hf_\w+$/.test(token)) {
    throw new RemoteError('the token is none of the Hugging Face hub: those start with hf_');
  }
  const hub = hubUrlOf(request.hubUrl);
  const library = await import('@huggingface/hub');
  const common = {
    hubUrl: hub,
    fetch: fetchWithin(request.timeout ?? 30_000),
    ...(token === undefined ? {} : { accessToken: token }),
    ...(request.revision === undefined ? {} : { revision: request.revision }),
  };
  const repo = { type: 'model' as const, name: repository };
  const config = await told(hub, request, async () => {
    const file = await library.downloadFile({ repo, path: 'config.json', xet: false, ...common });
    if (file === null) return undefined;
    if (file.size > mostConfigBytes)
      throw new RemoteError(`config.json of ${repository} is too large to be one`);
    return parseJson(await file.text(), repository);
  });
  const elements = await told(hub, request, async (): Promise<ElementCounts | undefined> => {
    try {
      const found = await library.parseSafetensorsMetadata({ repo, computeParametersCount: true, ...common });
      return found.parameterCount as ElementCounts;
    } catch (error) {
      // Weights in another format: the library says so in an error of no class of its own.
      if (error instanceof library.HubApiError && error.statusCode !== 404) throw error;
      if (isNetwork(error)) throw error;
      return undefined;
    }
  });
  if (config === undefined && elements === undefined) {
    throw new RemoteError(
      `${repository} has neither a config.json nor safetensors files; a repository of GGUF files does not tell its model`,
    );
  }
  const described = describeModel(repository, config, elements);
  if (described === undefined) {
    throw new RemoteError(`config.json of ${repository} has no figures that tell its size or its KV cache`);
  }
  return described;
}

function hubUrlOf(written: string | undefined): string {
  if (written === undefined || written === '') return publicHub;
  let url: URL;
  try {
    url = new URL(written);
  } catch {
    throw new RemoteError(`"${written}" is no address of a hub; it is written as https://huggingface.co`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new RemoteError(`"${written}" is no address of a hub; it is written as https://huggingface.co`);
  }
  return url.href.replace(/\/+$/, '');
}

function fetchWithin(timeout: number): typeof fetch {
  return (input, init) => fetch(input, { ...init, signal: init?.signal ?? AbortSignal.timeout(timeout) });
}

function parseJson(text: string, repository: string): unknown {
  try {
    // Some configurations hold numbers that JSON does not have.
    return JSON.parse(text.replace(/:\s*-?(?:Infinity|NaN)\b/g, ': null'));
  } catch {
    throw new RemoteError(`config.json of ${repository} is not JSON`);
  }
}

function isNetwork(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === 'TimeoutError' ||
      error.name === 'AbortError' ||
      codeOf(error) !== undefined ||
      error.message === 'fetch failed')
  );
}

function codeOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
    const [inner] = at instanceof AggregateError ? (at.errors as unknown[]) : [];
    if (inner instanceof Error) {
      const innerCode = (inner as NodeJS.ErrnoException).code;
      if (typeof innerCode === 'string') return innerCode;
    }
  }
  return undefined;
}

/** Turns what went wrong into a sentence that says what to do. Nothing of the request's headers is in it. */
async function told<T>(
  hub: string,
  { repository, revision, token }: HubRequest,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRemoteError(error)) throw error;
    const status = (error as { readonly statusCode?: unknown }).statusCode;
    const at = revision === undefined ? repository : `${repository} at ${revision}`;
    if (status === 401 || status === 403) {
      throw new RemoteError(
        token === undefined
          ? `${at} does not exist, is private, or wants its terms accepted first; give a token that may read it (HF_TOKEN)`
          : `${at} does not exist, or the token may not read it: the terms of a gated model are accepted on its page`,
      );
    }
    if (status === 404) throw new RemoteError(`${at} does not exist on ${hub}`);
    if (status === 429) throw new RemoteError(`${hub} has had too many requests; try again later`);
    if (typeof status === 'number')
      throw new RemoteError(`${hub} answered with status ${status}; try again later`);
    if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
      throw new RemoteError(`${hub} did not answer in time; check the network and its proxy`);
    }
    const code = codeOf(error);
    if (isNetwork(error)) {
      throw new RemoteError(
        `${hub} cannot be reached${code === undefined ? '' : ` (${code})`}; check the network and its proxy, or name another hub with HF_ENDPOINT`,
      );
    }
    throw error;
  }
}
