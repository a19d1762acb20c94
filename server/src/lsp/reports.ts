import type { Diagnostic } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Finding, InternalError } from '../engine/finding';
import type { LintOptions } from '../engine/run';
import { lint } from '../engine/run';
import { ruleMeta } from '../engine/registry';
import { mergeFile } from '../render/merge';
import type { LiveLookup } from '../live/lookup';
import type { Log } from './guard';
import { describeError } from './guard';
import type { DiagnosticAbilities } from './convert';
import { toDiagnostic } from './convert';
import type { Project } from './project';

/** What is said about one file, at one generation of the project. */
export interface FileReport {
  readonly key: string;
  /** The same id means the same diagnostics, word for word and place for place. */
  readonly resultId: string;
  /** Of the open document; `null` for a file on disk. */
  readonly version: number | null;
  readonly findings: readonly Finding[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface Reports {
  /** The report about the newest state. A file that is not known has an empty one. */
  of(key: string): FileReport;
  /** Every key that {@link Reports.of} was ever asked about, and that has had diagnostics since. */
  everFound(): Iterable<string>;
  lintOptions(key: string): LintOptions;
  /** What rules that need a cluster find in some files now, as text that changes when any of it does. */
  liveFindings(keys: readonly string[]): string;
}

interface Kept {
  generation: number;
  report: FileReport;
  /** The diagnostics as text, to tell whether they changed. */
  text: string;
}

/**
 * @param session makes result ids differ from those of a server that ran before, which a client may still hold.
 */
export function createReports(
  project: Project,
  isOpen: (key: string) => boolean,
  abilities: () => DiagnosticAbilities,
  known: {
    readonly rules?: LintOptions['rules'];
    readonly schemas?: LintOptions['schemas'];
    /** What a cluster says at the moment; nothing while none is looked at. */
    readonly seen?: () => LiveLookup | undefined;
  },
  log: Log,
  session: string,
): Reports {
  const kept = new Map<string, Kept>();
  const found = new Set<string>();
  const crashed = new Set<string>();
  let count = 0;

  /** A bug of a rule is told once, in the log; everything else that was found stays. */
  const tellCrash = (error: InternalError): void => {
    if (crashed.has(error.rule)) return;
    crashed.add(error.rule);
    // The message of what was thrown can quote the manifest; the place in our code cannot.
    const where = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
    log.error([`Internal error: rule ${error.rule} failed; its findings are missing`, ...where].join('\n'));
  };
  const lintOptions = (key: string): LintOptions => {
    const live = known.seen?.();
    return {
      ...(known.rules === undefined ? {} : { rules: known.rules }),
      ...(known.schemas === undefined ? {} : { schemas: known.schemas }),
      ...(live === undefined ? {} : { live }),
      provides: { workspace: project.folderOf(key).incomplete === undefined },
    };
  };
  const findingsOf = (key: string): readonly Finding[] => {
    if (project.isConfig(key))
      return project.folderOf(key).settings.enable ? project.configProblems(key) : [];
    const workspace = project.workspace();
    if (!workspace.files.has(key) || !project.isChecked(key)) return [];
    const result = lint(workspace, project.configFor, { ...lintOptions(key), uris: [key] });
    result.internalErrors.forEach(tellCrash);
    const [own] = result.files;
    const judged = project.renderedOf(key);
    if (own === undefined || judged === undefined) return own?.findings ?? [];
    const mapped = judged.findings.filter(({ finding }) => finding.uri === key);
    return mergeFile(own, mapped, judged).findings;
  };
  const convert = (findings: readonly Finding[], document: TextDocument): readonly Diagnostic[] =>
    findings.map((finding) => toDiagnostic(finding, document, project.document, abilities()));

  return {
    of(key) {
      const { generation } = project;
      const known = kept.get(key);
      const document = project.document(key);
      const version = document !== undefined && isOpen(key) ? document.version : null;
      if (known?.generation === generation && known.report.version === version) return known.report;
      let findings: readonly Finding[] = [];
      try {
        findings = findingsOf(key);
      } catch (error) {
        // The engine itself failed on this file; what was known about others stays true.
        const text = `Checking a file failed: ${describeError(error)}`;
        if (!crashed.has(text)) log.error(text);
        crashed.add(text);
      }
      const diagnostics = document === undefined ? [] : convert(findings, document);
      const text = JSON.stringify(diagnostics);
      const same = known !== undefined && known.text === text;
      const resultId = same ? known.report.resultId : `${session}-${++count}`;
      const report = { key, resultId, version, findings, diagnostics };
      kept.set(key, { generation, report, text });
      if (diagnostics.length > 0) found.add(key);
      return report;
    },
    everFound: () => found,
    lintOptions,
    liveFindings(keys) {
      const workspace = project.workspace();
      const uris = keys.filter((key) => workspace.files.has(key) && project.isChecked(key));
      const [first] = uris;
      if (first === undefined || known.seen?.() === undefined) return '';
      const result = lint(workspace, project.configFor, { ...lintOptions(first), uris });
      result.internalErrors.forEach(tellCrash);
      const found = result.files.flatMap(({ findings }) => findings);
      return JSON.stringify(found.filter(({ rule }) => ruleMeta(rule)?.needs === 'live'));
    },
  };
}

/** What a rule's summary is, for places that show it. */
export function ruleSummary(id: string): string {
  return ruleMeta(id)?.summary ?? '';
}
