import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Finding } from '../../server/src/engine/finding';
import type { RuleLevel } from '../../server/src/engine/presets';
import { ruleDocPath, ruleMeta, ruleMetas } from '../../server/src/engine/registry';
import { lint } from '../../server/src/engine/run';
import type { DocumentRole, Resource } from '../../server/src/kube/resource';
import type { Workspace } from '../../server/src/workspace/workspace';
import type { PlacedDocument } from '../../server/src/yaml/document';
import { applyEdits, removeEntry, type Edit } from '../../server/src/yaml/edit';
import { textIn, type Entry, type MapNode, type YamlNode } from '../../server/src/yaml/node';
import { examplesOf, fixturesOf, type Fixture, type Want } from '../support/fixtures';
import { productSchemas } from '../support/schemas';
import { expand, parseSnippets } from '../support/snippets';
import { configurationIn, workspaceOf } from '../support/workspace';

/** What the files of the project say about themselves, to be compared with what a cluster says. */

export const root = resolve(__dirname, '../..');
const fixturesRoot = join(root, 'test/rules');

export type Files = Readonly<Record<string, string>>;

/** Files that belong together, and how a failure names them. */
export interface Bundle {
  readonly name: string;
  readonly files: Files;
  /**
   * For what is shown to people as correct: the only claims that it may have, by rule and part of the message. Left out
   * for what is shown as wrong, in which anything may be.
   */
  readonly wanted?: readonly Pick<Want, 'rule' | 'message'>[];
}

/** A claim that somebody meets in what is shown as correct. */
export function isUnwanted({ wanted }: Bundle, { suppressed }: Piece, claim: Finding): boolean {
  if (suppressed.has(claim)) return false;
  return (
    wanted?.every(({ rule, message }) => rule !== claim.rule || !claim.message.includes(message)) ?? false
  );
}

/** One document of a bundle. */
export interface Piece {
  /** `test/rules/two-autoscalers/bad.yaml, document 2`. */
  readonly name: string;
  /** The file's path within the bundle. */
  readonly path: string;
  readonly placed: PlacedDocument;
  readonly role: DocumentRole;
  /** The objects in it that rules know; items of a `List` each by itself. */
  readonly resources: readonly Resource[];
  /** All findings on it, suppressed ones too: what somebody accepts is as true as before. */
  readonly findings: readonly Finding[];
  /** Those of them that a comment of the document accepts. */
  readonly suppressed: ReadonlySet<Finding>;
}

/** Rules whose findings say that the API server refuses the object. */
export const rejecting: ReadonlySet<string> = new Set(
  ruleMetas.filter(({ apiServerRejects }) => apiServerRejects === true).map(({ id }) => id),
);

/** Findings that say so: errors of such rules, and whatever has it in its message. */
export function claimsOf(piece: Piece): readonly Finding[] {
  return piece.findings.filter(
    ({ rule, severity, message }) =>
      (rejecting.has(rule) && severity === 'error') ||
      /\bthe API server rejects\b|\bis rejected\b/.test(message),
  );
}

/**
 * What a document says about itself in a comment `# rejected: part of the message`: the API server refuses it for a
 * reason that is not what its fixture is about, and that no rule reports.
 */
export function saidToBeRejected(piece: Piece): string | undefined {
  for (const { text } of piece.placed.document.comments) {
    const message = /^rejected: (.+)$/.exec(text)?.[1];
    if (message !== undefined) return message;
  }
  return undefined;
}

/** The rule of a fixture speaks, also where it is off by default. */
function configFor(rule: string | undefined): ReturnType<typeof configurationIn>['configFor'] {
  const meta = rule === undefined ? undefined : ruleMeta(rule);
  const rules: Record<string, RuleLevel> =
    meta?.severity === 'off' ? { [meta.id]: meta.strict ?? 'info' } : {};
  return configurationIn({}, { defaults: { preset: 'recommended', rules } }).configFor;
}

export interface Linted {
  readonly workspace: Workspace;
  readonly pieces: readonly Piece[];
}

