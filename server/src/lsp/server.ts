import type {
  CancellationToken,
  ClientCapabilities,
  CodeLens,
  CodeActionContext,
  Connection,
  InitializeParams,
  InitializeResult,
  WorkspaceDiagnosticReport,
} from 'vscode-languageserver';
import {
  CodeActionKind,
  CodeLensRefreshRequest,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  FileChangeType,
  MarkupKind,
  MessageType,
  PositionEncodingKind,
  ShowMessageNotification,
  TextDocumentSyncKind,
  WatchKind,
} from 'vscode-languageserver';
import type { LintOptions } from '../engine/run';
import { ruleDocUrl, ruleMeta } from '../engine/registry';
import type { LintWorkspaceResult, ReadinessDocument } from '../protocol/messages';
import { explainRuleCommand, lintWorkspaceRequest, readinessRequest } from '../protocol/messages';
import type { Settings } from '../protocol/settings';
import { settingsSection } from '../protocol/settings';
import { createBuffers } from './buffers';
import { takeCatalogue } from './catalogue';
import { codeActions, fixAllKind, sizingReportKind } from './code-actions';
import { createDelivery } from './delivery';
import { overShipped, textsOverShipped, type ClusterSchemas } from '../schema/cluster-schemas';
import { noSchemaTexts, type SchemaTexts } from '../schema/kinds';
import { noSchemas } from '../structure/schemas';
import type { Clock, FileSystem } from './environment';
import type { Cancellation, Log, Stage } from './guard';
import { cancelled, createGuard, InvalidParams } from './guard';
import { editorCapabilities, registerEditorFeatures } from './editor-features';
import { completionProviders } from './completion';
import { hoverAt, joinHovers } from './hover';
import {
  changesOf,
  documentUri,
  fieldsOf,
  integerOf,
  isFields,
  listOf,
  positionOf,
  rangeOf,
  stringOf,
} from './params';
import type { ProjectFolder } from './project';
import { createProject, isScanned } from './project';
import { createQueue } from './queue';
import { readinessDocument } from './readiness';
import type { Render } from './rendering';
import { createRendering } from './rendering';
import { createReports } from './reports';
import { registerSchemaFeatures, schemaCapabilities, type SnippetText } from './schema-features';
import type { PathChange } from './scanner';
import { createScanner, tooLarge } from './scanner';
import { parseSettings } from './settings';
import { codeLensText } from '../panel/code-lens';
import { codeLenses } from './code-lens';
import { liveLookup, type LiveLookup } from '../live/lookup';
import { liveFilesOf } from './live-files';
import type { LiveSources } from './live-reader';
import { createPanelServer } from './panel';
import { baseName, pathOfUri, uriKey, uriOfPath } from './uris';

/** Milliseconds that a client has to answer a question of ours before we go on without. */
const patience = 10_000;
/** Milliseconds between two reports of progress. */
const progressInterval = 100;

export interface ServerDependencies {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly version: string;
  /** Differs between any two servers that a client can meet. */
  readonly session: string;
  /** Absent: nothing is rendered, whatever the settings say. */
  readonly render?: Render;
  /** Absent: all rules of the product. */
  readonly rules?: LintOptions['rules'];
  /** Absent: nothing is known of any kind. */
  readonly schemas?: LintOptions['schemas'];
  /** Schemas with descriptions; absent: there are none. */
  readonly schemaTexts?: SchemaTexts;
  /** The schemas of a cluster that a folder keeps; absent: no folder has any. */
  readonly clusterSchemas?: (folder: string) => ClusterSchemas | undefined;
  /** What clients without snippets of their own are offered; absent: nothing. */
  readonly snippets?: () => readonly SnippetText[];
  /** Absent: there is no live panel. */
  readonly live?: LiveSources;
  /** For secrets on their way from the client. */
  readonly sealKey?: Buffer | undefined;
}

export interface Server {
  /** Logs an error that nobody caught. */
  uncaught(what: string, error: unknown): void;
}

/** `replaced`: a newer scan, which is already asked for, makes this one needless. */
type ScanEnd = 'complete' | 'cancelled' | 'replaced';

