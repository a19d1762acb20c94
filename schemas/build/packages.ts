import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * The packages that schemas are made from. Each holds, for each type of an API, its declaration with the descriptions
 * (`v1/Container.d.ts`) and a compiled validator with the constraints (`_schemas/IoK8sApiCoreV1Container.js`).
 */
export const modelPackages: readonly string[] = [
  'kubernetes-models',
  '@kubernetes-models/karpenter',
  '@kubernetes-models/keda',
  '@kubernetes-models/prometheus-operator',
  '@kubernetes-models/argo-rollouts',
];

/** Types that the others share. */
const commonPackages: readonly string[] = ['@kubernetes-models/apimachinery'];

const root = resolve(__dirname, '..', '..');
const modules = join(root, 'node_modules');

/** A type of an API: the name that is unique among all packages, such as `IoK8sApiCoreV1Container`. */
export interface Definition {
  readonly name: string;
  /** Its TypeScript declaration, under its unique name with an `I` in front, as all the types that it refers to are. */
  readonly declaration: string;
  readonly validator: string;
  /** Unique names of the types that its declaration refers to. */
  readonly uses: readonly string[];
}

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly definition: string;
  /** The package, which says whether the type is built into the API server or a custom resource. */
  readonly package: string;
}

export interface Models {
  readonly kinds: readonly Kind[];
  readonly definitions: ReadonlyMap<string, Definition>;
}

export function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as {
    version: string;
  };
  return `${name}@${version}`;
}

export function packageFolder(name: string): string {
  return join(modules, name);
}

/** Reads the declarations of all packages. */
export function readModels(): Models {
  const kinds: Kind[] = [];
  const definitions = new Map<string, Definition>();
  for (const name of [...commonPackages, ...modelPackages]) {
    const folder = join(modules, name);
    for (const path of declarationsBelow(folder)) {
      const text = readFileSync(path, 'utf8');
      const read = readDeclaration(text);
      if (read === undefined) continue;
      const validator = join(folder, '_schemas', `${read.name}.js`);
      if (!existsSync(validator)) continue;
      definitions.set(read.name, { ...read, validator });
      const apiVersion = /^ {4}"apiVersion": "([^"]+)";/m.exec(read.declaration)?.[1];
      const kind = /^ {4}"kind": "([^"]+)";/m.exec(read.declaration)?.[1];
      if (apiVersion === undefined || kind === undefined || kind.endsWith('List')) continue;
      const [version = '', group = ''] = apiVersion.split('/').reverse();
      kinds.push({ group, version, kind, definition: read.name, package: name });
    }
  }
  return { kinds, definitions };
}

function declarationsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.d.ts') && entry.name !== 'index.d.ts')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/(^|[\\/])(_schemas|node_modules)[\\/]/.test(relative(folder, dirname(path)) + sep))
    .sort();
}

/** A declaration file holds one interface or type, a class of the same form, and the unique names of both. */
function readDeclaration(text: string): Omit<Definition, 'validator'> | undefined {
  const names = /^export type \{ (I\w+) as I(\w+)/m.exec(text);
  const [, local, name] = names ?? [];
  if (local === undefined || name === undefined) return undefined;
  const found = new RegExp(`^export (interface|type) ${local}\\b`, 'm').exec(text);
  if (found === null) return undefined;
  const rest = text.slice(found.index);
  // The first line that ends a declaration at the left margin.
  const end = found[1] === 'interface' ? /^\}\n/m : /;\n(?=export|\/\*\*)/;
  const stop = end.exec(rest);
  if (stop === null) return undefined;
  const before = text.slice(0, found.index);
  const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(before)?.[0] ?? '';
  const body = rest
    .slice(0, stop.index + stop[0].length)
    // Types that refer to themselves do so by their own name.
    .replace(new RegExp(`\\b${local}\\b`, 'g'), `I${name}`)
    .replace(/^(export interface \w+) extends TypeMeta\b/, '$1');
  const imported = [...text.matchAll(/^import \{([^}]*)\} from/gm)].flatMap((match) =>
    (match[1] ?? '').split(',').map((each) => each.trim()),
  );
  const uses = imported.filter((each) => /^I[A-Z]/.test(each)).map((each) => each.slice(1));
  return { name, declaration: comment + body, uses };
}
