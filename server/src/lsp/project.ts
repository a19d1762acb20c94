import { TextDocument } from 'vscode-languageserver-textdocument';
import type { Config, Configuration } from '../engine/config';
import { configurationOf, singleConfiguration } from '../engine/config';
import type { BaseFile, Bases } from '../engine/extends';
import { noBases } from '../engine/extends';
import type { Finding } from '../engine/finding';
import type { Judged } from '../render/judge';
import type { SkippedFile } from '../protocol/messages';
import type { Settings } from '../protocol/settings';
import { configName } from '../files/text';
import { objectsOf } from '../workspace/objects';
import { Workspace } from '../workspace/workspace';
import type { SourceFile } from '../yaml/document';
import { parseFile } from '../yaml/parse';
import type { Buffers } from './buffers';
import { baseName, isWithin, pathOfUri, uriKey } from './uris';

/** What was found by rendering, and the texts of the sources that it is about. */
export interface Rendered {
  readonly judged: Judged;
  /** By URI, as they were on disk. */
  readonly texts: ReadonlyMap<string, string>;
}

/** A workspace folder, or, with an empty key, everything that is in none. */
export interface ProjectFolder {
  readonly key: string;
  /** Absent for what is not on this disk, which cannot be scanned. */
  readonly path: string | undefined;
  readonly settings: Settings;
  /** The key of the configuration file that `plimsoll.configFile` names. */
  readonly configFile: string | undefined;
  /** Why the files of the folder are not all known, in words for the user; absent when they are. */
  readonly incomplete: string | undefined;
}

/**
 * What the server knows: files, open or on disk, the folders that they are in, and the configuration. It does no IO;
 * others tell it what they read. All keys are in the form of `uriKey`.
 */
export interface Project {
  /** Grows with each change of anything that a finding depends on. */
  readonly generation: number;
  readonly folders: readonly ProjectFolder[];
  setFolders(folders: readonly ProjectFolder[], outside: ProjectFolder): void;
  /** The innermost workspace folder that a file is in. */
  folderOf(key: string): ProjectFolder;
  /** What a cluster says has changed in a way that findings tell. */
  liveChanged(): void;
  /** The text on disk of a manifest or a configuration file; `undefined`: it is gone, or not to be looked at. */
  setDisk(key: string, text: string | undefined): void;
  onDisk(): Iterable<string>;
  /** A buffer was opened, changed or closed. */
  bufferChanged(key: string): void;
  /** `undefined`: the file is not skipped, or gone. */
  skip(key: string, reason: string | undefined): void;
  skipped(): readonly SkippedFile[];
  /** All files at their newest text; only those that changed since the last call are split into documents again. */
  workspace(): Workspace;
  /**
   * Does ahead of time, file by file, what the first look at the workspace would have to do at once. False when there
   * was no time for the rest.
   */
  catchUp(isLate: () => boolean): boolean;
  /** The manifests and configuration files that are checked, without those that are only there to be referred to. */
  checked(): Iterable<string>;
  /** Whether a manifest is checked: it is open, or in a folder that is scanned. */
  isChecked(key: string): boolean;
  isConfig(key: string): boolean;
  /** The newest texts of the configuration files, by key. */
  configTexts(): ReadonlyMap<string, string>;
  /** What the configuration files extend, as it is on disk. */
  setBases(bases: Bases): void;
  setRendered(folder: string, rendered: Rendered | undefined): void;
  /** What rendering found, when the file is as it was then. */
  renderedOf(key: string): Judged | undefined;
  /** A file that some configuration extends. */
  isBase(key: string): boolean;
  configFor(key: string): Config;
  configProblems(key: string): readonly Finding[];
  /** The newest text with its line starts; `undefined` for a file that is not known. */
  document(key: string): TextDocument | undefined;
}

/** Whether the files of a folder are to be found by walking it. */
export function isScanned(folder: ProjectFolder): boolean {
  return folder.path !== undefined && folder.settings.enable && folder.settings.workspaceScan.enable;
}

