import type { YamlDocument } from '../../server/src/yaml/document';
import type { YamlNode } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';

/** The only document of a text. */
export function onlyDocument(text: string): YamlDocument {
  const { documents } = parseFile('file:///test.yaml', text);
  if (documents.length !== 1 || documents[0] === undefined)
    throw new Error(`${documents.length} documents in ${text}`);
  return documents[0].document;
}

/** A tree as JSON, for comparing values alone: what is unknown is `{ unknown: text }`. */
export function plain(node: YamlNode | undefined): unknown {
  if (node === undefined) return undefined;
  if (node.kind === 'scalar') return node.unknown ? { unknown: node.text } : node.value;
  if (node.kind === 'sequence') return node.items.map(plain);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key.text, plain(value)]));
}

/** All that is known of a tree, as plain data: what two readers have to agree on. */
export function snapshot(node: YamlNode | undefined): unknown {
  if (node === undefined) return undefined;
  if (node.kind === 'scalar') return { ...node };
  const { kind, start, end, borrowed, flow, open } = node;
  const shape = { kind, start, end, borrowed, flow, open };
  if (node.kind === 'sequence') return { ...shape, items: node.items.map(snapshot) };
  return {
    ...shape,
    entries: node.entries.map(({ key, value }) => ({ key: snapshot(key), value: snapshot(value) })),
  };
}

/** The text that a node spans. */
export function spanned(
  document: YamlDocument,
  node: { readonly start: number; readonly end: number } | undefined,
): string {
  if (node === undefined) throw new Error('no such node');
  return document.text.slice(node.start, node.end);
}

/** All nodes of a tree, keys too; aliases are not followed. */
export function* nodesOf(node: YamlNode | undefined): Generator<YamlNode> {
  if (node === undefined) return;
  yield node;
  if (node.borrowed || node.kind === 'scalar') return;
  if (node.kind === 'sequence') {
    for (const item of node.items) yield* nodesOf(item);
  } else {
    for (const { key, value } of node.entries) {
      yield key;
      yield* nodesOf(value);
    }
  }
}