/** Lints a bundle without any configuration of its own. */
export function piecesOf(bundle: Bundle, rule?: string): Linted {
  const manifests = Object.entries(bundle.files).filter(([path]) => !path.endsWith('.plimsoll.yaml'));
  const workspace = workspaceOf(Object.fromEntries(manifests));
  const { files: results } = lint(workspace, configFor(rule), { schemas: productSchemas() });
  const pieces = [...workspace.files.values()].flatMap((file, fileIndex) => {
    const [path = ''] = manifests[fileIndex] ?? [];
    const result = results.find(({ uri }) => uri === file.uri);
    const suppressed = new Set((result?.suppressed ?? []).map(({ finding }) => finding));
    const findings = [...(result?.findings ?? []), ...suppressed];
    return file.documents.map((placed): Piece => {
      const end = placed.offset + placed.document.text.length;
      return {
        name:
          file.documents.length === 1 && manifests.length === 1
            ? bundle.name
            : `${bundle.name}${manifests.length === 1 ? '' : ` ${path}`}, document ${placed.index + 1}`,
        path,
        placed,
        role: workspace.roleOf(file.uri, placed),
        resources: workspace.resourcesOf(file.uri).filter(({ placed: own }) => own.index === placed.index),
        findings: findings.filter(({ at }) => at.start >= placed.offset && at.start < end),
        suppressed,
      };
    });
  });
  return { workspace, pieces };
}

/** The definitions of kinds that a bundle brings along, as their text. */
export function definitionsIn({ pieces }: Linted): readonly string[] {
  return pieces
    .map(({ placed }) => placed.document)
    .filter(({ root }) => textIn(root, 'kind') === 'CustomResourceDefinition')
    .map(({ text }) => text);
}

/** Whether a value anywhere in a document is one that a variable or a template makes. */
export function hasUnknowns(node: YamlNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.kind === 'scalar') return node.unknown;
  if (node.open) return true;
  return node.kind === 'map'
    ? node.entries.some(({ key, value }) => key.unknown || hasUnknowns(value))
    : node.items.some(hasUnknowns);
}

export function fixturesByRule(): ReadonlyMap<string, readonly Fixture[]> {
  const folders = readdirSync(fixturesRoot)
    .filter((name) => statSync(join(fixturesRoot, name)).isDirectory())
    .filter((name) => ruleMeta(name) !== undefined)
    .sort();
  return new Map(folders.map((rule) => [rule, fixturesOf(join(fixturesRoot, rule), rule)]));
}

export function fixtureBundle({ rule, name, files, wants }: Fixture): Bundle {
  const isGood = name.startsWith('good');
  return { name: `test/rules/${rule}/${name}`, files, ...(isGood ? { wanted: wants } : {}) };
}

/** A fixture after its fixes, where it says what that is; files without fixes are as before. */
export function fixedBundle({ rule, name, files, fixed, wants }: Fixture): Bundle | undefined {
  if (Object.keys(fixed).length === 0) return undefined;
  const fixedName = name.endsWith('/') ? `${name} (fixed)` : name.replace(/(\.ya?ml)$/, '.fixed$1');
  const wanted = wants.filter(({ fixes }) => fixes.length === 0);
  return { name: `test/rules/${rule}/${fixedName}`, files: { ...files, ...fixed }, wanted };
}

/** The healthy examples, together, as somebody would apply them. */
export function exampleBundle(): Bundle {
  const folder = join(root, 'examples/healthy');
  const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
  return {
    name: 'examples/healthy',
    files: Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')])),
    wanted: [],
  };
}

/** Each pitfall among the examples, wrong and right. */
export function pitfallBundles(): readonly Bundle[] {
  const folder = 'examples/pitfalls';
  const slugs = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return slugs.flatMap(({ name }) =>
    ['wrong', 'right'].map((side) => {
      const path = `${folder}/${name}/${side}`;
      const file = 'manifests.yaml';
      return {
        name: path,
        files: { [file]: readFileSync(join(root, path, file), 'utf8') },
        ...(side === 'right' ? { wanted: [] } : {}),
      };
    }),
  );
}

