import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { isBuiltInKind } from '../kube/built-in-kinds';
import { structureOnly, type PublishedKind } from '../structure/open-api';
import type { Schemas } from '../structure/schemas';
import { diskSchemas, kindsFile, schemaPath } from './disk-schemas';
import { diskSchemaTexts, type KindName, type SchemaTexts } from './kinds';

/** Where the schemas of a cluster are kept, below a folder of the workspace; laid out as those that are shipped. */
export const clusterSchemasFolder = '.plimsoll/schemas';

export interface ClusterSchemas {
  readonly schemas: Schemas;
  readonly texts: SchemaTexts;
  /** When they were read. */
  readonly date: string;
  readonly kinds: number;
}

interface Stamp {
  readonly server: string;
  readonly date: string;
  readonly kinds: readonly KindName[];
}

/**
 * Writes the schemas of a cluster into a folder, in the place of those that are there. All or nothing: until everything
 * is written the old ones hold.
 */
export function writeClusterSchemas(
  folder: string,
  kinds: readonly PublishedKind[],
  made: { readonly server: string; readonly date: string },
): void {
  mkdirSync(dirname(folder), { recursive: true });
  const fresh = mkdtempSync(join(dirname(folder), 'schemas-'));
  try {
    for (const { group, version, kind, schema } of kinds) {
      const write = (part: 'structure' | 'full', value: unknown): void =>
        writeFileSync(schemaPath(fresh, group, version, kind, part), gzipSync(JSON.stringify(value)));
      mkdirSync(dirname(schemaPath(fresh, group, version, kind, 'full')), { recursive: true });
      write('full', schema);
      write('structure', structureOnly(schema));
    }
    const text: Stamp = {
      ...made,
      kinds: kinds.map(({ group, version, kind }) => ({ group, version, kind })),
    };
    writeFileSync(join(fresh, kindsFile), `${JSON.stringify(text)}\n`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
}

/** The nearest schemas of a cluster above a folder. */
export function clusterSchemasAbove(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, clusterSchemasFolder);
    if (existsSync(join(path, kindsFile))) return path;
    if (dirname(at) === at) return undefined;
  }
}

/** The schemas of a cluster in a folder; nothing where there are none, or they cannot be read. */
export function readClusterSchemas(folder: string): ClusterSchemas | undefined {
  const made = readStamp(folder);
  if (made === undefined) return undefined;
  const { of } = diskSchemas(folder);
  const served = new Set(made.kinds.map(({ group, version, kind }) => `${group}/${version}/${kind}`));
  return {
    schemas: {
      of: (group, version, kind) =>
        served.has(`${group}/${version}/${kind}`) ? of(group, version, kind) : undefined,
      kinds: new Set(made.kinds.map(({ kind }) => kind).filter((kind) => !isBuiltInKind(kind))),
    },
    texts: diskSchemaTexts(folder, ''),
    date: made.date,
    kinds: made.kinds.length,
  };
}

function readStamp(folder: string): Stamp | undefined {
  try {
    const made = JSON.parse(readFileSync(join(folder, kindsFile), 'utf8')) as Partial<Stamp>;
    return Array.isArray(made.kinds) && typeof made.date === 'string' ? (made as Stamp) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What a cluster has holds over what is shipped. It is asked for each time: a server learns of it when it knows its
 * folders.
 */
export function overShipped(base: Schemas, cluster: () => Schemas | undefined): Schemas {
  return {
    of: (group, version, kind) => cluster()?.of(group, version, kind) ?? base.of(group, version, kind),
    get kinds() {
      return cluster()?.kinds;
    },
  };
}

export function textsOverShipped(base: SchemaTexts, cluster: () => SchemaTexts | undefined): SchemaTexts {
  const key = ({ group, version, kind }: KindName): string => `${group}/${version}/${kind}`;
  return {
    kinds: () => [
      ...new Map(
        [...base.kinds(), ...(cluster()?.kinds() ?? [])].map((name) => [key(name), name] as const),
      ).values(),
    ],
    of: (name) => cluster()?.of(name) ?? base.of(name),
    config: () => base.config(),
  };
}
