import type { Diagnostic, Range, TextEdit } from 'vscode-languageserver';
import { DiagnosticSeverity, DiagnosticTag } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { FileEdit, Finding } from '../engine/finding';
import { ruleDocUrl } from '../engine/registry';
import type { Severity } from '../rules/rule';
import type { Span } from '../yaml/node';

/** The one place where offsets become lines and characters (UTF-16), and back. */

export const diagnosticSource = 'plimsoll';

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
};

/** Rules that say that what is marked has no effect, or an outdated one: editors can dim it or strike it through. */
const tags: ReadonlyMap<string, DiagnosticTag> = new Map([
  ['unused-suppression', DiagnosticTag.Unnecessary],
  ['hpa-removed-api-version', DiagnosticTag.Deprecated],
  ['nodepool-outdated-field', DiagnosticTag.Deprecated],
  ['outdated-node-label', DiagnosticTag.Deprecated],
]);

/** What the client can show, from its capabilities. */
export interface DiagnosticAbilities {
  readonly related: boolean;
  readonly codeDescription: boolean;
  readonly data: boolean;
  readonly tags: readonly DiagnosticTag[];
}

/** What a diagnostic carries for whoever asks for code actions about it: what it is about, beside where it is. */
export interface DiagnosticData {
  readonly rule: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly container?: string;
}

function dataOf({ rule, resource, container }: Finding): DiagnosticData {
  return {
    rule,
    ...(resource === undefined ? {} : { kind: resource.kind }),
    ...(resource?.name === undefined ? {} : { name: resource.name }),
    ...(resource?.namespace === undefined ? {} : { namespace: resource.namespace }),
    ...(container === undefined ? {} : { container }),
  };
}

export function toRange(document: TextDocument, span: Span): Range {
  return { start: document.positionAt(span.start), end: document.positionAt(span.end) };
}

export function toTextEdit(document: TextDocument, edit: FileEdit): TextEdit {
  return { range: toRange(document, edit), newText: edit.newText };
}

export function toDiagnostic(
  finding: Finding,
  document: TextDocument,
  documentOf: (key: string) => TextDocument | undefined,
  abilities: DiagnosticAbilities,
): Diagnostic {
  const related = abilities.related
    ? finding.related.flatMap(({ uri, at, message }) => {
        const other = documentOf(uri);
        return other === undefined
          ? []
          : [{ location: { uri: other.uri, range: toRange(other, at) }, message }];
      })
    : [];
  const tag = tags.get(finding.rule);
  return {
    range: toRange(document, finding.at),
    severity: severities[finding.severity],
    source: diagnosticSource,
    code: finding.rule,
    message: finding.message,
    ...(abilities.codeDescription ? { codeDescription: { href: ruleDocUrl(finding.rule) } } : {}),
    ...(related.length === 0 ? {} : { relatedInformation: related }),
    ...(tag === undefined || !abilities.tags.includes(tag) ? {} : { tags: [tag] }),
    ...(abilities.data ? { data: dataOf(finding) } : {}),
  };
}
