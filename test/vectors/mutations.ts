import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';
import type { Shape } from '../../server/src/structure/shape';
import { entryOf, getIn, type YamlNode } from '../../server/src/yaml/node';
import { productSchemas } from '../support/schemas';
import { rejectionsOf, existingPart, fieldAt, showPath, type FieldPath } from './findings';
import type { VectorRunner } from './index';

/** A healthy manifest with one change, and what a real API server said to it (dry run, strict field validation). */
export interface MutationCase {
  readonly id: number;
  readonly kind: string;
  readonly op: string;
  /** The field that was changed, steps joined with dots. */
  readonly path: string;
  readonly manifest: unknown;
  readonly verdict: 'accepted' | 'rejected';
  readonly message?: string;
  /** The server's own field paths, where it gave them. */
  readonly fields?: readonly string[];
}

/** The targets: no rejection claimed for an accepted one, and these shares of the rejected. */
const FOUND = 0.98;
const ON_THE_FIELD = 0.95;

export const run: VectorRunner = (data) => {
  const cases = casesOf(data);
  const differences: string[] = [];
  const count = { accepted: 0, silent: 0, rejected: 0, found: 0, onField: 0 };
  for (const one of cases) {
    const uri = `file:///mutations/${one.id}.json`;
    const workspace = Workspace.empty.with(parseFile(uri, `${JSON.stringify(one.manifest, null, 2)}\n`));
    const root = workspace.files.get(uri)?.documents[0]?.document.root;
    const findings = rejectionsOf(workspace, [uri]).get(uri) ?? [];
    const said = findings
      .map(({ rule, at, message }) => `${rule} at ${showPath(fieldAt(root, at)) || 'the top'}: ${message}`)
      .join('; ');
    const what = `${one.id} ${one.kind} ${one.op} ${one.path}`;
    if (one.verdict === 'accepted') {
      count.accepted++;
      if (findings.length === 0) count.silent++;
      else differences.push(`${what}: accepted, but ${said}`);
      continue;
    }
    count.rejected++;
    const answer = one.message ?? '';
    if (findings.length === 0) {
      differences.push(`${what}: rejected, nothing found: ${answer}`);
      continue;
    }
    count.found++;
    const named = fieldsNamed(one, root);
    if (findings.some(({ at }) => named.some((field) => isOn(fieldAt(root, at), field, root)))) {
      count.onField++;
    } else {
      differences.push(`${what}: found elsewhere: ${said}; the server: ${answer}`);
    }
  }
  const { accepted, silent, rejected, found, onField } = count;
  return {
    differences,
    summary: `accepted ${silent} of ${accepted} silent, rejected ${found} of ${rejected} found, ${onField} of ${rejected} on the field`,
    ok:
      cases.length > 0 &&
      silent === accepted &&
      found >= FOUND * rejected &&
      onField >= ON_THE_FIELD * rejected,
  };
};

function casesOf(data: unknown): readonly MutationCase[] {
  const list =
    typeof data === 'object' && data !== null && 'cases' in data ? (data as { cases: unknown }).cases : data;
  if (!Array.isArray(list)) throw new Error('the vectors have no list of cases');
  return list as readonly MutationCase[];
}

/** A field as the server names it. Where it leaves the indexes of lists out, so does the comparison. */
interface NamedField {
  readonly path: FieldPath;
  readonly indexes: boolean;
  /** A finding below the field is on it too: the server speaks of a map as a whole, or names no field at all. */
  readonly below: boolean;
}

/**
 * The fields that the server's answer is about. It gives them as a list, in the text of its message, or, when a value
 * cannot be decoded, without indexes or not at all: then the changed field is meant.
 */
