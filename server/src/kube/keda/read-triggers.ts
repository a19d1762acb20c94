import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  isSequence,
  itemsIn,
  mapIn,
  scalarIn,
  type Entry,
  type MapNode,
  type ScalarNode,
  type YamlNode,
} from '../../yaml/node';
import { isAbsent, isPathAbsent, type Resource } from '../resource';
import type { Truth } from '../truth';
import type { ProblemPlace, Trigger } from './trigger';

/** A trigger where it is written. */
export interface WrittenTrigger extends Trigger {
  readonly resource: Resource;
  /** The item of `triggers`. */
  readonly node: MapNode;
  readonly typeNode: ScalarNode;
  readonly metadataNode: MapNode | undefined;
}

const memo = new WeakMap<Resource, readonly WrittenTrigger[]>();

/** The triggers of a ScaledObject or ScaledJob whose type is known, in order. */
export function triggersOf(resource: Resource): readonly WrittenTrigger[] {
  const known = memo.get(resource);
  if (known !== undefined) return known;
  const composed = composedBy(resource);
  const read = itemsIn(resource.root, 'spec', 'triggers').flatMap((item) =>
    isMap(item) ? (readTrigger(resource, item, composed) ?? []) : [],
  );
  memo.set(resource, read);
  return read;
}

/** Whether the list of triggers is all there: no template adds one, and of each the type is known. */
export function hasAllTriggers(resource: Resource): boolean {
  const list = entryOf(mapIn(resource.root, 'spec'), 'triggers')?.value;
  return isSequence(list) && !list.open && list.items.length === triggersOf(resource).length;
}

function composedBy(resource: Resource): Truth {
  const path = ['spec', 'advanced', 'scalingModifiers'];
  const modifiers = mapIn(resource.root, ...path);
  if (modifiers !== undefined && (modifiers.entries.length > 0 || modifiers.open)) return 'yes';
  return modifiers !== undefined || isPathAbsent(resource, resource.root, ...path) ? 'no' : 'unknown';
}

function readTrigger(resource: Resource, node: MapNode, composed: Truth): WrittenTrigger | undefined {
  const typeNode = scalarIn(node, 'type');
  if (typeNode === undefined || typeNode.unknown || typeof typeNode.value !== 'string') return undefined;
  const metadataNode = mapIn(node, 'metadata');
  const open =
    resource.role === 'kustomize-patch' ||
    (metadataNode === undefined ? !isAbsent(resource, node, 'metadata') : metadataNode.open);
  return {
    resource,
    node,
    typeNode,
    metadataNode,
    type: typeNode.text,
    metricType: textAt(resource, node, 'metricType'),
    metadata: readMetadata(metadataNode),
    open,
    composed,
  };
}

/** The text under a key, empty when it is certainly not there, `undefined` when it is only known later. */
export function textAt(resource: Resource, map: MapNode, key: string): string | undefined {
  if (isAbsent(resource, map, key)) return '';
  const value = entryOf(map, key)?.value;
  return isScalar(value) && !value.unknown ? value.text : undefined;
}

/** Of a key that is there twice, which of them counts is only known later: they are branches of a template. */
function readMetadata(node: MapNode | undefined): ReadonlyMap<string, string | undefined> {
  const texts = new Map<string, string | undefined>();
  for (const { key, value } of node?.entries ?? []) {
    if (key.unknown || isNull(value)) continue;
    texts.set(key.text, texts.has(key.text) || !isScalar(value) || value.unknown ? undefined : value.text);
  }
  return texts;
}

/** Where a problem is shown: the key or value itself, or the nearest key above it for something that is missing. */
export function placeIn(trigger: WrittenTrigger, at: ProblemPlace): YamlNode | Entry {
  const { node, typeNode, metadataNode } = trigger;
  switch (at.part) {
    case 'type':
      return typeNode;
    case 'metricType':
      return entryOf(node, 'metricType')?.value ?? typeNode;
    case 'metadata':
      return metadataKey(trigger);
    case 'key':
      return entryOf(metadataNode, at.name) ?? metadataKey(trigger);
    case 'value': {
      const entry = entryOf(metadataNode, at.name);
      return entry === undefined ? metadataKey(trigger) : isNull(entry.value) ? entry : entry.value;
    }
  }
}

function metadataKey({ node, typeNode }: WrittenTrigger): YamlNode | Entry {
  return entryOf(node, 'metadata') ?? typeNode;
}
