import type { CodeAction, CodeActionContext, Diagnostic, Range, WorkspaceEdit } from 'vscode-languageserver';
import { CodeActionKind, CodeActionTriggerKind } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { difference } from '../engine/difference';
import type { FileEdit, Finding } from '../engine/finding';
import { compatibleFixes, fixFile } from '../engine/fixes';
import { suppressionsFor } from '../engine/suppress';
import { placeAt } from '../editor/place';
import { serverPlaceAt } from '../editor/server-places';
import {
  explainRuleCommand,
  openRuleDocumentationCommand,
  showSizingReportCommand,
} from '../protocol/messages';
import type { Span } from '../yaml/node';
import { diagnosticSource, toTextEdit } from './convert';
import type { Project } from './project';
import type { FileReport, Reports } from './reports';

/** All safe fixes of a file at once; editors can run it when a file is saved. */
export const fixAllKind = `${CodeActionKind.SourceFixAll}.plimsoll`;

/** Shows what a model server needs; a kind of its own, so that nobody takes it for a fix. */
export const sizingReportKind = 'plimsoll.report';

export interface ActionAbilities {
  /** The client takes edits that name the version of the document they were made for. */
  readonly versionedEdits: boolean;
  /** The client has commands of its own that open a rule's documentation and a sizing report. */
  readonly openRuleDocumentation: boolean;
}

/** Whether actions of a kind are asked for: kinds are dotted paths, and one stands for all below it. */
function wants(context: CodeActionContext, kind: string): boolean {
  return (
    context.only === undefined || context.only.some((only) => kind === only || kind.startsWith(`${only}.`))
  );
}

export function codeActions(
  key: string,
  range: Range,
  context: CodeActionContext,
  project: Project,
  reports: Reports,
  abilities: ActionAbilities,
): CodeAction[] {
  const document = project.document(key);
  if (document === undefined) return [];
  const report = reports.of(key);
  const actions: CodeAction[] = [];
  const edit = (edits: readonly FileEdit[]): WorkspaceEdit =>
    workspaceEdit(document, report, edits, abilities);

  if (wants(context, CodeActionKind.QuickFix)) {
    const asked = { start: document.offsetAt(range.start), end: document.offsetAt(range.end) };
    const here = report.findings.flatMap((finding, index) => {
      const diagnostic = report.diagnostics[index];
      return diagnostic !== undefined && touches(finding.at, asked) ? [{ finding, diagnostic }] : [];
    });
    const of = ({ diagnostic }: { diagnostic: Diagnostic }): Diagnostic[] => [
      ownObject(diagnostic, context) ?? diagnostic,
    ];
    for (const each of here) {
      const safe = each.finding.fixes.filter((fix) => fix.safe);
      for (const fix of each.finding.fixes) {
        actions.push({
          title: fix.title,
          kind: CodeActionKind.QuickFix,
          diagnostics: of(each),
          ...(fix.safe && safe.length === 1 ? { isPreferred: true } : {}),
          edit: edit(fix.edits),
        });
      }
    }
    for (const each of here) {
      for (const { title, edits } of suppressions(key, each.finding, project)) {
        actions.push({ title, kind: CodeActionKind.QuickFix, diagnostics: of(each), edit: edit(edits) });
      }
    }
    const explained = new Set<string>();
    for (const each of here) {
      const { rule } = each.finding;
      if (explained.has(rule)) continue;
      explained.add(rule);
      const command = abilities.openRuleDocumentation ? openRuleDocumentationCommand : explainRuleCommand;
      const title = `Explain rule ${rule}`;
      actions.push({
        title,
        kind: CodeActionKind.QuickFix,
        diagnostics: of(each),
        command: { title, command, arguments: [rule] },
      });
    }
  }
  if (abilities.openRuleDocumentation && wants(context, sizingReportKind)) {
    actions.push(...sizingActions(key, document, range, project));
  }
  const isAsked = context.only !== undefined || context.triggerKind !== CodeActionTriggerKind.Automatic;
  if (isAsked && wants(context, fixAllKind)) {
    const edits = fixAll(key, report, project, reports);
    if (edits.length > 0) {
      actions.push({ title: 'Fix all safe Plimsoll findings', kind: fixAllKind, edit: edit(edits) });
    }
  }
  return actions;
}

/** A report changes nothing: it is offered beside the fixes, where something is said about a model server's memory. */
function sizingActions(key: string, document: TextDocument, range: Range, project: Project): CodeAction[] {
  const place = placeAt(project.workspace(), key, document.offsetAt(range.start));
  if (place?.resource === undefined) return [];
  const found = serverPlaceAt(place.resource, place.offset);
  if (found === undefined || found.server.model.state !== 'known') return [];
  const title = 'Show sizing report';
  const given = [document.uri, range.start];
  return [
    { title, kind: sizingReportKind, command: { title, command: showSizingReportCommand, arguments: given } },
  ];
}

function touches(a: Span, b: Span): boolean {
  return a.start <= b.end && b.start <= a.end;
}

/** The client's own copy of a diagnostic, so that it can tell which of its marks an action is for. */
function ownObject(diagnostic: Diagnostic, context: CodeActionContext): Diagnostic | undefined {
  const same = (a: Range, b: Range): boolean =>
    a.start.line === b.start.line &&
    a.start.character === b.start.character &&
    a.end.line === b.end.line &&
    a.end.character === b.end.character;
  return context.diagnostics.find(
    (each) =>
      each.source === diagnosticSource &&
      each.code === diagnostic.code &&
      each.message === diagnostic.message &&
      same(each.range, diagnostic.range),
  );
}

function suppressions(key: string, finding: Finding, project: Project): ReturnType<typeof suppressionsFor> {
  const workspace = project.workspace();
  const file = workspace.files.get(key);
  return file === undefined ? [] : suppressionsFor(file, finding, workspace.resourcesOf(key));
}

/** What all safe fixes change, the findings that they uncover included. */
function fixAll(key: string, report: FileReport, project: Project, reports: Reports): readonly FileEdit[] {
  const first = compatibleFixes(report.findings, 'safe');
  const workspace = project.workspace();
  const before = workspace.files.get(key);
  if (first.length === 0) return [];
  // A configuration file is not part of the workspace; what is wrong with one is fixed in one round.
  const oneRound = first.flatMap(({ fix }) => fix.edits);
  if (before === undefined) return oneRound;
  const result = fixFile(workspace, key, project.configFor, 'safe', reports.lintOptions(key));
  if (result.text === before.text) return [];
  // Small edits keep the editor's cursor, folds and marks; more rounds are only known as a whole.
  return result.fixed.length === first.length ? oneRound : [difference(before.text, result.text)];
}

function workspaceEdit(
  document: TextDocument,
  report: FileReport,
  edits: readonly FileEdit[],
  { versionedEdits }: ActionAbilities,
): WorkspaceEdit {
  const textEdits = edits.map((edit) => toTextEdit(document, edit));
  return versionedEdits
    ? {
        documentChanges: [{ textDocument: { uri: document.uri, version: report.version }, edits: textEdits }],
      }
    : { changes: { [document.uri]: textEdits } };
}
