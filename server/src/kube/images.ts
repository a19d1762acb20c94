/** The parts of an image reference, as a container runtime reads them. */
export interface ImageReference {
  /** `nvcr.io`; empty when it is left to the runtime's default. */
  readonly registry: string;
  /** `nim/meta/llama-3.1-8b-instruct`. */
  readonly repository: string;
  /** The last part of the repository. */
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

export function parseImage(text: string): ImageReference {
  const at = text.indexOf('@');
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const rest = at < 0 ? text : text.slice(0, at);
  const slash = rest.lastIndexOf('/');
  const colon = rest.indexOf(':', slash + 1);
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  const path = colon < 0 ? rest : rest.slice(0, colon);
  const first = path.indexOf('/');
  const host = first < 0 ? '' : path.slice(0, first);
  const isHost = host.includes('.') || host.includes(':') || host === 'localhost';
  const repository = isHost ? path.slice(first + 1) : path;
  return {
    registry: isHost ? host : '',
    repository,
    name: repository.slice(repository.lastIndexOf('/') + 1),
    tag,
    digest,
  };
}
