import type { BaseText } from '../engine/extends';
import { gatherBases } from '../engine/extends';
import { whyUnreadable } from '../files/errors';
import { configName, decodeText, isManifestName } from '../files/text';
import type { Clock, FileSystem, FolderEntry } from './environment';
import type { Cancellation } from './guard';
import type { Project, ProjectFolder } from './project';
import { isScanned } from './project';
import { baseName, isWithin, joinPath, parentFolder, pathOfUri, uriKey, uriOfPath } from './uris';
import type { FolderRules } from './walk';
import { createFolderRules, gitIgnoreAbove, walkFolder } from './walk';

/** Files that are read at a time. */
const batchSize = 16;
/** Milliseconds of work after which everything else gets a turn. */
const sliceLength = 5;
/** Files that are read beside an open one: a folder of downloads is no application. */
const mostBeside = 500;
/** Bytes of a configuration that is extended. */
const largestBase = 1024 * 1024;

export type PathChange = 'created' | 'changed' | 'deleted';

export interface ScanProgress {
  (filesRead: number): void;
}

/** Reads from the disk what the project has to know. One caller at a time: the methods are not to overlap. */
export interface Scanner {
  /** Reads all folders again. False when it was cancelled: then what was known stays. */
  scan(cancellation: Cancellation, progress: ScanProgress): Promise<boolean>;
  /** Reads what the watcher saw changing. True when folders have to be scanned again. */
  changed(changes: ReadonlyMap<string, PathChange>): Promise<boolean>;
  /** A document was closed: the disk's text counts again. */
  closed(key: string): Promise<void>;
  /**
   * A document was opened, or its folder's settings changed: reads the configuration files above it and, where no scan
   * does, the manifests beside it, since an autoscaler's target is often in the next file.
   */
  around(path: string): Promise<void>;
  /** A configuration file changed: reads what it extends. */
  bases(): Promise<void>;
}

/** The bytes of an oversized file in words for the user. */
export function tooLarge(bytes: number, folder: ProjectFolder): string | undefined {
  const limit = folder.settings.workspaceScan.maxFileSizeKiB;
  const size = Math.ceil(bytes / 1024);
  if (bytes <= limit * 1024) return undefined;
  const number = (value: number): string => value.toLocaleString('en-US');
  return `${number(size)} KiB is more than plimsoll.workspaceScan.maxFileSizeKiB (${number(limit)})`;
}

