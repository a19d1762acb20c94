/** The world outside of the connection, as the server sees it. Passed in, so that a test can break it. */

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

export interface FileInfo {
  /** Of the target, when the path is a link. */
  readonly kind: Exclude<EntryKind, 'link'>;
  /** Bytes. */
  readonly size: number;
}

/** Paths are absolute, with forward slashes. Errors are rejections that carry the system's `code`. */
export interface FileSystem {
  readFolder(path: string): Promise<readonly FolderEntry[]>;
  info(path: string): Promise<FileInfo>;
  readFile(path: string): Promise<Uint8Array>;
  /** The path without links. */
  realPath(path: string): Promise<string>;
}

export interface Clock {
  /** Milliseconds from any fixed point. */
  now(): number;
  /** Calls back once, after the given milliseconds, unless cancelled by the function that it returns. */
  after(milliseconds: number, callback: () => void): () => void;
  /** Resolves when everything that already waits for the process has had its turn. */
  nextTurn(): Promise<void>;
}
