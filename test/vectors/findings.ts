import { pathToFileURL } from 'node:url';
import { defaultConfig } from '../../server/src/engine/config';
import type { Finding } from '../../server/src/engine/finding';
import { ruleMeta } from '../../server/src/engine/registry';
import { lint } from '../../server/src/engine/run';
import type { Workspace } from '../../server/src/workspace/workspace';
import { entryOf, type Span, type YamlNode } from '../../server/src/yaml/node';
import { productSchemas } from '../support/schemas';

/** Keys and indexes from the root of an object. */
export type FieldPath = readonly (string | number)[];

/**
 * The rejections that the whole product claims for some files: errors of rules about what the API server refuses. Other
 * rules may call an error what a pod cannot run with, and the API server takes.
 */
export function rejectionsOf(
  workspace: Workspace,
  uris: readonly string[],
): ReadonlyMap<string, readonly Finding[]> {
  const config = defaultConfig();
  const { files, internalErrors } = lint(workspace, () => config, {
    uris,
    schemas: productSchemas(),
  });
  const [broken] = internalErrors;
  if (broken !== undefined) throw new Error(`${broken.message}\n${broken.stack ?? ''}`);
  return new Map(
    files.map(({ uri, findings }) => [
      uri,
      findings.filter(
        ({ rule, severity, message, apiServerRejects }) =>
          severity === 'error' &&
          (apiServerRejects ?? ruleMeta(rule)?.apiServerRejects) === true &&
          // A custom resource is taken whose pods are refused later.
          !/\brejects the pod\b/.test(message),
      ),
    ]),
  );
}

export function uriOfPath(path: string): string {
  return pathToFileURL(path).href;
}

/** The path of the key or item at a place, which is relative to the same text as the tree. */
export function fieldAt(root: YamlNode | undefined, place: Span): FieldPath {
  const path: (string | number)[] = [];
  const holds = (outer: Span): boolean => outer.start <= place.start && place.end <= outer.end;
  let node = root;
  while (node !== undefined && node.kind !== 'scalar') {
    if (node.kind === 'sequence') {
      const index = node.items.findIndex(holds);
      if (index < 0) break;
      path.push(index);
      node = node.items[index];
    } else {
      const entry = node.entries.find(({ key, value }) =>
        holds({ start: key.start, end: Math.max(key.end, value.end) }),
      );
      if (entry === undefined) break;
      path.push(entry.key.text);
      if (holds(entry.key)) break;
      node = entry.value;
    }
  }
  return path;
}

export function showPath(path: FieldPath): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`))
    .join('');
}

/** The longest part of a path that is there. */
export function existingPart(root: YamlNode | undefined, path: FieldPath): FieldPath {
  let node = root;
  for (const [depth, step] of path.entries()) {
    const next: YamlNode | undefined =
      typeof step === 'string'
        ? entryOf(node, step)?.value
        : node?.kind === 'sequence'
          ? node.items[step]
          : undefined;
    if (next === undefined) return path.slice(0, depth);
    node = next;
  }
  return path;
}