export function createScanner(
  project: Project,
  fs: FileSystem,
  clock: Clock,
  isOpen: (key: string) => boolean,
): Scanner {
  const rulesOf = new Map<string, FolderRules>();
  /** The scanned folders, under their names and without links. */
  let scannedRoots: readonly string[] = [];
  /** Folders above manifests whose configuration file was looked for. */
  const lookedIn = new Set<string>();
  /** Folders of open documents that no scan reads. */
  const lookedBeside = new Set<string>();

  const roots = (): readonly string[] =>
    project.folders.filter(isScanned).flatMap(({ path }) => (path === undefined ? [] : [path]));
  const withoutLinks = async (path: string): Promise<string> => {
    try {
      return await fs.realPath(path);
    } catch {
      // The walk says what is wrong with it.
      return path;
    }
  };

  /** Reads a file, or says why not; of one that is only there to be referred to, it says nothing. */
  const read = async (path: string, isBeside = false): Promise<void> => {
    const key = uriOfPath(path);
    const gone = (reason: string | undefined): void => {
      project.setDisk(key, undefined);
      if (!isOpen(key)) project.skip(key, isBeside ? undefined : reason);
    };
    try {
      const info = await fs.info(path);
      // A socket or a device can have any name; reading one might never end.
      if (info.kind !== 'file') return gone(undefined);
      const reason = tooLarge(info.size, project.folderOf(key));
      if (reason !== undefined) return gone(reason);
      const bytes = await fs.readFile(path);
      const grown = tooLarge(bytes.length, project.folderOf(key));
      if (grown !== undefined) return gone(grown);
      const decoded = decodeText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      if ('problem' in decoded) return gone(`it ${decoded.problem}`);
      // Editors show a file without its byte order mark, and positions are the editor's.
      project.setDisk(key, decoded.text.replace(/^\uFEFF/, ''));
      if (!isOpen(key)) project.skip(key, undefined);
    } catch (error) {
      const isGone = error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT';
      gone(isGone ? undefined : whyUnreadable(error));
    }
  };
  let since = clock.now();
  const isLate = (): boolean => clock.now() - since > sliceLength;
  const readAll = async (paths: readonly string[], areBeside = false): Promise<void> => {
    await Promise.all(paths.map((path) => read(path, areBeside)));
    while (!project.catchUp(isLate) || isLate()) {
      await clock.nextTurn();
      since = clock.now();
    }
  };

  const readConfigsAbove = async (path: string): Promise<void> => {
    for (let folder = parentFolder(path); folder !== undefined; folder = parentFolder(folder)) {
      if (lookedIn.has(folder)) return;
      lookedIn.add(folder);
      await read(joinPath(folder, configName));
    }
  };
  const configsAbove = async (path: string): Promise<void> => {
    const { generation } = project;
    await readConfigsAbove(path);
    if (project.generation !== generation) await bases();
  };
  /** Whether a file is on disk beside one that was opened where nothing is scanned. */
  const isBeside = (path: string): boolean =>
    lookedBeside.has(parentFolder(path) ?? '') &&
    !isScanned(project.folderOf(uriOfPath(path))) &&
    isManifestName(baseName(path)) &&
    baseName(path) !== configName;
  const beside = async (path: string): Promise<void> => {
    const folder = parentFolder(path);
    const { settings, ...home } = project.folderOf(uriOfPath(path));
    if (folder === undefined || !settings.enable || isScanned({ settings, ...home })) return;
    if (lookedBeside.has(folder)) return;
    lookedBeside.add(folder);
    let entries: readonly FolderEntry[];
    try {
      entries = await fs.readFolder(folder);
    } catch {
      // The open document is all there is to see.
      return;
    }
    const paths = entries
      .map(({ name }) => joinPath(folder, name))
      .filter(isBeside)
      .sort()
      .slice(0, mostBeside);
    for (let at = 0; at < paths.length; at += batchSize) await readAll(paths.slice(at, at + batchSize), true);
  };
  let gatherings = 0;
  /** Reads what the configuration files extend. Of two at a time the later one counts. */
  const bases = async (): Promise<void> => {
    const mine = ++gatherings;
    const wanted = gatherBases(project.configTexts());
    let step = wanted.next();
    while (step.done !== true) step = wanted.next(await baseText(step.value));
    if (mine === gatherings) project.setBases(step.value);
  };
  const baseText = async (uri: string): Promise<BaseText> => {
    const path = pathOfUri(uri);
    if (path === undefined) return undefined;
    try {
      const info = await fs.info(path);
      if (info.kind !== 'file') return undefined;
      if (info.size > largestBase) return { problem: 'it is larger than 1 MiB' };
      const bytes = await fs.readFile(path);
      const decoded = decodeText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      return 'text' in decoded ? decoded.text.replace(/^\uFEFF/, '') : { problem: `it ${decoded.problem}` };
    } catch (error) {
      const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
      return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { problem: whyUnreadable(error) };
    }
  };
  const namedConfigs = async (): Promise<void> => {
    for (const { configFile } of project.folders) {
      const path = configFile === undefined ? undefined : pathOfUri(configFile);
      if (path !== undefined) await read(path);
    }
  };

  const scanFolder = async (
    folder: ProjectFolder,
    path: string,
    seen: Set<string>,
    cancellation: Cancellation,
    progress: ScanProgress,
  ): Promise<void> => {
    const rules = createFolderRules(path, await gitIgnoreAbove(fs, path));
    rulesOf.set(folder.key, rules);
    let batch: string[] = [];
    for await (const found of walkFolder(fs, path, rules, scannedRoots)) {
      if (cancellation.isCancellationRequested) return;
      const key = uriOfPath(found.path);
      // A folder within a folder is walked on its own, with its own settings.
      if (found.path !== path && project.folderOf(key) !== folder) continue;
      seen.add(key);
      if (found.kind === 'problem') {
        project.skip(key, found.reason);
        continue;
      }
      batch.push(found.path);
      if (batch.length < batchSize) continue;
      await readAll(batch);
      batch = [];
      progress(seen.size);
    }
    await readAll(batch);
    progress(seen.size);
  };

  /** Whether a file below a scanned folder counts. */
  const counts = (path: string): boolean => {
    const folder = project.folderOf(uriOfPath(path));
    const rules = rulesOf.get(folder.key);
    return (
      isScanned(folder) &&
      rules !== undefined &&
      isManifestName(baseName(path)) &&
      !rules.leavesOut(path, false)
    );
  };
  const isNamedConfig = (key: string): boolean =>
    project.folders.some(({ configFile }) => configFile === key);

  return {
    async scan(cancellation, progress) {
      const seen = new Set<string>();
      rulesOf.clear();
      scannedRoots = [...roots(), ...(await Promise.all(roots().map(withoutLinks)))];
      for (const folder of project.folders) {
        if (folder.path === undefined || !isScanned(folder)) continue;
        await scanFolder(folder, folder.path, seen, cancellation, progress);
      }
      if (cancellation.isCancellationRequested) return false;
      const known = new Set([...project.onDisk(), ...project.skipped().map(({ uri }) => uriKey(uri))]);
      for (const key of known) {
        if (seen.has(key)) continue;
        project.setDisk(key, undefined);
        if (!isOpen(key)) project.skip(key, undefined);
      }
      lookedIn.clear();
      lookedBeside.clear();
      for (const root of roots()) await readConfigsAbove(joinPath(root, configName));
      await namedConfigs();
      await bases();
      return true;
    },
    async changed(changes) {
      let again = false;
      const paths = new Set<string>();
      const gone: string[] = [];
      const besides: string[] = [];
      for (const [path, change] of changes) {
        const folder = project.folderOf(uriOfPath(path));
        if (baseName(path) === '.gitignore') {
          again ||= isScanned(folder);
        } else if (isBeside(path)) {
          besides.push(path);
        } else if (counts(path) || baseName(path) === configName || isNamedConfig(uriOfPath(path))) {
          paths.add(path);
        } else if (change === 'deleted') {
          gone.push(path);
        } else if (change === 'created') {
          for (const found of await filesOfNewFolder(path, folder)) paths.add(found);
        }
      }
      // A deleted folder is one event, without any for what was in it.
      if (gone.length > 0) {
        const known = [...project.onDisk(), ...project.skipped().map(({ uri }) => uri)];
        for (const key of known) {
          const path = pathOfUri(key);
          if (path !== undefined && gone.some((folder) => isWithin(path, folder))) paths.add(path);
        }
      }
      const all = [...paths];
      for (let at = 0; at < all.length; at += batchSize) await readAll(all.slice(at, at + batchSize));
      await readAll(besides, true);
      // Also a file that was not there before may be what is extended.
      await bases();
      return again;
    },
    async closed(key) {
      const path = pathOfUri(key);
      // Why its text did not count was about the buffer.
      project.skip(key, undefined);
      if (path === undefined) return;
      if (isBeside(path)) await read(path, true);
      else if (counts(path) || project.isConfig(key)) await read(path);
      else project.setDisk(key, undefined);
      if (project.isConfig(key) || project.isBase(key)) await bases();
    },
    async around(path) {
      await configsAbove(path);
      await beside(path);
    },
    bases,
  };

  async function filesOfNewFolder(path: string, folder: ProjectFolder): Promise<readonly string[]> {
    const rules = rulesOf.get(folder.key);
    if (!isScanned(folder) || rules === undefined || rules.leavesOut(path, true)) return [];
    try {
      if ((await fs.info(path)).kind !== 'folder') return [];
    } catch {
      return [];
    }
    const files: string[] = [];
    for await (const found of walkFolder(fs, path, rules, scannedRoots)) {
      if (found.kind === 'file') files.push(found.path);
      else project.skip(uriOfPath(found.path), found.reason);
    }
    return files;
  }
}
