import type { ObjectRef } from './cluster';
import type { SourceProblem } from './snapshot';

/** Keys and, for items of lists, indexes. */
export type FieldPath = readonly (string | number)[];

/** A field that applying a file would change. */
export interface FieldChange {
  /** In the file where it has the field, else in the object of the cluster. */
  readonly path: FieldPath;
  /** For people, with the names of items: `spec.template.spec.containers[vllm].image`. */
  readonly field: string;
  /** Absent: the cluster does not have it. */
  readonly before?: unknown;
  /** Absent: it goes away. */
  readonly after?: unknown;
}

/** What is wrong with an object, in the API server's words. */
export interface Rejection {
  /** `spec.template.spec.containers[0].image`; empty for the object as a whole. */
  readonly field: string;
  readonly message: string;
}

/** An object of a file beside the one in the cluster. */
export type Comparison =
  | { readonly state: 'same'; readonly ref: ObjectRef; readonly object: unknown }
  | {
      readonly state: 'different';
      readonly ref: ObjectRef;
      /** As it is in the cluster. */
      readonly object: unknown;
      /** As it would be. */
      readonly applied: unknown;
      readonly changes: readonly FieldChange[];
    }
  /** The cluster does not have it, and takes it. */
  | { readonly state: 'new'; readonly ref: ObjectRef; readonly applied: unknown }
  | {
      readonly state: 'rejected';
      readonly ref: ObjectRef;
      /** Absent: the cluster does not have it. */
      readonly object?: unknown;
      readonly rejections: readonly Rejection[];
    }
  | { readonly state: 'unknown'; readonly ref: ObjectRef; readonly problem: SourceProblem };

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the API server and its controllers keep in an object, and no file says. */
const kept: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** An object without what is not of its file: status, and what the API server writes into metadata. */
export function withoutServersPart(object: unknown): unknown {
  if (!isPlain(object)) return object;
  const { status: _, metadata, ...rest } = object;
  if (!isPlain(metadata)) return rest;
  const { annotations, ...others } = metadata;
  const own = Object.fromEntries(Object.entries(others).filter(([key]) => !kept.has(key)));
  const notes = isPlain(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([key]) => !countsByItself.has(key)))
    : {};
  const { apiVersion, kind, ...spec } = rest;
  return {
    apiVersion,
    kind,
    metadata: { ...own, ...(Object.keys(notes).length === 0 ? {} : { annotations: notes }) },
    ...spec,
  };
}

/** Annotations that a controller or a client counts up or repeats the object in. */
const countsByItself: ReadonlySet<string> = new Set([
  'deployment.kubernetes.io/revision',
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/** The fields that differ, each as deep as it can be told; `before` and `after` as {@link withoutServersPart} gives them. */
export function changesBetween(before: unknown, after: unknown): readonly FieldChange[] {
  const found: FieldChange[] = [];
  collect(before, after, [], '', found);
  return found;
}

function collect(
  before: unknown,
  after: unknown,
  path: FieldPath,
  field: string,
  found: FieldChange[],
): void {
  if (isPlain(before) && isPlain(after)) {
    for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
      collect(before[key], after[key], [...path, key], joined(field, key), found);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    collectItems(before, after, path, field, found);
    return;
  }
  if (isSame(before, after)) return;
  found.push({
    path,
    field,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  });
}

/** Items with names are the same item wherever they stand. */
function collectItems(
  before: readonly unknown[],
  after: readonly unknown[],
  path: FieldPath,
  field: string,
  found: FieldChange[],
): void {
  const names = [...before, ...after].map(nameOf);
  if (names.every((name) => name !== undefined)) {
    const old = new Map(before.map((item) => [nameOf(item), item]));
    after.forEach((item, index) => {
      const name = nameOf(item);
      collect(old.get(name), item, [...path, index], `${field}[${name ?? index}]`, found);
      old.delete(name);
    });
    for (const [name, item] of old) found.push({ path, field: `${field}[${name ?? ''}]`, before: item });
    return;
  }
  if (before.length !== after.length || !before.some(isPlain)) {
    if (!isSame(before, after)) found.push({ path, field, before, after });
    return;
  }
  after.forEach((item, index) => collect(before[index], item, [...path, index], `${field}[${index}]`, found));
}

function nameOf(item: unknown): string | undefined {
  const name = isPlain(item) ? item['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function joined(field: string, key: string): string {
  if (/[./]/.test(key)) return `${field}[${JSON.stringify(key)}]`;
  return field === '' ? key : `${field}.${key}`;
}

/** Nothing and nothing in it are the same to the API server. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null) || (isNothing(a) && isNothing(b));
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isPlain(value) && Object.keys(value).length === 0;
}

/** Fields by which items of a list are told apart, as Kubernetes merges lists. */
const itemKeys = ['name', 'containerPort', 'port', 'mountPath', 'devicePath', 'ip', 'topologyKey'] as const;

/**
 * What becomes of an object when a file is applied to it as `kubectl apply` does: what the file says is taken over, what
 * the version that was applied before said and the file does not goes away, and the rest stays.
 *
 * @param last the version that was applied before; `undefined` where nobody noted it.
 */
export function appliedTo(live: unknown, file: unknown, last: unknown): unknown {
  if (isPlain(live) && isPlain(file)) {
    const result: Record<string, unknown> = { ...live };
    const before = isPlain(last) ? last : {};
    for (const key of Object.keys(before)) if (!Object.hasOwn(file, key)) delete result[key];
    for (const [key, value] of Object.entries(file)) {
      if (value === null) delete result[key];
      else result[key] = appliedTo(live[key], value, before[key]);
    }
    return result;
  }
  if (Array.isArray(live) && Array.isArray(file)) {
    const before: readonly unknown[] = Array.isArray(last) ? last : [];
    const key = keyOfItems([...live, ...file, ...before]);
    return key === undefined ? file : appliedItems(live, file, before, key);
  }
  return file;
}

function appliedItems(
  live: readonly unknown[],
  file: readonly unknown[],
  last: readonly unknown[],
  key: string,
): readonly unknown[] {
  const find = (list: readonly unknown[], item: unknown): unknown =>
    list.find((other) => keyed(other, key) === keyed(item, key));
  const written = file.map((item) => appliedTo(find(live, item), item, find(last, item)));
  // What others have added stays, such as a sidecar that a webhook injects.
  const others = live.filter((item) => find(file, item) === undefined && find(last, item) === undefined);
  return [...written, ...others];
}

function keyed(item: unknown, key: string): unknown {
  return isPlain(item) ? item[key] : undefined;
}

function keyOfItems(items: readonly unknown[]): string | undefined {
  return itemKeys.find((key) => items.every((item) => keyed(item, key) !== undefined));
}

/** The JSON merge patch (RFC 7396) that makes one object of another; `undefined` where they are the same. */
export function mergePatch(from: unknown, to: unknown): unknown {
  if (!isPlain(from) || !isPlain(to)) return isSame(from, to) ? undefined : to;
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (!Object.hasOwn(to, key)) patch[key] = null;
    else {
      const inner = Object.hasOwn(from, key) ? mergePatch(from[key], to[key]) : to[key];
      if (inner !== undefined) patch[key] = inner;
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
