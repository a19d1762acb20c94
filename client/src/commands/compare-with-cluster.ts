import type { Disposable, TextDocument } from 'vscode';
import {
  Diagnostic,
  DiagnosticSeverity,
  EventEmitter,
  Range,
  Uri,
  commands,
  languages,
  window,
  workspace,
} from 'vscode';
import { diagnosticSource, documentSelector } from '../language-client';
import { contextFor } from '../panel/connect';
import { comparisonKey, comparisonText } from '../panel/consent';
import type { PanelMemory } from '../panel/memory';
import { toldBy, type RunCli } from '../run-cli';
import { count } from '../status';
import { runWithProgress } from './run-with-progress';
import type { Services } from './services';

/** What a comparison shows: both sides as read-only documents, and what is rejected as diagnostics of the file. */
export interface Comparisons extends Disposable {
  /** Both sides, for VS Code's viewer of differences. */
  keep(title: string, before: string, after: string): { readonly before: Uri; readonly after: Uri };
  reject(document: TextDocument, diagnostics: readonly Diagnostic[]): void;
}

const scheme = 'plimsoll-comparison';

export function createComparisons(): Comparisons {
  const texts = new Map<string, string>();
  const changes = new EventEmitter<Uri>();
  const rejected = languages.createDiagnosticCollection('plimsoll-comparison');
  const subscriptions = [
    changes,
    rejected,
    workspace.onDidCloseTextDocument(({ uri }) => {
      texts.delete(uri.toString());
      rejected.delete(uri);
    }),
    // What was said of a text is not said of the next one.
    workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0) rejected.delete(document.uri);
    }),
    workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: changes.event,
      provideTextDocumentContent: (uri) => texts.get(uri.toString()),
    }),
  ];
  return {
    keep(title, before, after) {
      const side = (name: string, text: string): Uri => {
        const uri = Uri.from({ scheme, path: `/${name}/${title}` });
        texts.set(uri.toString(), text);
        changes.fire(uri);
        return uri;
      };
      return { before: side('cluster', before), after: side('applied', after) };
    },
    reject: (document, diagnostics) => rejected.set(document.uri, diagnostics),
    dispose: () => subscriptions.forEach((each) => void each.dispose()),
  };
}

/** As `plimsoll diff --format json` tells it; places count from 1. */
interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

interface Compared {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: 'same' | 'different' | 'new' | 'rejected' | 'unknown';
  readonly findings: readonly { readonly rule: string; readonly message: string; readonly region: Region }[];
  readonly rejections: readonly {
    readonly field: string;
    readonly message: string;
    readonly region: Region;
  }[];
  readonly problem?: string;
  readonly remedy?: string;
  readonly before?: string;
  readonly after?: string;
}

interface Answer {
  readonly context: string;
  readonly objects: readonly Compared[];
  readonly leftOut: readonly { readonly line: number; readonly why: string }[];
}

/**
 * Compares the objects of the open file, as it is in the editor, with those of a cluster. The cluster is asked when this
 * is called, after the user has agreed to it, and then only.
 */
