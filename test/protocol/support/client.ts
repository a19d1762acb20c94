import { PassThrough } from 'node:stream';
import type {
  ClientCapabilities,
  CodeAction,
  Diagnostic,
  Hover,
  InitializeResult,
  MessageReader,
  MessageWriter,
  Position,
  ProtocolConnection,
  PublishDiagnosticsParams,
  Range,
  RegistrationParams,
  WorkspaceDiagnosticReport,
} from 'vscode-languageserver-protocol/node';
import {
  ApplyWorkspaceEditRequest,
  ConfigurationRequest,
  createProtocolConnection,
  DiagnosticRefreshRequest,
  LogMessageNotification,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  ShowDocumentRequest,
  ShowMessageNotification,
  StreamMessageReader,
  StreamMessageWriter,
  WorkDoneProgressCreateRequest,
} from 'vscode-languageserver-protocol/node';
import { createConnection, ProposedFeatures } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { FileSystem } from '../../../server/src/lsp/environment';
import { createServer, type ServerDependencies } from '../../../server/src/lsp/server';
import type { LintWorkspaceResult, Status } from '../../../server/src/protocol/messages';
import { lintWorkspaceRequest, statusNotification } from '../../../server/src/protocol/messages';
import type { Render } from '../../../server/src/lsp/rendering';
import type { Rule } from '../../../server/src/rules/rule';
import type { SchemaTexts } from '../../../server/src/schema/kinds';
import type { TestClock } from './clock';
import { testClock } from './clock';
import { memoryFileSystem } from './memory-fs';
import { testRules } from './rules';

/** An answer to `textDocument/diagnostic`. */
export interface Pulled {
  readonly kind: 'full' | 'unchanged';
  readonly resultId: string;
  readonly items: readonly Diagnostic[];
}

export interface Progress {
  readonly token: string | number;
  readonly value: { readonly kind: 'begin' | 'report' | 'end'; readonly message?: string };
}

/** A client that keeps what it was told, and answers what it is asked. */
export interface TestClient {
  readonly connection: ProtocolConnection;
  readonly initialized: InitializeResult;
  readonly statuses: Status[];
  readonly logs: string[];
  readonly messages: string[];
  readonly shown: string[];
  readonly progress: Progress[];
  readonly registrations: RegistrationParams['registrations'];
  readonly pushed: Map<string, PublishDiagnosticsParams>;
  readonly pushes: PublishDiagnosticsParams[];
  /** Items of each `workspace/configuration` that was asked. */
  readonly configurationItems: { readonly scopeUri?: string; readonly section?: string }[][];
  readonly counts: { refresh: number };
  /** By folder URI; under the empty name for what is in none. Not asked again until `settingsChanged`. */
  readonly settings: Record<string, unknown>;
  settingsChanged(): Promise<void>;
  open(uri: string, text: string, version?: number): Promise<void>;
  /** Replaces the whole text. */
  type(uri: string, version: number, text: string): Promise<void>;
  edit(uri: string, version: number, range: Range, text: string): Promise<void>;
  close(uri: string): Promise<void>;
  watched(changes: Readonly<Record<string, 'created' | 'changed' | 'deleted'>>): Promise<void>;
  pull(uri: string, previousResultId?: string): Promise<Pulled>;
  pullWorkspace(previous?: Readonly<Record<string, string>>): Promise<WorkspaceDiagnosticReport>;
  actions(
    uri: string,
    range: Range,
    diagnostics?: readonly Diagnostic[],
    only?: string[],
  ): Promise<CodeAction[]>;
  hover(uri: string, position: Position): Promise<Hover | null>;
  lintWorkspace(): Promise<LintWorkspaceResult>;
  /** Resolves when the condition holds, which is looked at after each message from the server. */
  until<T>(what: string, condition: () => T | undefined | false): Promise<T>;
  /** Resolves when the first scan is done and everything was looked at. */
  ready(): Promise<Status>;
  stop(): Promise<void>;
}

export interface ClientOptions {
  readonly capabilities?: ClientCapabilities;
  readonly initializationOptions?: unknown;
  readonly settings?: Record<string, unknown>;
  /** The process that the server is to outlive no longer than a few seconds. */
  readonly processId?: number;
  /** Absolute paths; `null` for a client without folders. */
  readonly folders?: readonly string[] | null;
}

export interface ServerOptions extends ClientOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly fs?: FileSystem;
  readonly rules?: readonly Rule[];
  readonly render?: Render;
  /** What a cluster says; absent: there is no live panel. */
  readonly live?: ServerDependencies['live'];
  readonly sealKey?: Buffer;
  /** Absent: none. */
  readonly schemaTexts?: SchemaTexts;
  readonly snippets?: ServerDependencies['snippets'];
  readonly clusterSchemas?: ServerDependencies['clusterSchemas'];
}