export function createProject(buffers: Buffers): Project {
  let generation = 0;
  let folders: readonly ProjectFolder[] = [];
  let outside: ProjectFolder | undefined;
  let workspace = Workspace.empty;
  const disk = new Map<string, string>();
  const skipped = new Map<string, string>();
  /** Keys whose text in the workspace may be outdated. */
  const outdated = new Set<string>();
  const files = new Map<string, SourceFile>();
  /** What `files` has and the workspace not yet; `undefined` for what is gone. */
  const unseen = new Map<string, SourceFile | undefined>();
  /** Files whose documents nobody has looked at yet. */
  const unread = new Set<string>();
  const configTexts = new Map<string, string>();
  const configurations = new Map<ProjectFolder, Configuration>();
  const renderedIn = new Map<string, Rendered>();
  let bases: Bases = noBases;
  let baseTexts: ReadonlyMap<string, string> = new Map();
  const documents = new WeakMap<SourceFile, TextDocument>();
  const configDocuments = new Map<string, TextDocument>();

  const folderOf = (key: string): ProjectFolder => {
    const path = pathOfUri(key);
    let best: ProjectFolder | undefined;
    for (const folder of folders) {
      const holds =
        folder.path !== undefined && path !== undefined
          ? isWithin(path, folder.path)
          : isWithin(key, folder.key);
      if (holds && (best === undefined || folder.key.length > best.key.length)) best = folder;
    }
    if (best !== undefined) return best;
    if (outside === undefined) throw new Error('setFolders comes before everything else');
    return outside;
  };
  const isConfig = (key: string): boolean =>
    baseName(key) === configName || folders.some(({ configFile }) => configFile === key);
  const isChecked = (key: string): boolean => buffers.get(key) !== undefined || isScanned(folderOf(key));
  const textOf = (key: string): string | undefined => buffers.get(key)?.document.getText() ?? disk.get(key);

  const touch = (key: string): void => {
    generation++;
    if (isConfig(key)) {
      const text = textOf(key);
      if (text === undefined) configTexts.delete(key);
      else configTexts.set(key, text);
      configDocuments.delete(key);
      configurations.clear();
    } else if (baseTexts.has(key)) {
      configDocuments.delete(key);
      configurations.clear();
    }
    outdated.add(key);
  };
  /** The text of a manifest that counts: not of a configuration file, nor of a skipped file, nor where we are off. */
  const manifestText = (key: string): string | undefined => {
    if (skipped.has(key) || isConfig(key) || !folderOf(key).settings.enable) return undefined;
    return textOf(key);
  };
  /** Splits what is new into documents, as far as there is time. */
  const split = (isLate: () => boolean = () => false): void => {
    for (const key of outdated) {
      outdated.delete(key);
      const text = manifestText(key);
      const known = files.get(key);
      if (text === undefined) {
        if (known !== undefined) unseen.set(key, undefined);
        files.delete(key);
        unread.delete(key);
      } else if (known?.text !== text) {
        const file = parseFile(key, text, known);
        files.set(key, file);
        unseen.set(key, file);
        unread.add(key);
      }
      if (isLate()) break;
    }
  };
  const bringUpToDate = (): void => {
    split();
    if (unseen.size === 0) return;
    // Each change of the workspace copies the table of its files: many are cheaper in one go.
    const removed = [...unseen].filter(([, file]) => file === undefined);
    const added = [...unseen.values()].filter((file) => file !== undefined);
    unseen.clear();
    if (removed.length > 20) workspace = Workspace.empty.withAll(files.values());
    else {
      for (const [key] of removed) workspace = workspace.without(key);
      if (added.length > 0) workspace = workspace.withAll(added);
    }
  };
  /** What is extended, at its newest text: that of an open editor where there is one. */
  const newestBases = (): Bases => {
    if (bases.size === 0) return bases;
    const newest = (base: BaseFile): BaseFile =>
      'text' in base
        ? { ...base, text: buffers.get(uriKey(base.uri))?.document.getText() ?? base.text }
        : base;
    return new Map([...bases].map(([key, base]) => [key, newest(base)]));
  };
  const configurationOfFolder = (folder: ProjectFolder): Configuration => {
    let known = configurations.get(folder);
    if (known === undefined) {
      const layers = { defaults: { preset: folder.settings.preset, rules: folder.settings.rules } };
      const text = folder.configFile === undefined ? undefined : configTexts.get(folder.configFile);
      known =
        folder.configFile !== undefined && text !== undefined
          ? singleConfiguration(folder.configFile, text, folder.key, layers, newestBases())
          : configurationOf(configTexts, layers, newestBases());
      configurations.set(folder, known);
    }
    return known;
  };

  return {
    get generation() {
      return generation;
    },
    get folders() {
      return folders;
    },
    liveChanged() {
      generation++;
    },
    setFolders(next, nextOutside) {
      generation++;
      folders = next;
      outside = nextOutside;
      configurations.clear();
      // A file can have become a configuration file, or have moved into a folder where we are off.
      for (const key of [...disk.keys(), ...[...buffers.all()].map((buffer) => buffer.key)]) {
        if (isConfig(key) || configTexts.has(key)) touch(key);
        else outdated.add(key);
      }
      for (const key of configTexts.keys()) if (!isConfig(key)) configTexts.delete(key);
    },
    folderOf,
    setDisk(key, text) {
      if (disk.get(key) === text) return;
      if (text === undefined) disk.delete(key);
      else disk.set(key, text);
      if (buffers.get(key) === undefined) touch(key);
    },
    onDisk: () => disk.keys(),
    bufferChanged: touch,
    skip(key, reason) {
      if (skipped.get(key) === reason) return;
      if (reason === undefined) skipped.delete(key);
      else skipped.set(key, reason);
      touch(key);
    },
    skipped: () =>
      [...skipped].map(([uri, reason]) => ({ uri, reason })).sort((a, b) => (a.uri < b.uri ? -1 : 1)),
    workspace() {
      bringUpToDate();
      return workspace;
    },
    catchUp(isLate) {
      split(isLate);
      if (outdated.size > 0) return false;
      for (const key of unread) {
        unread.delete(key);
        for (const { document } of files.get(key)?.documents ?? []) objectsOf(document);
        if (isLate()) break;
      }
      return unread.size === 0;
    },
    *checked() {
      bringUpToDate();
      for (const key of files.keys()) if (isChecked(key)) yield key;
      for (const key of configTexts.keys()) if (folderOf(key).settings.enable) yield key;
    },
    isChecked,
    isConfig,
    configTexts: () => configTexts,
    setBases(next) {
      if (JSON.stringify([...next]) === JSON.stringify([...bases])) return;
      bases = next;
      for (const key of baseTexts.keys()) configDocuments.delete(key);
      baseTexts = new Map(
        [...next.values()].flatMap((base) =>
          'text' in base ? [[uriKey(base.uri), base.text] as const] : [],
        ),
      );
      configurations.clear();
      generation++;
    },
    setRendered(folder, next) {
      if (next === undefined && !renderedIn.has(folder)) return;
      if (next === undefined) renderedIn.delete(folder);
      else renderedIn.set(folder, next);
      generation++;
    },
    renderedOf(key) {
      const rendered = renderedIn.get(folderOf(key).key);
      return rendered !== undefined && rendered.texts.get(key) === textOf(key) ? rendered.judged : undefined;
    },
    isBase: (key) => baseTexts.has(key),
    configFor: (key) => configurationOfFolder(folderOf(key)).configFor(key),
    configProblems: (key) => configurationOfFolder(folderOf(key)).problems.get(key) ?? [],
    document(key) {
      const buffer = buffers.get(key);
      if (buffer !== undefined) return buffer.document;
      bringUpToDate();
      const file = files.get(key);
      if (file !== undefined) {
        let document = documents.get(file);
        if (document === undefined)
          documents.set(file, (document = TextDocument.create(key, 'yaml', 0, file.text)));
        return document;
      }
      const text = configTexts.get(key) ?? baseTexts.get(key);
      if (text === undefined) return undefined;
      let document = configDocuments.get(key);
      if (document === undefined)
        configDocuments.set(key, (document = TextDocument.create(key, 'yaml', 0, text)));
      return document;
    },
  };
}