export async function compareWithCluster(
  services: Services,
  memory: PanelMemory,
  comparisons: Comparisons,
  runCli: RunCli,
): Promise<void> {
  const document = window.activeTextEditor?.document;
  if (document === undefined || languages.match(documentSelector, document) === 0) {
    void window.showInformationMessage('Plimsoll: open a manifest first.');
    return;
  }
  if (!workspace.isTrusted) {
    void window.showWarningMessage('Plimsoll: a cluster is asked in trusted workspaces only.');
    return;
  }
  const chosen = await contextFor(services.client, memory, {
    text: comparisonText,
    yes: 'Compare',
    key: comparisonKey,
  });
  if (chosen === undefined) return;
  const { context, namespace } = chosen;
  const version = document.version;
  comparisons.reject(document, []);
  const folder = workspace.getWorkspaceFolder(document.uri)?.uri;
  const argv = [
    'diff',
    '--format',
    'json',
    '--context',
    context,
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    '--stdin-filename',
    document.uri.scheme === 'file' ? document.uri.fsPath : 'untitled.yaml',
  ];
  const result = await runWithProgress(`comparing with ${context}`, (token) =>
    runCli(argv, {}, token, {
      stdin: document.getText(),
      ...(folder?.scheme === 'file' ? { folder: folder.fsPath } : {}),
    }),
  );
  if (result === undefined) return;
  const answer = read(result.stdout);
  if (answer === undefined) {
    const message = toldBy(result) || 'the comparison failed';
    services.output.warn(`Comparing with ${context} failed: ${message}`);
    void window.showErrorMessage(`Plimsoll: ${message}`);
    return;
  }
  // Places in a text that has changed meanwhile are elsewhere.
  if (document.version === version) {
    // One fault, one message: what the linter has said already is not said again in other words.
    const said = languages
      .getDiagnostics(document.uri)
      .filter(({ source, severity }) => source === diagnosticSource && severity === DiagnosticSeverity.Error);
    const more = answer.objects
      .flatMap(diagnosticsOf)
      .filter(({ range }) => !said.some((each) => each.range.intersection(range) !== undefined));
    comparisons.reject(document, more);
  }
  await show(answer, document, comparisons);
}

function read(stdout: string): Answer | undefined {
  try {
    return JSON.parse(stdout) as Answer;
  } catch {
    return undefined;
  }
}

function diagnosticsOf({ findings, rejections }: Compared): readonly Diagnostic[] {
  const make = (region: Region, message: string, code: string): Diagnostic => {
    const { startLine, startColumn, endLine, endColumn } = region;
    const range = new Range(startLine - 1, startColumn - 1, endLine - 1, endColumn - 1);
    const diagnostic = new Diagnostic(range, message, DiagnosticSeverity.Error);
    diagnostic.source = diagnosticSource;
    diagnostic.code = code;
    return diagnostic;
  };
  return [
    ...findings.map(({ region, message, rule }) => make(region, message, rule)),
    ...rejections.map(({ region, field, message }) =>
      make(
        region,
        `The cluster rejects this: ${field === '' ? '' : `${field}: `}${message}`,
        'rejected-by-cluster',
      ),
    ),
  ];
}

async function show(
  { context, objects, leftOut }: Answer,
  document: TextDocument,
  comparisons: Comparisons,
): Promise<void> {
  const ofState = (state: Compared['state']): readonly Compared[] =>
    objects.filter((each) => each.state === state);
  const shown = objects.filter(({ after }) => after !== undefined);
  if (shown.length > 0) {
    const name = document.uri.path.split('/').at(-1) ?? 'manifest.yaml';
    const text = (side: 'before' | 'after'): string => shown.map((each) => each[side] ?? '').join('---\n');
    const { before, after } = comparisons.keep(name, text('before'), text('after'));
    await commands.executeCommand('vscode.diff', before, after, `${name}: ${context} ↔ applied`, {
      preview: true,
    });
  }
  const parts = [
    [ofState('different').length, 'differ'],
    [ofState('new').length, 'new'],
    [ofState('rejected').length, 'rejected'],
    [ofState('same').length, 'as in the file'],
  ] as const;
  const told = parts.flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`]));
  const skipped =
    leftOut.length === 0
      ? ''
      : `; ${leftOut.length} left out: ${leftOut[0]?.why ?? ''} (line ${leftOut[0]?.line})`;
  const unknown = ofState('unknown');
  const message = `Plimsoll: ${count(objects.length, 'object')} compared with ${context}: ${told.join(', ') || 'none could be'}${skipped}`;
  const [first] = unknown;
  if (first !== undefined) {
    void window.showWarningMessage(
      `${message}. ${first.kind} ${first.name}: ${first.problem ?? 'it could not be compared'}${first.remedy === undefined ? '' : `. ${first.remedy}`}`,
    );
  } else if (ofState('rejected').length > 0) {
    void window.showErrorMessage(message, 'Show Problems').then((choice) => {
      if (choice !== undefined) void commands.executeCommand('workbench.actions.view.problems');
    });
  } else void window.showInformationMessage(message);
}
