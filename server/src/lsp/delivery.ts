import type {
  Connection,
  DocumentDiagnosticReport,
  PublishDiagnosticsParams,
  WorkspaceDiagnosticParams,
  WorkspaceDiagnosticReport,
  WorkspaceDocumentDiagnosticReport,
} from 'vscode-languageserver';
import { DocumentDiagnosticReportKind } from 'vscode-languageserver';
import type { LintWorkspaceResult, Status } from '../protocol/messages';
import { statusNotification } from '../protocol/messages';
import type { Clock } from './environment';
import type { Guard, Log } from './guard';
import type { Project } from './project';
import type { FileReport, Reports } from './reports';
import { uriKey } from './uris';

/** Milliseconds after the last change before an edited document's diagnostics are pushed. */
const pushDelay = 60;
/** Milliseconds after the last change before all other files are looked at again. */
const settleDelay = 250;
/** Milliseconds of work after which everything else gets a turn. */
const sliceLength = 5;

/** How the client wants to be told. */
export interface DeliveryAbilities {
  /** It asks (`textDocument/diagnostic`); otherwise we push. */
  readonly pulls: boolean;
  /** It can be told to ask again (`workspace/diagnostic/refresh`). */
  readonly refresh: boolean;
  /** It takes versions with pushed diagnostics. */
  readonly versions: boolean;
  /** It listens to our status notification. */
  readonly status: boolean;
}

export interface Delivery {
  /** Something changed that findings depend on. `open` names the document whose client waits for an answer. */
  changed(open?: string): void;
  scanning(active: boolean): void;
  document(key: string, previousResultId: string | undefined): DocumentDiagnosticReport;
  workspace(
    params: WorkspaceDiagnosticParams,
    onCancel: (callback: () => void) => void,
  ): Promise<WorkspaceDiagnosticReport | undefined>;
  /** Looks at every file, now; resolves when all were looked at in one state. */
  lintAll(isCancelled: () => boolean): Promise<LintWorkspaceResult | undefined>;
  dispose(): void;
}

interface Waiting {
  readonly previous: ReadonlyMap<string, { readonly uri: string; readonly value: string }>;
  readonly answer: (report: WorkspaceDiagnosticReport | undefined) => void;
}

const nothing: Status['findings'] = { error: 0, warning: 0, info: 0, hint: 0 };

/**
 * Brings reports to the client: answers its questions, pushes to a client that does not ask, and tells one that does
 * when its answers are outdated, which it cannot know when another file or the configuration was the reason.
 */
