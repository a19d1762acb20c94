import { readSubset } from './subset-reader';
import type { PlacedDocument, Reading, SourceFile, YamlDocument } from './document';
import { readWithParser } from './parser';
import { splitDocuments } from './split';

/**
 * Splits a file into documents, each of which is read when it is first looked at. Never throws: what is wrong with a
 * document is in its `problems`.
 *
 * A document whose text also stands in `previous` is that very object, so that editing one document of a file reads
 * that document only.
 */
export function parseFile(uri: string, text: string, previous?: SourceFile): SourceFile {
  const known = new Map<string, YamlDocument>();
  for (const { document, offset } of previous?.documents ?? []) {
    known.set(identity(document.text, previous?.text.endsWith('---', offset) === true), document);
  }
  const documents: PlacedDocument[] = [];
  for (const { start, end, inline } of splitDocuments(text)) {
    const slice = text.slice(start, end);
    const document = known.get(identity(slice, inline)) ?? lazyDocument(slice, inline);
    documents.push({ document, offset: start, index: documents.length });
  }
  return { uri, text, documents };
}

/** A document on the line of its `---` is read by other rules than one on lines of its own. */
function identity(text: string, inline: boolean): string {
  return inline ? `---${text}` : text;
}

function lazyDocument(text: string, inline: boolean): YamlDocument {
  let reading: Reading | undefined;
  const read = (): Reading => (reading ??= readDocument(text, inline));
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
    get repeated() {
      return read().repeated;
    },
  };
}

function readDocument(text: string, inline: boolean): Reading {
  try {
    return (inline ? undefined : readSubset(text)) ?? readWithParser(text, inline);
  } catch (error) {
    // The parser is not ours and meets any text; what it cannot take must not take the other documents with it.
    const message = `This document could not be read: ${error instanceof Error ? error.message : String(error)}`;
    return {
      root: undefined,
      problems: [{ code: 'limit', message, start: 0, end: Math.min(text.length, 1) }],
      comments: [],
      templated: false,
      repeated: [],
    };
  }
}