/** The blocks of the rules' documents, each by itself, with the rule that they explain. */
export function documentBundles(): readonly { readonly rule: string; readonly bundle: Bundle }[] {
  return ruleMetas.flatMap(({ id }) => {
    const path = ruleDocPath(id);
    if (!existsSync(join(root, path))) return [];
    return examplesOf(readFileSync(join(root, path), 'utf8'))
      .filter(({ kind }) => kind !== 'config')
      .map(({ kind, path: file, text, line }) => ({
        rule: id,
        bundle: {
          name: `${path}:${line}`,
          files: { [file]: text },
          ...(kind === 'right' ? { wanted: [] } : {}),
        },
      }));
  });
}

/** The manifests among the snippets, each by itself. */
export function snippetBundles(): readonly Bundle[] {
  const file = 'kubernetes.code-snippets';
  return parseSnippets(readFileSync(join(root, 'snippets', file), 'utf8'))
    .map(({ name, body }) => ({ name: `snippets/${file}: ${name}`, text: expand(body) }))
    .filter(({ text }) => /^kind:/m.test(text))
    .map(({ name, text }) => ({ name, files: { 'snippet.yaml': `${text}\n` }, wanted: [] }));
}

function identity({ rule, message }: Finding): string {
  return `${rule} ${message}`;
}

/** The key and value of which the key or the value has exactly that span, with the map that holds them. */
function entryAt(
  node: YamlNode | undefined,
  start: number,
  end: number,
): { readonly map: MapNode; readonly entry: Entry } | undefined {
  if (node === undefined || node.kind === 'scalar') return undefined;
  if (node.kind === 'sequence') {
    for (const item of node.items) {
      const found = entryAt(item, start, end);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const entry of node.entries) {
    const spans = [entry.key, entry.value];
    if (spans.some((span) => span.start === start && span.end === end)) return { map: node, entry };
    const found = entryAt(entry.value, start, end);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Repair {
  readonly edits: readonly Edit[];
  readonly removed: readonly string[];
}

/** What takes away what a finding is about, in its file: its first fix, or else removing the key that it stands on. */
function repairOf({ placed }: Piece, { at, fixes }: Finding): Repair | undefined {
  const [fix] = fixes;
  if (fix !== undefined) return { edits: fix.edits, removed: [] };
  const { document, offset } = placed;
  const found = entryAt(document.root, at.start - offset, at.end - offset);
  if (found === undefined) return undefined;
  const key = found.entry.key.text;
  if (['apiVersion', 'kind'].includes(key)) return undefined;
  const edits = removeEntry(document, found.map, key);
  return edits === undefined
    ? undefined
    : {
        edits: edits.map((edit) => ({ ...edit, start: edit.start + offset, end: edit.end + offset })),
        removed: [key],
      };
}

/** More rounds than any fixture has claims. */
const rounds = 40;

export interface Repaired {
  readonly piece: Piece;
  /** Keys that were taken away for lack of a fix; the API server may miss them. */
  readonly removed: readonly string[];
}

/**
 * A document in which all claims but one are repaired, or all of them; `undefined` where that cannot be done, since
 * what repairs one takes another one with it.
 */
export function withOnly(
  bundle: Bundle,
  rule: string | undefined,
  piece: Piece,
  kept: Finding | undefined,
): Repaired | undefined {
  let files = bundle.files;
  const removed: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const now = piecesOf({ ...bundle, files }, rule).pieces.find(
      ({ path, placed }) => path === piece.path && placed.index === piece.placed.index,
    );
    if (now === undefined) return undefined;
    const claims = claimsOf(now);
    const others = claims.filter((claim) => kept === undefined || identity(claim) !== identity(kept));
    const other = others.at(-1);
    if (other === undefined)
      return kept === undefined || claims.length > 0 ? { piece: now, removed } : undefined;
    const repair = repairOf(now, other);
    const text = repair === undefined ? undefined : applyEdits(files[now.path] ?? '', repair.edits);
    if (text === undefined || repair === undefined) return undefined;
    removed.push(...repair.removed);
    files = { ...files, [now.path]: text };
  }
  return undefined;
}
