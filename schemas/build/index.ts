import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { isBuiltIn, schemaOf, withoutDescriptions } from './assemble';
import { describe } from './descriptions';
import { isCurrent, key, schemaFolder, stamp } from './made';
import { modelPackages, readModels, versionOf, type Kind } from './packages';
import { readValidator, withEmbedded } from './validators';

/**
 * Writes `dist/schemas`: for each kind its schema with descriptions (`apps/v1/Deployment.json.gz`) and without them
 * (`apps/v1/Deployment.structure.json.gz`), for the core group in `core/`. It does nothing where they are there
 * already, made from the same packages by the same code.
 */

const root = resolve(__dirname, '..', '..');

/** Kinds that are asked and answered but never written down, and parts that only look like kinds. */
const neverWritten =
  /Review$|^(Binding|Eviction|Scale|TokenRequest|DeploymentRollback|EmbeddedPersistentVolumeClaim|WithTriggers)$/;

/** Versions that API servers still serve: of built-in kinds the stable ones. */
function isServed(kind: Kind): boolean {
  return !neverWritten.test(kind.kind) && (!isBuiltIn(kind) || /^v\d+$/.test(kind.version));
}

/** @returns the number of kinds written; 0 when all were there. */
export function buildSchemas(): number {
  const made = key();
  if (isCurrent(made)) return 0;
  const models = readModels();
  const validators = withEmbedded(
    new Map([...models.definitions].map(([name, { validator }]) => [name, readValidator(name, validator)])),
  );
  const described = describe(models.definitions.values());
  const next = join(root, 'out', `schemas-${process.pid}`);
  rmSync(next, { recursive: true, force: true });
  const kinds = models.kinds.filter(isServed);
  for (const kind of kinds) {
    const schema = schemaOf(kind, validators, described);
    const place = join(next, kind.group === '' ? 'core' : kind.group, kind.version);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `${kind.kind}.json.gz`), gzipSync(JSON.stringify(schema), { level: 9 }));
    writeFileSync(
      join(place, `${kind.kind}.structure.json.gz`),
      gzipSync(JSON.stringify(withoutDescriptions(schema)), { level: 9 }),
    );
  }
  const packages = [...modelPackages, '@kubernetes-models/apimachinery'].map(versionOf);
  const list = kinds.map(({ group, version, kind }) => ({ group, version, kind }));
  writeFileSync(join(next, stamp), `${JSON.stringify({ key: made, packages, kinds: list }, null, 1)}\n`);
  // Whoever reads meanwhile finds the old ones or the new ones, not a part.
  rmSync(schemaFolder, { recursive: true, force: true });
  mkdirSync(dirname(schemaFolder), { recursive: true });
  try {
    renameSync(next, schemaFolder);
  } catch (error) {
    rmSync(next, { recursive: true, force: true });
    // Another process was faster, with the same result.
    if (!isCurrent(made)) throw error;
  }
  return kinds.length;
}

if (require.main === module) {
  const started = performance.now();
  const count = buildSchemas();
  if (count > 0) {
    process.stdout.write(`dist/schemas: ${count} kinds (${Math.round(performance.now() - started)} ms)\n`);
  }
}
