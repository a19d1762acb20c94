import type { TextDocumentContentChangeEvent } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { uriKey } from './uris';

/** A document that is open in the editor. Its text, not the disk's, is the truth. */
export interface Buffer {
  readonly key: string;
  readonly document: TextDocument;
}

export interface Buffers {
  open(uri: string, languageId: string, version: number, text: string): Buffer;
  /** `undefined` when the document is not open. */
  change(uri: string, version: number, changes: TextDocumentContentChangeEvent[]): Buffer | undefined;
  close(uri: string): Buffer | undefined;
  /** By key, not by URI. */
  get(key: string): Buffer | undefined;
  all(): Iterable<Buffer>;
}

export function createBuffers(): Buffers {
  const open = new Map<string, Buffer>();
  return {
    open(uri, languageId, version, text) {
      const buffer = { key: uriKey(uri), document: TextDocument.create(uri, languageId, version, text) };
      open.set(buffer.key, buffer);
      return buffer;
    },
    change(uri, version, changes) {
      const buffer = open.get(uriKey(uri));
      if (buffer !== undefined) TextDocument.update(buffer.document, changes, version);
      return buffer;
    },
    close(uri) {
      const key = uriKey(uri);
      const buffer = open.get(key);
      open.delete(key);
      return buffer;
    },
    get: (key) => open.get(key),
    all: () => open.values(),
  };
}
