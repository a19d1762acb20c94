import type { YamlDocument } from './document';
import type { Entry, MapNode, ScalarNode, SequenceNode, Span } from './node';

/** A replacement in the document's text; an insertion has an empty span. */
export interface Edit extends Span {
  readonly newText: string;
}

/** A value to write. Strings are quoted where YAML would read them as something else. */
export type PlainValue =
  string | number | boolean | null | readonly PlainValue[] | { readonly [key: string]: PlainValue };
