import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { isCurrent, key, schemaFolder } from '../../schemas/build/made';
import { diskSchemas } from '../../server/src/schema/disk-schemas';
import { diskSchemaTexts, type SchemaTexts } from '../../server/src/schema/kinds';
import type { Schemas } from '../../server/src/structure/schemas';

const root = resolve(__dirname, '..', '..');
let made: Schemas | undefined;

/** The schemas of the product, built first where they are not there or out of date. */
export function productSchemas(): Schemas {
  if (made !== undefined) return made;
  build();
  made = diskSchemas(schemaFolder);
  return made;
}

/** The same with descriptions. */
export function productSchemaTexts(): SchemaTexts {
  build();
  return diskSchemaTexts(schemaFolder, join(root, 'schemas', 'config.schema.json'));
}

function build(): void {
  if (!isCurrent(key())) {
    const script = join(root, 'schemas', 'build', 'index.ts');
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script], {
      cwd: root,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the schemas cannot be built: ${stderr}`);
  }
}
