import type { Severity } from '../rules/rule';
import type { Span } from '../yaml/node';

/**
 * What the engine says about a file. Plain data: it can be sent to another thread or process as it is.
 *
 * Every position is a UTF-16 offset in the text of the file named by `uri`.
 */
export interface Finding {
  /** The id of a rule, or of one of the engine's own checks. */
  readonly rule: string;
  readonly severity: Severity;
  readonly uri: string;
  /** The key or value at fault; never empty unless the file is. */
  readonly at: Span;
  /** What was seen, then the consequence; without a full stop. */
  readonly message: string;
  readonly related: readonly RelatedPlace[];
  /** Alternatives; the first one is the one that a batch run takes. */
  readonly fixes: readonly FindingFix[];
  readonly container?: string;
  /** The API server refuses the object for this. */
  readonly apiServerRejects?: true;
  /** The object that the finding is about; absent for findings about text, suppressions and configuration. */
  readonly resource?: ResourceRef;
  /** What the message rests on, one statement each: a term of a sum, a reading with its time and source. */
  readonly evidence?: readonly string[];
}

export interface RelatedPlace {
  readonly uri: string;
  readonly at: Span;
  readonly message: string;
}

export interface FindingFix {
  readonly title: string;
  /** May run without a question: it does not change what the author meant. */
  readonly safe: boolean;
  /** In the file of the finding, in order of the text, not overlapping. */
  readonly edits: readonly FileEdit[];
}

/** A replacement in the text of a file; an insertion has an empty span. */
export interface FileEdit extends Span {
  readonly newText: string;
}

export interface ResourceRef {
  readonly uri: string;
  /** The how-manieth document of the file, from 0. */
  readonly document: number;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

/** A finding that its author has accepted. */
export interface SuppressedFinding {
  readonly finding: Finding;
  /** `inSource`: a comment or an annotation in the file; `external`: an override in the configuration. */
  readonly kind: 'inSource' | 'external';
  /** The reason given with it, if any. */
  readonly justification: string | undefined;
}

/** Something that was not checked. It is neither a finding nor a pass. */
export interface Skipped {
  /** The rule that did not run; absent when none ran on the document. */
  readonly rule?: string;
  /** The document that was not looked at; absent when it concerns the whole file. */
  readonly document?: number;
  readonly why: string;
}

/** A rule that threw: a bug of ours. Everything else it and others found is kept. */
export interface InternalError {
  readonly rule: string;
  /** Where it happened first. */
  readonly uri: string;
  readonly message: string;
  readonly stack: string | undefined;
}
