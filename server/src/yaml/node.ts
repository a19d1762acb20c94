/**
 * The tree that rules read. It belongs to no parser: whatever reads the text makes these nodes.
 *
 * Every position is a UTF-16 offset relative to the start of the node's document, so that an edit elsewhere
 * in the file leaves a document's tree untouched.
 */

/** A half-open range of UTF-16 offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface NodeBase extends Span {
  /**
   * Reached through an alias (`*x`) or a merge key (`<<`). It reads like any other node, its span is that of the
   * alias (of its own text when a map written behind `<<:` itself is merged), and it cannot be edited in place, since
   * its text stands elsewhere and serves others too.
   */
  readonly borrowed: boolean;
}

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded';

export interface ScalarNode extends NodeBase {
  readonly kind: 'scalar';
  /** The value as kubectl reads it: YAML 1.1 booleans (`yes`, `on`) are booleans, `~` and nothing are null. */
  readonly value: string | number | boolean | null;
  /** The decoded text, before it became a number or a boolean: `1.0` stays `1.0`. Empty for a missing value. */
  readonly text: string;
  readonly style: ScalarStyle;
  /**
   * Holds a template expression or a `${VARIABLE}`, or has a tag that is not YAML's: neither missing nor any particular
   * value. Its text shows the expressions as they are written.
   */
  readonly unknown: boolean;
}

export interface Entry {
  readonly key: ScalarNode;
  readonly value: YamlNode;
}

export interface MapNode extends NodeBase {
  readonly kind: 'map';
  /**
   * In order of the text, merged entries last. Of a key that is there twice the last one is listed, which is the one
   * that kubectl takes; but in a template, where the two may be branches, all are.
   */
  readonly entries: readonly Entry[];
  readonly flow: boolean;
  /** A template can add keys here (`{{ toYaml ... }}`), so a key that is not listed may still be there. */
  readonly open: boolean;
}

export interface SequenceNode extends NodeBase {
  readonly kind: 'sequence';
  readonly items: readonly YamlNode[];
  readonly flow: boolean;
  /** A template can add items here. */
  readonly open: boolean;
}

export type YamlNode = MapNode | SequenceNode | ScalarNode;

export function isMap(node: YamlNode | undefined): node is MapNode {
  return node?.kind === 'map';
}

export function isSequence(node: YamlNode | undefined): node is SequenceNode {
  return node?.kind === 'sequence';
}

export function isScalar(node: YamlNode | undefined): node is ScalarNode {
  return node?.kind === 'scalar';
}

/** The entry of a key, in a map; `undefined` for anything else and for a key that is not there. */
export function entryOf(node: YamlNode | undefined, key: string): Entry | undefined {
  if (node?.kind !== 'map') return undefined;
  for (const entry of node.entries) if (entry.key.text === key) return entry;
  return undefined;
}

/** Walks down keys and indexes; `undefined` as soon as a step is not there. */
export function getIn(
  node: YamlNode | undefined,
  ...path: readonly (string | number)[]
): YamlNode | undefined {
  let at = node;
  for (const step of path) {
    at =
      typeof step === 'string'
        ? entryOf(at, step)?.value
        : at?.kind === 'sequence'
          ? at.items[step]
          : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

export function mapIn(
  node: YamlNode | undefined,
  ...path: readonly (string | number)[]
): MapNode | undefined {
  const found = getIn(node, ...path);
  return isMap(found) ? found : undefined;
}

export function scalarIn(
  node: YamlNode | undefined,
  ...path: readonly (string | number)[]
): ScalarNode | undefined {
  const found = getIn(node, ...path);
  return isScalar(found) ? found : undefined;
}

/** The items of a list under a path; empty when there is none. */
export function itemsIn(
  node: YamlNode | undefined,
  ...path: readonly (string | number)[]
): readonly YamlNode[] {
  const found = getIn(node, ...path);
  return isSequence(found) ? found.items : [];
}

/** The text of a known, non-null scalar under a path. */
export function textIn(
  node: YamlNode | undefined,
  ...path: readonly (string | number)[]
): string | undefined {
  const found = scalarIn(node, ...path);
  return found === undefined || found.unknown || found.value === null ? undefined : found.text;
}

/** The number under a path, when it is one and known. */
export function numberIn(
  node: YamlNode | undefined,
  ...path: readonly (string | number)[]
): number | undefined {
  const found = scalarIn(node, ...path);
  return found !== undefined && !found.unknown && typeof found.value === 'number' ? found.value : undefined;
}

/** True for nothing at all and for an explicit null (`key:`, `~`): the API server treats both as absent. */
export function isNull(node: YamlNode | undefined): boolean {
  return node === undefined || (node.kind === 'scalar' && node.value === null && !node.unknown);
}
