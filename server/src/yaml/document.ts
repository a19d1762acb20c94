import type { Span, YamlNode } from './node';

/** What is wrong with the text of a document, in words for its author; offsets relative to the document. */
export interface YamlProblem extends Span {
  readonly code: 'syntax' | 'duplicate-key' | 'alias' | 'limit';
  readonly message: string;
}

export interface Comment extends Span {
  /** Without the `#` and the white space around. */
  readonly text: string;
}

/** What reading the text of a document yields. */
export interface Reading {
  /** What could be read, even where there are problems; `undefined` when the document has no content. */
  readonly root: YamlNode | undefined;
  /** In order of the text. */
  readonly problems: readonly YamlProblem[];
  /** In order of the text. */
  readonly comments: readonly Comment[];
  /**
   * It is a template: Helm or Jinja expressions stand outside quotes, block scalars and comments, where they may add or
   * take away keys and items, or one anywhere speaks of a Helm release. Other expressions within quotes or a block
   * scalar (of Prometheus, Argo, a chat template) only make that scalar unknown.
   */
  readonly templated: boolean;
  /** Values with an anchor that aliases repeat elsewhere: whoever changes one changes all of them. */
  readonly repeated: readonly Span[];
}

/**
 * One document of a file. It is read when it is first looked at, so a document that nobody asks for costs nothing;
 * looking at `text` alone reads nothing.
 */
export interface YamlDocument extends Reading {
  /**
   * The document's slice of the file, from behind its `---` to the next one. Comments and directives above the first
   * `---` of a file belong to the document that it starts, and then the `---` is part of the text.
   */
  readonly text: string;
}

/** Where a document stands in its file. Documents are shared between versions of a file, places are not. */
export interface PlacedDocument {
  readonly document: YamlDocument;
  /** Offset in the file of the first character of `document.text`. */
  readonly offset: number;
  /** The how-manieth document of the file, from 0, blank ones not counted. */
  readonly index: number;
}

export interface SourceFile {
  readonly uri: string;
  readonly text: string;
  readonly documents: readonly PlacedDocument[];
}
