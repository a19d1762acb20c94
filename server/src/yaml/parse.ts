import type { Comment, PlacedDocument, SourceFile, YamlDocument, YamlProblem } from './document';
import type { YamlNode } from './node';
import { readWithParser } from './parser';
import { splitDocuments } from './split';

/** What reading a document's text yields. */
export interface Reading {
  readonly root: YamlNode | undefined;
  readonly problems: readonly YamlProblem[];
  readonly comments: readonly Comment[];
  readonly templated: boolean;
}

/**
 * Splits a file into documents, each of which is read when it is first looked at. Never throws: what is wrong with a
 * document is in its `problems`.
 *
 * A document whose text also stands in `previous` is that very object, so that editing one document of a file reads
 * that document only.
 */
export function parseFile(uri: string, text: string, previous?: SourceFile): SourceFile {
  const known = new Map<string, YamlDocument>();
  for (const { document } of previous?.documents ?? []) known.set(document.text, document);
  const documents: PlacedDocument[] = [];
  for (const { start, end } of splitDocuments(text)) {
    const slice = text.slice(start, end);
    documents.push({
      document: known.get(slice) ?? lazyDocument(slice),
      offset: start,
      index: documents.length,
    });
  }
  return { uri, text, documents };
}

function lazyDocument(text: string): YamlDocument {
  let reading: Reading | undefined;
  const read = (): Reading => (reading ??= readDocument(text));
  return {
    text,
    get root() {
      return read().root;
    },
    get problems() {
      return read().problems;
    },
    get comments() {
      return read().comments;
    },
    get templated() {
      return read().templated;
    },
  };
}

function readDocument(text: string): Reading {
  return readWithParser(text);
}
