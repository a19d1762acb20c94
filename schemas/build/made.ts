import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { modelPackages, versionOf } from './packages';

/** Where the schemas are written. */
export const schemaFolder = resolve(__dirname, '..', '..', 'dist', 'schemas');

/** Says what the schemas in the folder were made from, and lists their kinds. */
export const stamp = 'made-from.json';

/** Of the packages that the schemas are made from and of the code that makes them. */
export function key(): string {
  const hash = createHash('sha256');
  for (const name of [...modelPackages, '@kubernetes-models/apimachinery', 'ts-json-schema-generator'])
    hash.update(versionOf(name));
  for (const name of readdirSync(__dirname).sort()) hash.update(readFileSync(join(__dirname, name)));
  return hash.digest('hex');
}

export function isCurrent(made: string): boolean {
  const path = join(schemaFolder, stamp);
  return existsSync(path) && (JSON.parse(readFileSync(path, 'utf8')) as { key?: string }).key === made;
}