export function createDelivery(
  connection: Connection,
  project: Project,
  reports: Reports,
  openKeys: () => Iterable<string>,
  abilities: () => DeliveryAbilities,
  clock: Clock,
  guard: Guard,
  log: Log,
  /** Called when everything was looked at after a change. */
  onSettled: () => void = () => undefined,
): Delivery {
  /** The result that the client holds, by key. */
  const delivered = new Map<string, string>();
  const nonEmpty = new Set<string>();
  const edited = new Set<string>();
  let waiting: Waiting | undefined;
  let answeredWorkspace = false;
  let isScanning = false;
  let passed = -1;
  let refreshed = -1;
  let counts = nothing;
  let lastStatus = '';
  let lastSkipped = '';
  let cancelPush: (() => void) | undefined;
  let cancelSettle: (() => void) | undefined;
  let isDisposed = false;

  const clientUri = (key: string): string => project.document(key)?.uri ?? key;

  const note = (report: FileReport): void => {
    delivered.set(report.key, report.resultId);
    noteFindings(report);
  };
  const noteFindings = (report: FileReport): void => {
    if (report.diagnostics.length > 0) nonEmpty.add(report.key);
    else nonEmpty.delete(report.key);
  };
  /** Nobody has to be told that a file which never had a finding still has none, unless it is open. */
  const matters = (report: FileReport): boolean =>
    report.diagnostics.length > 0 || nonEmpty.has(report.key) || report.version !== null;

  const push = (report: FileReport): void => {
    if (!matters(report)) return;
    const params: PublishDiagnosticsParams = {
      uri: clientUri(report.key),
      diagnostics: [...report.diagnostics],
      ...(abilities().versions && report.version !== null ? { version: report.version } : {}),
    };
    note(report);
    void guard.background('textDocument/publishDiagnostics', () => connection.sendDiagnostics(params));
  };

  const sendStatus = (): void => {
    const skipped = project.skipped();
    const incomplete = incompleteReason();
    const status: Status = {
      state: isScanning ? 'scanning' : 'ready',
      findings: counts,
      files: countFiles(),
      skipped,
      ...(incomplete === undefined ? {} : { incomplete }),
    };
    const text = JSON.stringify(status);
    if (text === lastStatus) return;
    lastStatus = text;
    if (abilities().status) {
      void guard.background(statusNotification, () =>
        connection.sendNotification(statusNotification, status),
      );
      return;
    }
    const lines = skipped.map(({ uri, reason }) => `Skipped ${uri}: ${reason}`);
    const list = lines.join('\n');
    if (list !== lastSkipped && lines.length > 0) log.warn(list);
    lastSkipped = list;
  };
  const incompleteReason = (): string | undefined =>
    project.folders.map((folder) => folder.incomplete).find((reason) => reason !== undefined);
  const countFiles = (): number => {
    let files = 0;
    for (const _ of project.checked()) files++;
    return files;
  };

  const changesSince = (previous: Waiting['previous']): WorkspaceDocumentDiagnosticReport[] => {
    const items: WorkspaceDocumentDiagnosticReport[] = [];
    const keys = new Set([...project.checked(), ...reports.everFound(), ...previous.keys()]);
    for (const key of keys) {
      const report = reports.of(key);
      const before = previous.get(key);
      if (before === undefined && report.diagnostics.length === 0 && !nonEmpty.has(key)) continue;
      if (before?.value === report.resultId) continue;
      items.push({
        kind: DocumentDiagnosticReportKind.Full,
        uri: before?.uri ?? clientUri(key),
        version: report.version,
        resultId: report.resultId,
        items: [...report.diagnostics],
      });
    }
    return items;
  };
  /** Answers the question about the whole workspace when there is news; without news it stays open. */
  const answerWaiting = (): void => {
    if (waiting === undefined || isScanning || passed !== project.generation) return;
    const items = changesSince(waiting.previous);
    if (items.length === 0 && answeredWorkspace) return;
    const changed = new Set(items.map((item) => uriKey(item.uri)));
    for (const item of items) {
      const report = reports.of(uriKey(item.uri));
      // VS Code's client drops the answer for a document that it asks about by itself: only a refresh brings it there.
      if (report.version === null) note(report);
      else noteFindings(report);
    }
    for (const [key, { uri, value }] of waiting.previous) {
      if (changed.has(key)) continue;
      const { version } = reports.of(key);
      items.push({ kind: DocumentDiagnosticReportKind.Unchanged, uri, version, resultId: value });
    }
    answeredWorkspace = true;
    const { answer } = waiting;
    waiting = undefined;
    answer({ items });
  };

  /** Looks at every file, in slices. False when something changed meanwhile, or the caller gave up. */
  const pass = async (isCancelled: () => boolean): Promise<boolean> => {
    const { generation } = project;
    const sum = { error: 0, warning: 0, info: 0, hint: 0 };
    const keys = new Set([...project.checked(), ...reports.everFound()]);
    let since = clock.now();
    for (const key of keys) {
      for (const { severity } of reports.of(key).findings) sum[severity]++;
      if (clock.now() - since < sliceLength) continue;
      await clock.nextTurn();
      since = clock.now();
      if (isDisposed || isCancelled() || project.generation !== generation) return false;
    }
    counts = sum;
    passed = generation;
    return true;
  };
  const refreshIfOutdated = (): void => {
    const { pulls, refresh } = abilities();
    if (!pulls || !refresh || refreshed === project.generation) return;
    const outdated = [...openKeys()].some((key) => {
      const known = delivered.get(key);
      return known !== undefined && known !== reports.of(key).resultId;
    });
    if (!outdated) return;
    refreshed = project.generation;
    void guard.background('workspace/diagnostic/refresh', async () => {
      await connection.languages.diagnostics.refresh();
    });
  };
  const tell = (): void => {
    if (!abilities().pulls) {
      for (const key of new Set([...project.checked(), ...reports.everFound()])) {
        const report = reports.of(key);
        if (delivered.get(key) !== report.resultId) push(report);
      }
    }
    sendStatus();
    answerWaiting();
    refreshIfOutdated();
    onSettled();
  };
  const settle = (): Promise<void> =>
    guard.background('checking the workspace', async () => {
      // While files are being read, what is known is a fragment; the end of the scan settles.
      if (isScanning || isDisposed) return;
      if (await pass(() => isScanning)) tell();
      // Typed on meanwhile: the next pause settles, but that the scan is done is said now.
      else if (!isScanning) sendStatus();
    });

  return {
    changed(open) {
      if (isDisposed) return;
      if (open !== undefined && !abilities().pulls) {
        edited.add(open);
        cancelPush?.();
        cancelPush = clock.after(pushDelay, () => {
          const keys = [...edited];
          edited.clear();
          void guard.background('textDocument/publishDiagnostics', async () => {
            // Even the same diagnostics: the editor has moved the marks along with the text.
            for (const key of keys) push(reports.of(key));
          });
        });
      }
      cancelSettle?.();
      cancelSettle = clock.after(settleDelay, () => void settle());
    },
    scanning(active) {
      isScanning = active;
      if (active) {
        sendStatus();
        return;
      }
      cancelSettle?.();
      cancelSettle = undefined;
      void settle();
    },
    document(key, previousResultId) {
      const report = reports.of(key);
      note(report);
      return previousResultId === report.resultId
        ? { kind: DocumentDiagnosticReportKind.Unchanged, resultId: report.resultId }
        : {
            kind: DocumentDiagnosticReportKind.Full,
            resultId: report.resultId,
            items: [...report.diagnostics],
          };
    },
    workspace(params, onCancel) {
      waiting?.answer({ items: [] });
      return new Promise((resolve) => {
        const mine: Waiting = {
          previous: new Map(
            params.previousResultIds.map(({ uri, value }) => [uriKey(uri), { uri, value }] as const),
          ),
          answer: resolve,
        };
        waiting = mine;
        onCancel(() => {
          if (waiting === mine) waiting = undefined;
          resolve(undefined);
        });
        if (passed === project.generation) answerWaiting();
        else if (cancelSettle === undefined) void settle();
      });
    },
    async lintAll(isCancelled) {
      while (!(await pass(isCancelled))) {
        if (isDisposed || isCancelled()) return undefined;
      }
      tell();
      return { files: countFiles(), findings: counts, skipped: project.skipped() };
    },
    dispose() {
      isDisposed = true;
      cancelPush?.();
      cancelSettle?.();
      waiting?.answer({ items: [] });
      waiting = undefined;
    },
  };
}