export const uriOf = (path: string): string => `file://${path}`;

/** What VS Code can do, as far as it matters here. */
export const pullingClient: ClientCapabilities = {
  workspace: {
    configuration: true,
    workspaceFolders: true,
    didChangeConfiguration: { dynamicRegistration: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
    diagnostics: { refreshSupport: true },
    workspaceEdit: { documentChanges: true },
  },
  textDocument: {
    diagnostic: {
      dynamicRegistration: true,
      relatedInformation: true,
      codeDescriptionSupport: true,
      dataSupport: true,
      tagSupport: { valueSet: [1, 2] },
    },
    publishDiagnostics: { relatedInformation: true, versionSupport: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'source.fixAll'] } } },
    hover: { contentFormat: ['markdown', 'plaintext'] },
  },
  window: { workDoneProgress: true, showDocument: { support: true } },
  general: { positionEncodings: ['utf-16'] },
};

/** A client that does not ask for diagnostics, such as Neovim 0.7. */
export const pushedClient: ClientCapabilities = {
  workspace: { configuration: true, workspaceFolders: true },
  textDocument: {
    publishDiagnostics: { relatedInformation: true, versionSupport: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix'] } } },
    hover: { contentFormat: ['plaintext'] },
  },
};

export interface RunningServer {
  readonly client: TestClient;
  readonly clock: TestClock;
  /** The exit code, once the server has ended. */
  readonly exitCode: () => number | undefined;
}

/** A server in this process, on a pair of streams, with an initialized client. */
export async function start(options: ServerOptions = {}): Promise<RunningServer> {
  const toServer = new PassThrough();
  const toClient = new PassThrough();
  let exitCode: number | undefined;
  const clock = testClock();
  const serverConnection = createConnection(
    (logger) =>
      createProtocolConnection(new StreamMessageReader(toServer), new StreamMessageWriter(toClient), logger),
    {
      shutdownReceived: false,
      initialize: () => undefined,
      exit(code) {
        exitCode = code;
      },
    },
    ProposedFeatures.all,
  );
  createServer(serverConnection, {
    fs: options.fs ?? memoryFileSystem(options.files ?? {}),
    clock,
    version: '0.0.0-test',
    session: 'test',
    rules: options.rules ?? testRules,
    ...(options.schemaTexts === undefined ? {} : { schemaTexts: options.schemaTexts }),
    ...(options.snippets === undefined ? {} : { snippets: options.snippets }),
    ...(options.clusterSchemas === undefined ? {} : { clusterSchemas: options.clusterSchemas }),
    ...(options.render === undefined ? {} : { render: options.render }),
    ...(options.live === undefined ? {} : { live: options.live }),
    ...(options.sealKey === undefined ? {} : { sealKey: options.sealKey }),
  });
  serverConnection.listen();
  const client = await connect(new StreamMessageReader(toClient), new StreamMessageWriter(toServer), options);
  return { client, clock, exitCode: () => exitCode };
}

/** An initialized client on streams that lead to a server. */
export async function connect(
  reader: MessageReader,
  writer: MessageWriter,
  options: ClientOptions,
): Promise<TestClient> {
  const connection = createProtocolConnection(reader, writer);
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const check of [...waiting]) check();
  };
  const statuses: Status[] = [];
  const logs: string[] = [];
  const messages: string[] = [];
  const shown: string[] = [];
  const progress: Progress[] = [];
  const registrations: RegistrationParams['registrations'] = [];
  const pushed = new Map<string, PublishDiagnosticsParams>();
  const pushes: PublishDiagnosticsParams[] = [];
  const configurationItems: { scopeUri?: string; section?: string }[][] = [];
  const counts = { refresh: 0 };
  const settings = options.settings ?? {};
  const documents = new Map<string, TextDocument>();

  const keep = <T>(list: T[], item: T): void => {
    list.push(item);
    wake();
  };
  connection.onNotification(statusNotification, (status: Status) => keep(statuses, status));
  connection.onNotification(LogMessageNotification.type, ({ message }) => keep(logs, message));
  connection.onNotification(ShowMessageNotification.type, ({ message }) => keep(messages, message));
  connection.onNotification('$/progress', (params: Progress) => keep(progress, params));
  connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
    pushed.set(params.uri, params);
    keep(pushes, params);
  });
  connection.onRequest(RegistrationRequest.type, (params) => {
    registrations.push(...params.registrations);
    wake();
  });
  connection.onRequest(ConfigurationRequest.type, ({ items }) => {
    configurationItems.push(items);
    wake();
    return items.map(({ scopeUri }) => settings[scopeUri ?? ''] ?? null);
  });
  connection.onRequest(WorkDoneProgressCreateRequest.type, () => wake());
  connection.onRequest(ShowDocumentRequest.type, ({ uri }) => {
    keep(shown, uri);
    return { success: true };
  });
  connection.onRequest(ApplyWorkspaceEditRequest.type, () => ({ applied: false }));
  connection.onRequest(DiagnosticRefreshRequest.type, () => {
    counts.refresh++;
    wake();
  });
  connection.listen();

  const folders = options.folders === undefined ? ['/ws'] : options.folders;
  const workspaceFolders =
    folders?.map((path) => ({ uri: uriOf(path), name: path.slice(path.lastIndexOf('/') + 1) })) ?? null;
  const initialized = await connection.sendRequest<InitializeResult>('initialize', {
    processId: options.processId ?? null,
    rootUri: workspaceFolders?.[0]?.uri ?? null,
    workspaceFolders,
    capabilities: options.capabilities ?? pullingClient,
    initializationOptions: options.initializationOptions ?? { openRuleDocumentation: true },
  });
  await connection.sendNotification('initialized', {});

  const until: TestClient['until'] = (what, condition) =>
    new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        waiting.delete(check);
        reject(new Error(`waited in vain until ${what}\nlog: ${logs.join('\n')}`));
      }, 20_000);
      const check = (): void => {
        const value = condition();
        if (value === undefined || value === false) return;
        clearTimeout(timeout);
        waiting.delete(check);
        resolve(value);
      };
      waiting.add(check);
      check();
    });

  return {
    connection,
    initialized,
    statuses,
    logs,
    messages,
    shown,
    progress,
    registrations,
    pushed,
    pushes,
    configurationItems,
    counts,
    settings,
    until,
    settingsChanged: () =>
      connection.sendNotification('workspace/didChangeConfiguration', { settings: null }),
    open(uri, text, version = 1) {
      documents.set(uri, TextDocument.create(uri, 'yaml', version, text));
      return connection.sendNotification('textDocument/didOpen', {
        textDocument: { uri, languageId: 'yaml', version, text },
      });
    },
    type: (uri, version, text) =>
      connection.sendNotification('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      }),
    edit: (uri, version, range, text) =>
      connection.sendNotification('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: [{ range, text }],
      }),
    close: (uri) => connection.sendNotification('textDocument/didClose', { textDocument: { uri } }),
    watched: (changes) =>
      connection.sendNotification('workspace/didChangeWatchedFiles', {
        changes: Object.entries(changes).map(([path, change]) => ({
          uri: uriOf(path),
          type: { created: 1, changed: 2, deleted: 3 }[change],
        })),
      }),
    pull: (uri, previousResultId) =>
      connection.sendRequest('textDocument/diagnostic', {
        textDocument: { uri },
        ...(previousResultId === undefined ? {} : { previousResultId }),
      }),
    pullWorkspace: (previous = {}) =>
      connection.sendRequest('workspace/diagnostic', {
        previousResultIds: Object.entries(previous).map(([uri, value]) => ({ uri, value })),
      }),
    actions: (uri, range, diagnostics = [], only) =>
      connection.sendRequest('textDocument/codeAction', {
        textDocument: { uri },
        range,
        context: { diagnostics, ...(only === undefined ? {} : { only }), triggerKind: 1 },
      }),
    hover: (uri, position) =>
      connection.sendRequest('textDocument/hover', { textDocument: { uri }, position }),
    lintWorkspace: () => connection.sendRequest(lintWorkspaceRequest),
    ready: () =>
      until('the first scan is done', () => {
        const last = statuses.at(-1);
        return last?.state === 'ready' && last.incomplete === undefined && last;
      }),
    async stop() {
      await connection.sendRequest('shutdown');
      await connection.sendNotification('exit');
      connection.dispose();
    },
  };
}

/** The text of an edit applied, in the first way that a workspace edit names. */
export function applied(uri: string, text: string, action: CodeAction | undefined): string {
  const edit = action?.edit;
  const change = edit?.documentChanges?.find((each) => 'edits' in each && each.textDocument.uri === uri);
  const edits = change !== undefined && 'edits' in change ? change.edits : (edit?.changes?.[uri] ?? []);
  const plain = edits.flatMap((each) =>
    'newText' in each ? [{ range: each.range, newText: each.newText }] : [],
  );
  return TextDocument.applyEdits(TextDocument.create(uri, 'yaml', 0, text), plain);
}

/** The text that a range of a text covers. */
export function covered(text: string, range: Range): string {
  return TextDocument.create('file:///x', 'yaml', 0, text).getText(range);
}

/** A range of no length. */
export function at(line: number, character: number): Range {
  return { start: { line, character }, end: { line, character } };
}
