import type { Finding, RelatedPlace } from '../engine/finding';
import type { SourceFile } from '../yaml/document';
import type { Span } from '../yaml/node';

/** Something that a tool turns into whole manifests. Paths are absolute, with forward slashes. */
export interface RenderUnit {
  readonly kind: 'helm' | 'kustomize';
  readonly directory: string;
  /** The `Chart.yaml` or `kustomization.yaml`. */
  readonly file: string;
  /** Of a chart: values beside the default ones; each set is rendered by itself. */
  readonly valuesFiles: readonly string[];
}

/** What a tool made of a unit. */
export interface RenderedText {
  readonly unit: RenderUnit;
  /** The values that were used beside the default ones. */
  readonly values: string | undefined;
  readonly text: string;
  /** The directory that paths in its annotations are relative to. */
  readonly base: string;
}

/** A unit that was not rendered, and why, in words for the user. */
export interface NotRendered {
  readonly unit: RenderUnit;
  readonly why: string;
}

/** A file by its absolute path; nothing where there is none that can be read. */
export type ReadSource = (path: string) => SourceFile | undefined;

/** A place in a source file, with the document that it is in. */
export interface SourcePlace {
  readonly path: string;
  readonly file: SourceFile;
  /** The how-manieth document of the file. */
  readonly document: number;
  /** In the file. */
  readonly at: Span;
  /** What stands there is what was judged: the same value, or the expression that made it. */
  readonly exact: boolean;
  /** Other places that had a part in it. */
  readonly related: readonly RelatedPlace[];
}

/** A finding in a rendered text, on the place that it comes from. */
export interface MappedFinding {
  readonly finding: Finding;
  /** Of the source: what it is suppressed by there, if anything. */
  readonly accepted:
    { readonly kind: 'inSource' | 'external'; readonly justification: string | undefined } | undefined;
}
