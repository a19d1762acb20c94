import { kindsInsteadOf } from '../../kube/built-in-kinds';
import type { Fault } from '../../structure/validate';
import { editDistance, nearest } from '../nearest';

type Unknown = Extract<Fault, { readonly code: 'unknown-field' }>;

/** How many letters may differ for one word to be taken for the other. */
const MOST = 3;

/** The field that a misspelt key was probably meant to be. */
export function meant({ entry, shape }: Pick<Unknown, 'entry' | 'shape'>): string | undefined {
  const name = entry.key.text;
  const { names } = shape.fields;
  const same = names.find((field) => sameLetters(field, name));
  if (same !== undefined) return same;
  const near = nearest(name, names);
  return near !== undefined && editDistance(name, near) <= MOST ? near : undefined;
}

export function sameLetters(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

/** The kind of Kubernetes that a kind which its group has not was probably meant to be. */
export function misspeltKind(group: string, kind: string): string | undefined {
  if (kind === '') return undefined;
  const kinds = kindsInsteadOf(group, kind);
  return kinds.find((other) => sameLetters(other, kind)) ?? nearest(kind, kinds, kind.length < 8 ? 1 : 2);
}
