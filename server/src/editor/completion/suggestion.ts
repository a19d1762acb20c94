import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import type { Span } from '../../yaml/node';
import type { Cursor } from './cursor';

/** One thing that the author may mean. */
export interface Suggestion {
  readonly label: string;
  /** What is written for it; the label when absent. */
  readonly insert?: string;
  readonly kind: 'key' | 'operator' | 'value' | 'name';
  /** A few words beside it. */
  readonly detail?: string;
  /** A sentence or two. */
  readonly documentation?: string;
  /** Texts in their order of use; equal ones are ordered by label. */
  readonly order?: string;
}

/** What a source of suggestions is asked about. */
export interface CompletionPlace {
  readonly workspace: Workspace;
  readonly uri: string;
  readonly cursor: Cursor;
  /** The object, read from the text before the cursor. */
  readonly unfinished: Resource;
  /** The object as it stands, half-typed text and what is behind the cursor included; absent where it cannot be read. */
  readonly current: Resource | undefined;
}

/** Where suggestions come from. It says nothing about a place that it does not know. */
export type SuggestionSource = (place: CompletionPlace) => readonly Suggestion[];

/** Suggestions with the text of the file that they replace. */
export interface CompletionAnswer {
  /** Of the file. */
  readonly replace: Span;
  readonly suggestions: readonly Suggestion[];
}
