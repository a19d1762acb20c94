import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kindsFile, readSchema } from './disk-schemas';

/** A kind as a manifest names it; the core group is empty. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Schemas with descriptions, as JSON text. */
export interface SchemaTexts {
  /** Every kind that has a schema, by name. */
  kinds(): readonly KindName[];
  of(name: KindName): string | undefined;
  /** That of `.plimsoll.yaml`. */
  config(): string | undefined;
}

export const noSchemaTexts: SchemaTexts = { kinds: () => [], of: () => undefined, config: () => undefined };

export function apiVersionOf({ group, version }: KindName): string {
  return group === '' ? version : `${group}/${version}`;
}

export function kindNameOf(apiVersion: string, kind: string): KindName {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion, kind }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
}

/** The schemas that are shipped; the list of them stands beside them. */
export function diskSchemaTexts(folder: string, configSchema: string): SchemaTexts {
  let kinds: readonly KindName[] | undefined;
  const readText = (path: string): string | undefined => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  };
  return {
    kinds() {
      if (kinds === undefined) {
        const text = readText(join(folder, kindsFile));
        const made = text === undefined ? {} : (JSON.parse(text) as { kinds?: readonly KindName[] });
        kinds = made.kinds ?? [];
      }
      return kinds;
    },
    of({ group, version, kind }) {
      const schema = readSchema(folder, group, version, kind, 'full');
      return schema === undefined ? undefined : JSON.stringify(schema);
    },
    config: () => readText(configSchema),
  };
}
