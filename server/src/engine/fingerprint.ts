import { listKeys } from '../kube/list-keys';
import { objectsOf, type RawObject } from '../workspace/objects';
import type { PlacedDocument, SourceFile } from '../yaml/document';
import {
  entryOf,
  isMap,
  isScalar,
  type Entry,
  type MapNode,
  type SequenceNode,
  type Span,
  type YamlNode,
} from '../yaml/node';
import type { Finding } from './finding';
import { contains } from './text';

/**
 * What a finding is recognised by after other parts of its file have changed: the rule, the object and the field, and
 * nothing that moves with the text. Whoever adds a line above, reorders a list or corrects a number in the message has
 * the same finding as before.
 */
export interface Fingerprint {
  readonly rule: string;
  /** `apps/Deployment prod/chat`; without the version, which an upgrade changes. Empty where there is no object. */
  readonly resource: string;
  /** `spec.template.spec.containers[name=vllm].resources`; for findings about a comment, its text. */
  readonly path: string;
}

export function fingerprintOf(file: SourceFile, finding: Finding): Fingerprint {
  const { rule, at, resource } = finding;
  const placed = file.documents.findLast(({ offset }) => offset <= at.start);
  if (placed === undefined) return { rule, resource: '', path: '' };
  const local = { start: at.start - placed.offset, end: at.end - placed.offset };
  const object = objectAt(placed, finding, local);
  const name = object === undefined ? '' : identityOf(object);
  // What is said about a suppression or about unreadable text is not at a field.
  if (resource === undefined || object === undefined) {
    return { rule, resource: name, path: oneLine(placed.document.text.slice(local.start, local.end)) };
  }
  return { rule, resource: name, path: pathTo(object.root, local) };
}

/** One text for the whole, for reports that have room for one. */
export function fingerprintText({ rule, resource, path }: Fingerprint): string {
  return `${rule}|${resource}|${path}`;
}

function objectAt(placed: PlacedDocument, { resource }: Finding, at: Span): RawObject | undefined {
  const objects = objectsOf(placed.document);
  if (resource === undefined) return objects.length === 1 ? objects[0] : undefined;
  const same = objects.filter(
    ({ kind, name, namespace }) =>
      kind === resource.kind && name === resource.name && namespace === resource.namespace,
  );
  return same.find(({ root }) => contains(root, at)) ?? same[0];
}

function identityOf({ group, kind, namespace, name, nameKey }: RawObject): string {
  const type = group === '' ? kind : `${group}/${kind}`;
  const shown = name ?? nameKey?.replaceAll('\u0000', '{{}}') ?? '';
  return `${type} ${namespace === undefined ? '' : `${namespace}/`}${shown}`.trimEnd();
}

/** Longer texts are told by their place in the list. */
const longestItem = 60;

function pathTo(root: MapNode, at: Span): string {
  let path = '';
  let node: YamlNode = root;
  for (;;) {
    if (node.borrowed || node.kind === 'scalar') return path;
    if (node.kind === 'sequence') {
      const index: number = node.items.findIndex((item) => contains(item, at));
      const item: YamlNode | undefined = node.items[index];
      if (item === undefined) return path;
      path += `[${itemName(node, item, index)}]`;
      node = item;
      continue;
    }
    const entry: Entry | undefined = node.entries.find(({ key, value }) =>
      contains({ start: key.start, end: Math.max(key.end, value.end) }, at),
    );
    if (entry === undefined) return path;
    const key = oneLine(entry.key.text);
    path += path === '' ? key : `.${key}`;
    if (contains(entry.key, at)) return path;
    node = entry.value;
  }
}

function itemName(list: SequenceNode, item: YamlNode, index: number): string {
  if (item.kind === 'scalar') {
    // The value of an argument may be corrected; which argument it is stays.
    const [text = ''] = item.text.startsWith('-') ? item.text.split(/[=\s]/, 1) : [item.text];
    return text === '' || text.length > longestItem || /[\n\r]/.test(text) ? String(index) : text;
  }
  for (const key of listKeys) {
    const value = keyOf(item, key);
    if (value === undefined) continue;
    const same = list.items.filter((other) => keyOf(other, key) === value);
    return same.length === 1 ? `${key}=${value}` : `${key}=${value}#${same.indexOf(item)}`;
  }
  return String(index);
}

function keyOf(item: YamlNode, key: string): string | undefined {
  const value = isMap(item) ? entryOf(item, key)?.value : undefined;
  return isScalar(value) && !value.unknown && value.value !== null ? oneLine(value.text) : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}