interface FolderName {
  readonly uri: string;
  readonly name: string;
}

const outsideKey = '';

/**
 * The language server on a connection. Everything it needs of the world is passed in; it starts nothing before the
 * client says `initialized`, and nothing that goes wrong in a handler ends it.
 */
export function createServer(connection: Connection, dependencies: ServerDependencies): Server {
  const { fs, clock } = dependencies;
  let stage: Stage = 'new';
  let capabilities: ClientCapabilities = {};
  let isOurClient = false;
  let givenSettings: unknown;
  let folderNames: readonly FolderName[] = [];
  let ready: Promise<void> = Promise.resolve();
  let cancelScan: (() => void) | undefined;
  let queuedScan: { readonly end: Promise<ScanEnd>; readonly askers: Cancellation[] } | undefined;
  const pendingReads = new Map<string, Promise<void>>();
  const toldProblems = new Set<string>();

  const log: Log = {
    error: (message) => connection.console.error(message),
    warn: (message) => connection.console.warn(message),
    info: (message) => connection.console.info(message),
  };
  const guard = createGuard(log, () => stage);
  const buffers = createBuffers();
  const isOpen = (key: string): boolean => buffers.get(key) !== undefined;
  const project = createProject(buffers);
  let clusterSchemas: ClusterSchemas | undefined;
  const schemas = overShipped(dependencies.schemas ?? noSchemas, () => clusterSchemas?.schemas);
  const reports = createReports(
    project,
    isOpen,
    () => {
      const { publishDiagnostics: push, diagnostic: pull } = capabilities.textDocument ?? {};
      const shown = pull ?? push ?? {};
      return {
        related: shown.relatedInformation ?? push?.relatedInformation ?? false,
        codeDescription: shown.codeDescriptionSupport ?? push?.codeDescriptionSupport ?? false,
        data: shown.dataSupport ?? push?.dataSupport ?? false,
        tags: (shown.tagSupport ?? push?.tagSupport)?.valueSet ?? [],
      };
    },
    {
      ...(dependencies.rules === undefined ? {} : { rules: dependencies.rules }),
      schemas,
      seen,
    },
    log,
    dependencies.session,
  );
  const queue = createQueue();
  const scanner = createScanner(project, fs, clock, isOpen);
  const delivery = createDelivery(
    connection,
    project,
    reports,
    function* () {
      for (const { key } of buffers.all()) yield key;
    },
    () => ({
      pulls: capabilities.textDocument?.diagnostic !== undefined,
      refresh: capabilities.workspace?.diagnostics?.refreshSupport ?? false,
      versions: capabilities.textDocument?.publishDiagnostics?.versionSupport ?? false,
      status: isOurClient,
    }),
    clock,
    guard,
    log,
    () => editorFeatures.pause(),
  );
  const rendering = createRendering(
    project,
    dependencies.render,
    {
      ...(dependencies.rules === undefined ? {} : { rules: dependencies.rules }),
      schemas,
    },
    clock,
    guard,
    log,
    () => delivery.changed(),
  );
  const schemaFeatures = registerSchemaFeatures({
    connection,
    guard,
    project,
    capabilities: () => capabilities,
    settled,
    texts: textsOverShipped(dependencies.schemaTexts ?? noSchemaTexts, () => clusterSchemas?.texts),
    snippets: () => (isOurClient ? [] : (dependencies.snippets?.() ?? [])),
  });
  let lensText = '';
  let liveText = '';
  let liveKeys: readonly string[] = [];
  const panel =
    dependencies.live === undefined
      ? undefined
      : createPanelServer({
          ...{ connection, guard, clock, project, reports },
          sources: dependencies.live,
          sealKey: dependencies.sealKey,
          settled,
          changed: liveChanged,
        });
  const editorFeatures = registerEditorFeatures({
    connection,
    guard,
    project,
    capabilities: () => capabilities,
    isOpen,
    settled,
    providers: [...completionProviders, schemaFeatures.completion],
  });
  project.setFolders([], folderOf(undefined, parseSettings(undefined, isRule).settings));

  /** The schemas of the first folder that keeps those of a cluster, for as long as the server runs. */
  function schemasOfCluster(): ClusterSchemas | undefined {
    for (const { uri } of folderNames) {
      const path = pathOfUri(uri);
      const found = path === undefined ? undefined : dependencies.clusterSchemas?.(path);
      if (found === undefined) continue;
      log.info(`Schemas of ${found.kinds} kinds as a cluster had them on ${found.date}: ${path ?? ''}`);
      return found;
    }
    return undefined;
  }

  /** What the cluster says about the object that the panel follows, for rules that need it. */
  function seen(): LiveLookup | undefined {
    const live = panel?.evidence();
    return live === undefined ? undefined : liveLookup([live.snapshot]);
  }

  /**
   * Findings about what the cluster says stand in the files of the followed object, its workload and its autoscaler.
   * Everything is checked again only when they differ: the cluster is read every few seconds.
   */
  function liveFindingsChanged(): void {
    const live = panel?.evidence();
    const keys = live === undefined ? [] : liveFilesOf(project.workspace(), live.resource);
    const text = reports.liveFindings(keys);
    if (text === liveText && (text === '' || keys.join() === liveKeys.join())) return;
    liveText = text;
    liveKeys = keys;
    project.liveChanged();
    delivery.changed();
  }

  /** What the cluster says has changed: the line above the workload is asked for again when it reads differently. */
  function liveChanged(): void {
    liveFindingsChanged();
    const live = panel?.live();
    const now = dependencies.live?.now() ?? 0;
    const text = live === undefined ? '' : `${live.resource.uri} ${codeLensText(live.snapshot, now) ?? ''}`;
    if (text === lensText) return;
    lensText = text;
    if (capabilities.workspace?.codeLens?.refreshSupport === true) {
      void guard.background(
        'workspace/codeLens/refresh',
        async () =>
          void (await ask('workspace/codeLens/refresh', () =>
            connection.sendRequest(CodeLensRefreshRequest.type),
          )),
      );
    }
  }

  function lensesOf(key: string): readonly CodeLens[] {
    return codeLenses(key, panel?.live(), dependencies.live?.now() ?? 0, project, isOurClient);
  }

  // -------------------------------------------------------------------------------------------------------------
  // Folders and settings

  function isRule(id: string): boolean {
    return ruleMeta(id) !== undefined;
  }

  function folderOf(uri: string | undefined, settings: Settings, before?: ProjectFolder): ProjectFolder {
    const key = uri === undefined ? outsideKey : uriKey(uri).replace(/(.)\/+$/, '$1');
    const path = uri === undefined ? undefined : pathOfUri(uri)?.replace(/(.)\/+$/, '$1');
    const named = settings.configFile;
    const isAbsolute = /^([A-Za-z]:)?[\\/]/.test(named);
    const configPath = isAbsolute ? named : path === undefined ? undefined : `${path}/${named}`;
    const folder: ProjectFolder = {
      key,
      path,
      settings,
      configFile: named === '' || configPath === undefined ? undefined : uriOfPath(configPath),
      incomplete: undefined,
    };
    // What was read under the same settings is still known.
    const isKnown = before !== undefined && !needsScan(before, folder);
    return isKnown || !isScanned(folder)
      ? { ...folder, incomplete: isKnown ? before.incomplete : undefined }
      : { ...folder, incomplete: 'the workspace is being read' };
  }

  function needsScan(before: ProjectFolder, after: ProjectFolder): boolean {
    return (
      isScanned(before) !== isScanned(after) ||
      before.configFile !== after.configFile ||
      (isScanned(after) &&
        before.settings.workspaceScan.maxFileSizeKiB !== after.settings.workspaceScan.maxFileSizeKiB)
    );
  }

  /** An answer of the client, or nothing when it fails or takes too long: no client can make us wait for ever. */
  async function ask<T>(what: string, question: () => Promise<T>): Promise<T | undefined> {
    let stop = (): void => undefined;
    const late = new Promise<undefined>((resolve) => {
      stop = clock.after(patience, () => {
        log.warn(`The client did not answer ${what} within ${patience / 1000} s; going on without`);
        resolve(undefined);
      });
    });
    try {
      return await Promise.race([question(), late]);
    } catch {
      log.warn(`The client answered ${what} with an error; going on without`);
      return undefined;
    } finally {
      stop();
    }
  }

  /** Asks for the settings of each folder, and of what is in none. True when folders have to be scanned again. */
  async function loadFolders(): Promise<boolean> {
    const names = folderNames;
    const scopes = [...names.map(({ uri }) => uri), undefined];
    let values: readonly unknown[] = scopes.map(() => givenSettings);
    if (capabilities.workspace?.configuration === true) {
      const items = scopes.map((scopeUri) => ({
        section: settingsSection,
        ...(scopeUri === undefined ? {} : { scopeUri }),
      }));
      const answer = await ask('workspace/configuration', () => connection.workspace.getConfiguration(items));
      if (Array.isArray(answer)) values = answer.map((value: unknown) => value ?? givenSettings);
    }
    const all = scopes.map((uri, index): ProjectFolder => {
      const { settings, problems } = parseSettings(values[index], isRule);
      for (const problem of problems) warnOnce(problem);
      const key = uri === undefined ? outsideKey : uriKey(uri).replace(/(.)\/+$/, '$1');
      return folderOf(
        uri,
        settings,
        project.folders.find((folder) => folder.key === key),
      );
    });
    const outside = all.pop();
    if (outside === undefined) return false;
    const before = project.folders;
    project.setFolders(all, outside);
    for (const buffer of buffers.all()) await openedOnDisk(buffer.key);
    return (
      before.length !== all.length ||
      all.some((folder, index) => {
        const known = before[index];
        return known?.key !== folder.key || needsScan(known, folder);
      })
    );
  }

  function warnOnce(problem: string): void {
    if (toldProblems.has(problem)) return;
    toldProblems.add(problem);
    log.warn(problem);
  }

  /** The settings or the folders changed: everything is looked at again, and read again where that matters. */
  function reload(rescan: boolean): Promise<void> {
    return guard.background('loading the settings', () =>
      queue.run(async () => {
        const again = (await loadFolders()) || rescan;
        delivery.changed();
        if (again) void guard.background('scanning the workspace', async () => void (await scan()));
        else rendering.request();
      }),
    );
  }

  // -------------------------------------------------------------------------------------------------------------
  // Reading files

  /** Reads all folders; a pass that is waiting to start serves all who ask. */
  function scan(asker: Cancellation = { isCancellationRequested: false }): Promise<ScanEnd> {
    if (queuedScan === undefined) {
      const askers: Cancellation[] = [];
      const end = queue.run(async () => {
        queuedScan = undefined;
        return scanNow(askers);
      });
      queuedScan = { end, askers };
    }
    queuedScan.askers.push(asker);
    return queuedScan.end;
  }

  async function scanNow(askers: readonly Cancellation[]): Promise<ScanEnd> {
    const own: { by?: 'user' | 'newer scan' } = {};
    cancelScan = () => (own.by = 'newer scan');
    const cancellation: Cancellation = {
      get isCancellationRequested() {
        if (stage === 'shut-down' || own.by !== undefined) return true;
        return askers.every((asker) => asker.isCancellationRequested);
      },
    };
    delivery.scanning(true);
    const progress = showProgress(() => (own.by = 'user'));
    let isComplete = false;
    try {
      isComplete = await scanner.scan(cancellation, progress.report);
      // The configuration above documents that are in no folder is not met on a walk.
      if (isComplete) for (const { key } of buffers.all()) await openedOnDisk(key);
      for (const { configFile } of project.folders) {
        if (configFile !== undefined && project.document(configFile) === undefined) {
          warnOnce(
            `Setting "plimsoll.configFile" names ${configFile}, which cannot be read; the nearest .plimsoll.yaml is used`,
          );
        }
      }
    } finally {
      progress.end();
      cancelScan = undefined;
      // What an earlier scan read completely stays known; a newer scan says itself when it is complete.
      if (isComplete) setIncomplete(() => undefined);
      else if (own.by !== 'newer scan') {
        setIncomplete((before) => (before === undefined ? undefined : 'the workspace scan was cancelled'));
        if (stage === 'running') log.warn('The scan of the workspace was cancelled');
      }
      delivery.scanning(false);
      if (isComplete) rendering.request();
    }
    return isComplete ? 'complete' : own.by === 'newer scan' ? 'replaced' : 'cancelled';
  }

  function setIncomplete(next: (before: string | undefined) => string | undefined): void {
    const folders = project.folders.map((folder) => {
      const incomplete = next(folder.incomplete);
      return !isScanned(folder) || folder.incomplete === incomplete ? folder : { ...folder, incomplete };
    });
    if (folders.some((folder, index) => folder !== project.folders[index])) {
      project.setFolders(folders, project.folderOf(outsideKey));
    }
  }

  function showProgress(cancel: () => void): { report(files: number): void; end(): void } {
    let reporter: Awaited<ReturnType<typeof connection.window.createWorkDoneProgress>> | undefined;
    let hasEnded = false;
    let last = clock.now();
    if (project.folders.some(isScanned)) {
      void guard.background('window/workDoneProgress/create', async () => {
        const created = await ask('window/workDoneProgress/create', () =>
          connection.window.createWorkDoneProgress(),
        );
        if (created === undefined) return;
        created.begin('Plimsoll', undefined, 'reading manifests', true);
        if (hasEnded) return created.done();
        reporter = created;
        created.token.onCancellationRequested(cancel);
      });
    }
    return {
      report(files) {
        if (clock.now() - last < progressInterval) return;
        last = clock.now();
        reporter?.report(`${files} files read`);
      },
      end() {
        hasEnded = true;
        reporter?.done();
      },
    };
  }

  /** A document is open: whether its size lets it count, and the configuration above it. */
  async function openedOnDisk(key: string): Promise<void> {
    const buffer = buffers.get(key);
    if (buffer === undefined) return;
    project.skip(key, tooLarge(buffer.document.getText().length, project.folderOf(key)));
    const path = pathOfUri(key);
    if (path !== undefined) await scanner.around(path);
    if (project.isConfig(key) || project.isBase(key)) await scanner.bases();
  }

  /** Work on one file that answers about it wait for. */
  function readLater(key: string, name: string, work: () => Promise<void>): void {
    const mine = guard.background(name, work).finally(() => {
      if (pendingReads.get(key) !== mine) return;
      pendingReads.delete(key);
      delivery.changed(isOpen(key) ? key : undefined);
    });
    pendingReads.set(key, mine);
  }

  /** Until the settings are there, and what is on its way from the disk about one file. */
  async function settled(key?: string): Promise<void> {
    await ready;
    if (key !== undefined) await pendingReads.get(key);
  }

  // -------------------------------------------------------------------------------------------------------------
  // Life

  connection.onInitialize((params: InitializeParams): InitializeResult => {
    capabilities = isFields(params.capabilities) ? params.capabilities : {};
    const options: unknown = params.initializationOptions;
    isOurClient = isFields(options) && options['openRuleDocumentation'] === true;
    givenSettings = isFields(options) ? options['settings'] : undefined;
    folderNames = foldersIn(params);
    stage = 'running';
    const actions = capabilities.textDocument?.codeAction?.codeActionLiteralSupport !== undefined;
    return {
      capabilities: {
        positionEncoding: PositionEncodingKind.UTF16,
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        diagnosticProvider: {
          identifier: settingsSection,
          interFileDependencies: true,
          workspaceDiagnostics: true,
        },
        ...(actions
          ? {
              codeActionProvider: {
                codeActionKinds: [CodeActionKind.QuickFix, fixAllKind, sizingReportKind],
              },
            }
          : {}),
        hoverProvider: true,
        ...(panel === undefined ? {} : { codeLensProvider: {} }),
        ...editorCapabilities,
        ...schemaCapabilities,
        ...(isOurClient ? {} : { executeCommandProvider: { commands: [explainRuleCommand] } }),
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
      serverInfo: { name: 'Plimsoll', version: dependencies.version },
    };
  });

  connection.onInitialized(
    guard.notification('initialized', () => {
      const register = (what: string, registration: () => Promise<unknown>): void =>
        void guard.background(what, async () => void (await ask(what, registration)));
      if (capabilities.workspace?.didChangeConfiguration?.dynamicRegistration === true) {
        register('client/registerCapability', () =>
          connection.client.register(DidChangeConfigurationNotification.type, { section: settingsSection }),
        );
      }
      if (capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true) {
        register('client/registerCapability', () =>
          connection.client.register(DidChangeWatchedFilesNotification.type, {
            watchers: [
              { globPattern: '**/*.{yaml,yml,YAML,YML,tpl}', kind: WatchKind.Change },
              { globPattern: '**/.gitignore', kind: WatchKind.Change },
              // A folder that comes or goes is one event, without any for the files in it.
              { globPattern: '**/*', kind: WatchKind.Create | WatchKind.Delete },
            ],
          }),
        );
      }
      if (capabilities.workspace?.workspaceFolders === true) {
        connection.workspace.onDidChangeWorkspaceFolders(
          guard.notification('workspace/didChangeWorkspaceFolders', foldersChanged),
        );
      }
      ready = guard.background('loading the settings', async () => {
        // Answers rest on the catalogue from the first one on.
        await takeCatalogue(
          folderNames.flatMap(({ uri }) => pathOfUri(uri) ?? []),
          fs,
          log,
        );
        clusterSchemas = schemasOfCluster();
        await queue.run(loadFolders);
      });
      void ready.then(() => guard.background('scanning the workspace', async () => void (await scan())));
    }),
  );

  connection.onShutdown(
    () =>
      void guard.background('shutdown', async () => {
        stage = 'shut-down';
        cancelScan?.();
        panel?.dispose();
        delivery.dispose();
      }),
  );

  function foldersIn(params: InitializeParams): readonly FolderName[] {
    if (Array.isArray(params.workspaceFolders)) return params.workspaceFolders.filter(isFolderName);
    const { rootUri, rootPath } = params;
    if (typeof rootUri === 'string') return [{ uri: rootUri, name: baseName(rootUri) }];
    if (typeof rootPath === 'string') return [{ uri: uriOfPath(rootPath), name: baseName(rootPath) }];
    return [];
  }

  function isFolderName(value: unknown): value is FolderName {
    return isFields(value) && typeof value['uri'] === 'string';
  }

  function foldersChanged(event: unknown): void {
    const fields = fieldsOf(event, 'event');
    const removed = new Set(
      listOf(fields['removed'], 'event.removed')
        .filter(isFolderName)
        .map(({ uri }) => uriKey(uri)),
    );
    const added = listOf(fields['added'], 'event.added').filter(isFolderName);
    const kept = folderNames.filter(({ uri }) => !removed.has(uriKey(uri)));
    const known = new Set(kept.map(({ uri }) => uriKey(uri)));
    folderNames = [...kept, ...added.filter(({ uri }) => !known.has(uriKey(uri)))];
    cancelScan?.();
    void reload(true);
  }

  connection.onDidChangeConfiguration(
    guard.notification('workspace/didChangeConfiguration', (params: unknown) => {
      const settings = isFields(params) ? params['settings'] : undefined;
      if (isFields(settings) && settings[settingsSection] !== undefined) {
        givenSettings = settings[settingsSection];
      }
      void reload(false);
    }),
  );

  connection.onDidChangeWatchedFiles(
    guard.notification('workspace/didChangeWatchedFiles', (params: unknown) => {
      const changes = new Map<string, PathChange>();
      for (const each of listOf(fieldsOf(params)['changes'], 'changes')) {
        const { uri, type } = fieldsOf(each, 'changes[]');
        const path = pathOfUri(stringOf(uri, 'changes[].uri'));
        const kind = kinds.get(type);
        if (path !== undefined && kind !== undefined) changes.set(path, kind);
      }
      if (changes.size === 0) return;
      void guard.background('reading changed files', () =>
        queue.run(async () => {
          const again = await scanner.changed(changes);
          delivery.changed();
          rendering.request();
          if (again) void guard.background('scanning the workspace', async () => void (await scan()));
        }),
      );
    }),
  );

  // -------------------------------------------------------------------------------------------------------------
  // Documents

  connection.onDidOpenTextDocument(
    guard.notification('textDocument/didOpen', (params: unknown) => {
      const fields = fieldsOf(fieldsOf(params)['textDocument'], 'textDocument');
      const { key } = buffers.open(
        stringOf(fields['uri'], 'textDocument.uri'),
        typeof fields['languageId'] === 'string' ? fields['languageId'] : 'yaml',
        integerOf(fields['version'], 'textDocument.version'),
        stringOf(fields['text'], 'textDocument.text'),
      );
      project.bufferChanged(key);
      readLater(key, 'textDocument/didOpen', async () => {
        await ready;
        await openedOnDisk(key);
      });
    }),
  );

  connection.onDidChangeTextDocument(
    guard.notification('textDocument/didChange', (params: unknown) => {
      const uri = documentUri(params);
      const fields = fieldsOf(params);
      const version = integerOf(fieldsOf(fields['textDocument'])['version'], 'textDocument.version');
      const buffer = buffers.change(uri, version, changesOf(fields['contentChanges']));
      if (buffer === undefined) throw new InvalidParams(`${uri} is not open`);
      project.skip(buffer.key, tooLarge(buffer.document.getText().length, project.folderOf(buffer.key)));
      project.bufferChanged(buffer.key);
      if (project.isConfig(buffer.key) || project.isBase(buffer.key)) {
        readLater(buffer.key, 'textDocument/didChange', () => scanner.bases());
      }
      // A document that is just being opened is looked at when that is done.
      if (!pendingReads.has(buffer.key)) delivery.changed(buffer.key);
    }),
  );

  connection.onDidCloseTextDocument(
    guard.notification('textDocument/didClose', (params: unknown) => {
      const uri = documentUri(params);
      const buffer = buffers.close(uri);
      if (buffer === undefined) throw new InvalidParams(`${uri} is not open`);
      project.bufferChanged(buffer.key);
      readLater(buffer.key, 'textDocument/didClose', async () => {
        await ready;
        if (!isOpen(buffer.key)) await scanner.closed(buffer.key);
      });
    }),
  );

  // -------------------------------------------------------------------------------------------------------------
  // Questions

  connection.languages.diagnostics.on(
    guard.request('textDocument/diagnostic', async (params: unknown, cancellation) => {
      const key = uriKey(documentUri(params));
      const previous = fieldsOf(params)['previousResultId'];
      await settled(key);
      // Typed on meanwhile: the client has taken the question back and asks again about the new text.
      if (cancellation.isCancellationRequested) throw cancelled();
      return delivery.document(key, typeof previous === 'string' ? previous : undefined);
    }),
  );

  connection.languages.diagnostics.onWorkspace(
    guard.request(
      'workspace/diagnostic',
      async (params: unknown, cancellation: Cancellation): Promise<WorkspaceDiagnosticReport> => {
        const previousResultIds = listOf(fieldsOf(params)['previousResultIds'], 'previousResultIds').map(
          (each, index) => {
            const { uri, value } = fieldsOf(each, `previousResultIds[${index}]`);
            return {
              uri: stringOf(uri, `previousResultIds[${index}].uri`),
              value: stringOf(value, `previousResultIds[${index}].value`),
            };
          },
        );
        await settled();
        const token = cancellation as CancellationToken;
        const report = await delivery.workspace(
          { previousResultIds },
          (callback) => void token.onCancellationRequested(callback),
        );
        if (report === undefined) throw cancelled();
        return report;
      },
    ),
  );

  connection.onCodeAction(
    guard.request('textDocument/codeAction', async (params: unknown, cancellation: Cancellation) => {
      const key = uriKey(documentUri(params));
      const fields = fieldsOf(params);
      const range = rangeOf(fields['range'], 'range');
      const given = fieldsOf(fields['context'], 'context');
      listOf(given['diagnostics'], 'context.diagnostics');
      if (given['only'] !== undefined) listOf(given['only'], 'context.only');
      await settled(key);
      if (cancellation.isCancellationRequested) throw cancelled();
      return codeActions(key, range, given as unknown as CodeActionContext, project, reports, {
        versionedEdits: capabilities.workspace?.workspaceEdit?.documentChanges ?? false,
        openRuleDocumentation: isOurClient,
      });
    }),
  );

  connection.onHover(
    guard.request('textDocument/hover', async (params: unknown, cancellation: Cancellation) => {
      const key = uriKey(documentUri(params));
      const position = positionOf(fieldsOf(params)['position'], 'position');
      await settled(key);
      if (cancellation.isCancellationRequested) throw cancelled();
      if (!project.folderOf(key).settings.hover.enable) return null;
      const formats = capabilities.textDocument?.hover?.contentFormat ?? [];
      const markdown = formats.includes(MarkupKind.Markdown);
      const described = await schemaFeatures.hover(key, position);
      const own = hoverAt(key, position, project, reports, { markdown, showsMessages: isOurClient });
      return joinHovers(own, described, markdown) ?? null;
    }),
  );

  if (panel !== undefined) {
    connection.onCodeLens(
      guard.request('textDocument/codeLens', async (params: unknown, cancellation: Cancellation) => {
        const key = uriKey(documentUri(params));
        await settled(key);
        if (cancellation.isCancellationRequested) throw cancelled();
        return [...lensesOf(key)];
      }),
    );
  }

  connection.onExecuteCommand(
    guard.request('workspace/executeCommand', async (params: unknown) => {
      const { command, arguments: given } = fieldsOf(params);
      const [rule] = listOf(given ?? [], 'arguments');
      if (command !== explainRuleCommand)
        throw new InvalidParams(`unknown command ${JSON.stringify(command)}`);
      const meta = typeof rule === 'string' ? ruleMeta(rule) : undefined;
      if (meta === undefined) throw new InvalidParams('arguments[0] is not the id of a rule');
      const uri = ruleDocUrl(meta.id);
      const isShown =
        capabilities.window?.showDocument?.support === true &&
        (await ask('window/showDocument', () => connection.window.showDocument({ uri, external: true })))
          ?.success === true;
      if (!isShown) {
        const message = `${meta.summary}: ${uri}`;
        await connection.sendNotification(ShowMessageNotification.type, { type: MessageType.Info, message });
      }
      return null;
    }),
  );

  const lintWorkspace = guard.request(
    lintWorkspaceRequest,
    async (_params: unknown, cancellation: Cancellation): Promise<LintWorkspaceResult> => {
      await settled();
      let end: ScanEnd;
      do end = await scan(cancellation);
      while (end === 'replaced' && stage === 'running');
      // Part of the files is no answer to a question about all of them.
      if (end !== 'complete') throw cancelled();
      const result = await delivery.lintAll(
        () => stage === 'shut-down' || cancellation.isCancellationRequested,
      );
      if (result === undefined) throw cancelled();
      return result;
    },
  );
  // Whether it has parameters or none, the last argument is the cancellation.
  connection.onRequest(lintWorkspaceRequest, (...given: unknown[]) =>
    lintWorkspace(undefined, given.at(-1) as CancellationToken),
  );

  connection.onRequest(
    readinessRequest,
    guard.request(
      readinessRequest,
      async (params: unknown, cancellation: Cancellation): Promise<ReadinessDocument> => {
        const uri = isFields(params) ? params['uri'] : undefined;
        const key = typeof uri === 'string' ? uriKey(uri) : undefined;
        await settled(key);
        if (cancellation.isCancellationRequested) throw cancelled();
        return readinessDocument(project, key);
      },
    ),
  );

  return {
    uncaught: (what, error) => {
      void guard.background(what, () => Promise.reject(error));
    },
  };
}

const kinds: ReadonlyMap<unknown, PathChange> = new Map([
  [FileChangeType.Created, 'created'],
  [FileChangeType.Changed, 'changed'],
  [FileChangeType.Deleted, 'deleted'],
]);
