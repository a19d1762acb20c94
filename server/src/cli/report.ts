import type { Severity } from '../rules/rule';
import type { BaselineSummary } from './baseline';

/** A place in a file as people count: lines and columns from 1, columns in UTF-16 code units, end exclusive. */
export interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export interface ReportedEdit {
  readonly region: Region;
  readonly newText: string;
}

export interface ReportedFix {
  readonly title: string;
  readonly safe: boolean;
  readonly edits: readonly ReportedEdit[];
}

export interface ReportedRelated {
  /** Path as in {@link FileReport.path}. */
  readonly path: string;
  readonly region: Region;
  readonly message: string;
}

export interface ReportedFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly region: Region;
  readonly fixes: readonly ReportedFix[];
  readonly related: readonly ReportedRelated[];
}

export interface SuppressedFinding {
  readonly finding: ReportedFinding;
  /** `inSource`: a comment or an annotation; `external`: an override in the configuration. */
  readonly kind: 'inSource' | 'external';
  readonly justification: string | undefined;
}

export interface FileReport {
  /** Relative to the working directory, with forward slashes; absolute when outside of it. */
  readonly path: string;
  readonly text: string;
  readonly findings: readonly ReportedFinding[];
  readonly suppressed: readonly SuppressedFinding[];
}

/** Something that was not checked, and why: a file that cannot be read, a rule that lacks what it needs. */
export interface Notice {
  readonly path: string | undefined;
  readonly rule: string | undefined;
  readonly message: string;
  /** It was asked for, and the run fails for want of it. */
  readonly failed?: true;
}

export interface RuleSummary {
  readonly id: string;
  readonly summary: string;
  readonly severity: Severity;
  readonly docUrl: string;
}

/** All that an output format needs; formats add nothing and drop nothing silently. */
export interface Report {
  readonly version: string;
  /** Files with anything to say, sorted by path. */
  readonly files: readonly FileReport[];
  readonly checkedFiles: number;
  readonly counts: Readonly<Record<Severity, number>>;
  readonly fixed: number;
  /** What `--baseline` did: known findings are among the suppressed ones. */
  readonly baseline?: BaselineSummary | undefined;
  readonly skipped: readonly Notice[];
  readonly internalErrors: readonly Notice[];
  /** Every rule that could have spoken. */
  readonly rules: readonly RuleSummary[];
}
