import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { structureOf, type RootSchema } from '../structure/from-schema';
import type { Schemas } from '../structure/schemas';
import type { Structure } from '../structure/shape';

/** What a name of a group, version or kind is made of; nothing else becomes part of a path. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;

/** Where the schemas of the product are: the build puts them there, in the installed package and in the source tree. */
export function schemaFolder(packageRoot: string): string {
  return join(packageRoot, 'dist', 'schemas');
}

/**
 * The schemas that are shipped, `schemas/<group>/<version>/<kind>.structure.json.gz`. A kind is read from the disk when
 * an object of it is first seen; one that is not there has no schema.
 */
export function diskSchemas(folder: string): Schemas {
  const known = new Map<string, Structure | undefined>();
  return {
    of(group, version, kind) {
      const key = `${group}/${version}/${kind}`;
      if (known.has(key)) return known.get(key);
      const schema = readSchema(folder, group, version, kind, 'structure');
      const structure = schema === undefined ? undefined : structureOf(schema);
      known.set(key, structure);
      return structure;
    },
  };
}

/** The list of the kinds that a folder of schemas has, with what they were made from. */
export const kindsFile = 'made-from.json';

/** Where a kind stands in a folder of schemas. */
export function schemaPath(
  folder: string,
  group: string,
  version: string,
  kind: string,
  part: 'structure' | 'full',
): string {
  const name = part === 'full' ? `${kind}.json.gz` : `${kind}.structure.json.gz`;
  return join(folder, group === '' ? 'core' : group, version, name);
}

/** @param part `structure`: what is checked; `full`: with descriptions. */
export function readSchema(
  folder: string,
  group: string,
  version: string,
  kind: string,
  part: 'structure' | 'full',
): RootSchema | undefined {
  if (![group || 'core', version, kind].every((name) => plainName.test(name))) return undefined;
  let packed: Buffer;
  try {
    packed = readFileSync(schemaPath(folder, group, version, kind, part));
  } catch {
    return undefined;
  }
  return JSON.parse(gunzipSync(packed).toString('utf8')) as RootSchema;
}
