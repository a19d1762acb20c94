import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGenerator, type Schema } from 'ts-json-schema-generator';
import type { Definition } from './packages';

/** What the declarations say of a type: descriptions and the names of properties; by unique name. */
export type Described = ReadonlyMap<string, Schema>;

/**
 * Generates JSON Schemas from declarations. They are put into one file under their unique names: in their packages,
 * several types have the same one (`ObjectMeta`), which the generator refuses.
 */
export function describe(definitions: Iterable<Definition>): Described {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-schemas-'));
  try {
    const path = join(folder, 'models.ts');
    writeFileSync(path, [...definitions].map(({ declaration }) => declaration).join('\n'));
    const tsconfig = join(folder, 'tsconfig.json');
    writeFileSync(
      tsconfig,
      JSON.stringify({
        compilerOptions: { noLib: false, lib: ['ES2023'], types: [], strict: true },
        files: ['models.ts'],
      }),
    );
    const generator = createGenerator({
      path,
      tsconfig,
      type: '*',
      skipTypeCheck: true,
      topRef: false,
      expose: 'export',
      jsDoc: 'extended',
      additionalProperties: true,
      sortProps: false,
    });
    const { definitions: found = {} } = generator.createSchema('*');
    return new Map(
      Object.entries(found).flatMap(([name, schema]) =>
        typeof schema === 'object' ? [[name.slice(1), schema] as const] : [],
      ),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