function fieldsNamed(one: MutationCase, root: YamlNode | undefined): readonly NamedField[] {
  const message = one.message ?? '';
  const changed = readPath(one.path, root);
  const listed = (one.fields ?? []).filter((field) => field !== '<nil>' && field !== '');
  if (listed.length > 0) {
    return listed.map((text) => {
      const path = readPath(text, root);
      // Rules about a whole list name the list, and those about an item the item, which has no key of its own.
      const isList = getIn(root, ...path)?.kind === 'sequence' || typeof path.at(-1) === 'number';
      return { path, indexes: true, below: isList || isMapOfNames(one, path) };
    });
  }
  const unknown = [...message.matchAll(/(?:unknown|duplicate) field "([^"]+)"/g)].map(
    (match) => match[1] ?? '',
  );
  if (unknown.length > 0) {
    const paths = unknown.map((text) => readPath(text, root));
    // Of a map where a list or text has to be, it names what is in the map.
    const around = paths.some(
      (path) => path.length > changed.length && same(path.slice(0, changed.length), changed),
    );
    return [
      ...paths.map((path) => ({ path, indexes: true, below: false })),
      ...(around ? [{ path: changed, indexes: true, below: isMapOfNames(one, changed) }] : []),
    ];
  }
  const decoding = /cannot unmarshal (?:\w+ )+into Go struct field [\w/]+\.(\S+) of type/.exec(message)?.[1];
  if (decoding === undefined) return [{ path: changed, indexes: true, below: true }];
  const path = readPath(decoding, root);
  return [
    { path: withoutIndexes(path), indexes: false, below: isMapOfNames(one, changed) },
    // A map is named without the key whose value is wrong.
    { path: changed, indexes: true, below: false },
  ];
}

/** Whether a field is a map with keys of the author's choice, such as labels and limits. */
function isMapOfNames({ manifest }: MutationCase, path: FieldPath): boolean {
  const { apiVersion = '', kind = '' } = manifest as { apiVersion?: string; kind?: string };
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  let shape: Shape | undefined = productSchemas().of(group, version, kind)?.root;
  for (const step of path) {
    if (shape?.type === 'object' && typeof step === 'string') shape = shape.fields.get(step);
    else if (shape?.type === 'list' && typeof step === 'number') shape = shape.items;
    else if (shape?.type === 'map' && typeof step === 'string') shape = shape.values;
    else return false;
  }
  return shape?.type === 'map';
}

/** Steps of a path as a server writes it (`a.b[0].c`) or with indexes as steps (`a.b.0.c`); keys may have dots. */
function readPath(text: string, root: YamlNode | undefined): FieldPath {
  const path: (string | number)[] = [];
  let node = root;
  let rest = text;
  while (rest !== '') {
    // Keys of maps may be in brackets too: `hard[requests.cpu]`.
    const bracketed = node?.kind === 'map' ? /^\[([^\]]+)\]\.?/.exec(rest) : null;
    if (bracketed !== null) {
      const name = bracketed[1] ?? '';
      path.push(name);
      node = entryOf(node, name)?.value;
      rest = rest.slice(bracketed[0].length);
      continue;
    }
    const index = /^\[(\d+)\]\.?/.exec(rest);
    const number = node?.kind === 'sequence' ? /^(\d+)(?:\.|$)/.exec(rest) : null;
    const match = index ?? number;
    if (match !== null) {
      const at = Number(match[1]);
      path.push(at);
      node = node?.kind === 'sequence' ? node.items[at] : undefined;
      rest = rest.slice(match[0].length);
      continue;
    }
    // Of the keys that are there, the longest that the text starts with: keys of labels have dots in them.
    const here = node?.kind === 'map' ? node.entries : [];
    const known = here
      .filter(({ key }) => key.text !== '' && rest.startsWith(key.text))
      .filter(({ key }) => ['', '.', '['].includes(rest.charAt(key.text.length)))
      .sort((a, b) => b.key.text.length - a.key.text.length)[0];
    const key = known?.key.text ?? /^[^.[]*/.exec(rest)?.[0] ?? rest;
    if (key === '') {
      path.push(rest);
      break;
    }
    path.push(key);
    node = known?.value;
    rest = rest.slice(key.length).replace(/^\./, '');
  }
  return path;
}

function withoutIndexes(path: FieldPath): FieldPath {
  return path.filter((step) => typeof step === 'string');
}

/**
 * Whether a finding is on a field: on its key or value, on an item of it when it is a list of plain values, or, when it
 * is missing, on what should hold it.
 */
function isOn(found: FieldPath, { path, indexes, below }: NamedField, root: YamlNode | undefined): boolean {
  if (!indexes) {
    const plain = withoutIndexes(found);
    return same(plain, path) || (below && same(plain.slice(0, path.length), path));
  }
  const there = existingPart(root, path);
  if (there.length < path.length) {
    // What the object itself lacks is shown on its kind.
    if (there.length === 0) return found.length <= 1;
    // A missing key of a list item may be shown on the item's first key, for want of one of its own.
    return same(found, there) || (typeof there.at(-1) === 'number' && same(found.slice(0, -1), there));
  }
  if (below && same(found.slice(0, path.length), path)) return true;
  return same(found, path) || (typeof found.at(-1) === 'number' && same(found.slice(0, -1), path));
}

function same(a: FieldPath, b: FieldPath): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}
