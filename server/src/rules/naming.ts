import type { Resource } from '../kube/resource';

/** `Deployment "chat"`, for a message; the kind alone where the name is only known later. */
export function titleOf({ kind, name }: Resource): string {
  return name === undefined ? kind : `${kind} "${name}"`;
}

/** A title within a sentence: `container "vllm"`, `the container`. */
export function inSentence(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}
