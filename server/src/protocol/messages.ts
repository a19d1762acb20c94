/** Messages beside the Language Server Protocol's own. Client and server share these names and shapes. */

/** Server to client, notification: sent whenever the state or a count changes. */
export const statusNotification = 'plimsoll/status';

export interface Status {
  /** `scanning` while files of the workspace are being read. */
  readonly state: 'scanning' | 'ready';
  /** Findings over the whole workspace, by severity. */
  readonly findings: Readonly<Record<'error' | 'warning' | 'info' | 'hint', number>>;
  /** Files that hold at least one finding or were checked without one; skipped ones not among them. */
  readonly files: number;
  readonly skipped: readonly SkippedFile[];
  /**
   * Why rules that need several files do not run, when they do not, such as `the workspace scan was cancelled`. Their
   * silence is no pass.
   */
  readonly incomplete?: string;
}

export interface SkippedFile {
  readonly uri: string;
  /** A sentence for the user, such as `2,113 KiB is more than plimsoll.workspaceScan.maxFileSizeKiB (1,024)`. */
  readonly reason: string;
}

/** Client to server, request without parameters: reads all files again and checks them; answers when it is done. */
export const lintWorkspaceRequest = 'plimsoll/lintWorkspace';

export interface LintWorkspaceResult {
  readonly files: number;
  readonly findings: Status['findings'];
  readonly skipped: readonly SkippedFile[];
}

/**
 * Client to server, request with a text document and, where one object of it is meant, a position. Answers `null` where
 * there is no model server.
 */
export const sizingReportRequest = 'plimsoll/sizingReport';

export interface SizingReportParams {
  readonly textDocument: { readonly uri: string };
  readonly position?: { readonly line: number; readonly character: number };
}

export interface SizingReportResult {
  readonly title: string;
  /** A Markdown document. */
  readonly markdown: string;
}

/** A command of the client that code actions name; its arguments are a document's URI and a position in it. */
export const showSizingReportCommand = 'plimsoll.showSizingReport';

/** Client to server, request: the production-readiness checklist, as Markdown to show. */
export const readinessRequest = 'plimsoll/readiness';

export interface ReadinessParams {
  /** The file whose workloads are meant; without it, or where it has none, those of the whole workspace. */
  readonly uri?: string;
}

export interface ReadinessDocument {
  /** Places are links to `file:` URIs with a line, rules are links to {@link openRuleDocumentationCommand}. */
  readonly markdown: string;
  readonly workloads: number;
}

/** Client to server, notification: whether the YAML extension of Red Hat is active. */
export const yamlExtensionNotification = 'plimsoll/yamlExtension';

export interface YamlExtensionParams {
  readonly active: boolean;
}

/**
 * Client to server, request: a schema for a file with documents of these kinds, for another extension. It completes and
 * describes, and finds nothing wrong: that is said by diagnostics. Answers `null` where no kind has one.
 */
export const schemaRequest = 'plimsoll/schema';

export interface SchemaParams {
  readonly kinds: readonly { readonly apiVersion: string; readonly kind: string }[];
}

export interface SchemaResult {
  /** JSON text. */
  readonly schema: string;
}

/**
 * Client to server, request: the edit that adds a model, as `plimsoll model --format json` tells it, to the configuration
 * of a document. Answers with an error that is for the user where that cannot be done.
 */
export const addModelRequest = 'plimsoll/addModel';

export interface AddModelParams {
  readonly textDocument?: { readonly uri: string };
  readonly name: string;
  readonly figures: unknown;
}

export interface AddModelResult {
  readonly uri: string;
  /** The file has to be made, with `text`. */
  readonly isNew: boolean;
  readonly text: string;
  /** To the file as the server knows it, in the form of the Language Server Protocol. */
  readonly edits: readonly {
    readonly range: {
      readonly start: { readonly line: number; readonly character: number };
      readonly end: { readonly line: number; readonly character: number };
    };
    readonly newText: string;
  }[];
}

/** What a client may pass in `InitializeParams.initializationOptions`; a client that passes nothing is served too. */
export interface InitializationOptions {
  /**
   * The client is Plimsoll's own: it has the command {@link openRuleDocumentationCommand} and listens to
   * {@link statusNotification}. Others get {@link explainRuleCommand} and their log.
   */
  readonly openRuleDocumentation?: boolean;
  /** The section `plimsoll`, for clients that cannot be asked with `workspace/configuration`. */
  readonly settings?: unknown;
}

/** Server command, for clients without {@link openRuleDocumentationCommand}; its one argument is a rule id. */
export const explainRuleCommand = 'plimsoll.explainRule';

/**
 * A command of the client that code actions and `codeDescription` name; its one argument is a rule id.
 * Without an argument it lists the rules.
 */
export const openRuleDocumentationCommand = 'plimsoll.openRuleDocumentation';
