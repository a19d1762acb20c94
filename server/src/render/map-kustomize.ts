import { scalarText } from '../kube/scalar-text';
import type { Resource } from '../kube/resource';
import { join } from '../workspace/paths';
import type { PlacedDocument, SourceFile } from '../yaml/document';
import {
  entryOf,
  getIn,
  isMap,
  isScalar,
  isSequence,
  itemsIn,
  mapIn,
  scalarIn,
  textIn,
  type MapNode,
  type ScalarNode,
  type Span,
  type YamlNode,
} from '../yaml/node';
import { parseFile } from '../yaml/parse';
import type { KustomizationFile } from './read-kustomization';
import { bestMatch, objectsIn, placeOf, type SourceObject } from './source-object';
import { land, type Landing, type Step, type Target } from './steps';
import type { ReadSource, RenderedText, SourcePlace } from './types';

const originAnnotation = 'config.kubernetes.io/origin';

/** Where kustomize says that an object comes from. */
export type Origin =
  /** A file with the object. */
  | { readonly kind: 'file'; readonly path: string }
  /** Made by a generator of a kustomization. */
  | { readonly kind: 'generated'; readonly path: string };

/** Reads the annotation that `buildMetadata: [originAnnotations]` adds. */
export function originOf(root: MapNode, { base }: RenderedText): Origin | undefined {
  const text = scalarIn(root, 'metadata', 'annotations', originAnnotation)?.text;
  if (text === undefined) return undefined;
  const read = parseFile('origin', text).documents[0]?.document.root;
  const path = textIn(read, 'path');
  if (path !== undefined) return { kind: 'file', path: join(base, path) };
  const by = textIn(read, 'configuredIn');
  return by === undefined ? undefined : { kind: 'generated', path: join(base, by) };
}

/** A change that a kustomization makes, with where it is written. */
interface Patch {
  readonly path: string;
  readonly file: SourceFile;
  readonly document: number;
  /** The document, and how places in what is read become places in the file. */
  readonly at: (span: Span) => Span;
  readonly root: YamlNode | undefined;
  /** Which objects it changes, where that is not said by the patch itself. */
  readonly target: MapNode | undefined;
}

/** Everything that had a part in a rendered object, for finding the place of what is in it. */
export interface KustomizeSource {
  readonly base: SourceObject;
  /** Outermost first: the one that is applied last decides. */
  readonly patches: readonly Patch[];
  readonly order: readonly KustomizationFile[];
}

export function kustomizeSource(
  origin: string,
  resource: Resource,
  nth: number,
  order: readonly KustomizationFile[],
  read: ReadSource,
): KustomizeSource | undefined {
  const file = read(origin);
  const base = file === undefined ? undefined : bestMatch(objectsIn(origin, file), resource, nth);
  if (base === undefined) return undefined;
  const patches = [...order]
    .reverse()
    .flatMap((kustomization) => patchesOf(kustomization, read).reverse())
    .filter((patch) => appliesTo(patch, base, resource));
  return { base, patches, order };
}

function patchesOf(
  { path, file, kustomization: { directory } }: KustomizationFile,
  read: ReadSource,
): Patch[] {
  const [placed] = file.documents;
  const root = placed?.document.root;
  if (placed === undefined) return [];
  const found: Patch[] = [];
  for (const key of ['patches', 'patchesStrategicMerge', 'patchesJson6902']) {
    for (const item of itemsIn(root, key)) {
      const target = mapIn(item, 'target');
      const written = isScalar(item) ? item : (scalarIn(item, 'patch') ?? scalarIn(item, 'path'));
      if (written === undefined || written.unknown) continue;
      const isInline = written !== scalarIn(item, 'path') && (written.text.includes('\n') || isMap(item));
      if (isInline) found.push(...inlinePatches(path, file, placed, written, target));
      else found.push(...filePatches(join(directory, written.text), target, read));
    }
  }
  return found;
}

function filePatches(path: string, target: MapNode | undefined, read: ReadSource): Patch[] {
  const file = read(path);
  return (file?.documents ?? []).map(({ document, offset, index }) => ({
    path,
    file: file as SourceFile,
    document: index,
    at: ({ start, end }) => ({ start: start + offset, end: end + offset }),
    root: document.root,
    target,
  }));
}

/** A patch written as text within the kustomization: its places are those of the text. */
function inlinePatches(
  path: string,
  file: SourceFile,
  placed: PlacedDocument,
  node: ScalarNode,
  target: MapNode | undefined,
): Patch[] {
  const text = scalarText(placed.document.text, node);
  return parseFile('patch', text.text).documents.map(({ document, offset }) => ({
    path,
    file,
    document: placed.index,
    at({ start, end }) {
      const span = text.span(start + offset, end + offset);
      return { start: span.start + placed.offset, end: span.end + placed.offset };
    },
    root: document.root,
    target,
  }));
}

/** Whether a patch changes an object; it may be named as it was, or as an inner kustomization has renamed it. */
function appliesTo(patch: Patch, { object }: SourceObject, rendered: Resource): boolean {
  const names = [object.name ?? '', rendered.name ?? ''];
  if (patch.target !== undefined) {
    const matches = (key: string, values: readonly string[]): boolean => {
      const wanted = textIn(patch.target, key);
      if (wanted === undefined) return true;
      try {
        const pattern = new RegExp(`^(?:${wanted})$`);
        return values.some((value) => pattern.test(value));
      } catch {
        return values.includes(wanted);
      }
    };
    return (
      matches('kind', [object.kind]) &&
      matches('group', [object.group]) &&
      (matches('name', names) || renamed(textIn(patch.target, 'name'), names))
    );
  }
  if (!isMap(patch.root)) return false;
  const name = textIn(patch.root, 'metadata', 'name');
  return textIn(patch.root, 'kind') === object.kind && (names.includes(name ?? '') || renamed(name, names));
}

/** Between the two names: what an inner kustomization made of the first. */
function renamed(name: string | undefined, [before = '', after = '']: readonly string[]): boolean {
  return name !== undefined && before !== '' && name.includes(before) && after.includes(name);
}

/** The documents that had a part in an object. */
export function documentsOf({ base, patches }: KustomizeSource): readonly {
  readonly file: SourceFile;
  readonly document: number;
}[] {
  const parts = patches.filter(({ root, target }) => isMap(root) && target === undefined);
  return [{ file: base.file, document: base.placed.index }, ...parts];
}

export function kustomizePlace(source: KustomizeSource, target: Target): SourcePlace {
  const { base, patches, order } = source;
  const own = land(base.object.root, target);
  // A patch repeats names and keys to say where it changes something; what is missing there is missing from the base.
  if (own.exact && isAddress(target)) return placeOf(base, own);
  let nearest: { readonly patch: Patch; readonly landing: Landing } | undefined;
  for (const patch of patches) {
    const landing = landIn(patch, target);
    if (landing === undefined) continue;
    if (landing.exact && landing.depth === target.steps.length) return inPatch(patch, landing);
    if (nearest === undefined || landing.depth > nearest.landing.depth) nearest = { patch, landing };
  }
  if (own.exact) return placeOf(base, own);
  const made = byTransformer(base, target, order);
  if (made !== undefined) return made;
  // What is only in a patch stands there, even where a later change made something else of it.
  return nearest !== undefined && nearest.landing.depth > own.depth
    ? inPatch(nearest.patch, nearest.landing)
    : placeOf(base, own);
}

/** A key, a map or a list, or what names an item: what patches have in common with what they change. */
function isAddress({ steps, on, scalar }: Target): boolean {
  const last = steps.at(-1);
  return (
    scalar === undefined ||
    (last?.kind === 'key' && last.key === 'name') ||
    (on === 'key' && scalar.value === null)
  );
}

function inPatch({ path, file, document, at }: Patch, landing: Landing): SourcePlace {
  return { path, file, document, at: at(landing.at), exact: landing.exact, related: [] };
}

/** Follows a target into a patch: one that looks like the object, or a list of operations (JSON 6902). */
function landIn({ root }: Patch, target: Target): Landing | undefined {
  if (isMap(root)) return land(root, target);
  if (!isSequence(root)) return undefined;
  let best: Landing | undefined;
  for (const operation of [...root.items].reverse()) {
    const value = entryOf(operation, 'value');
    const pointer = textIn(operation, 'path');
    if (value === undefined || pointer === undefined) continue;
    const taken = pointerSteps(pointer, target.steps);
    if (taken === undefined) continue;
    const rest = { ...target, steps: target.steps.slice(taken) };
    const found = land(value.value, rest);
    const at = found.depth === 0 && !isScalar(value.value) ? value.key : found.at;
    const landing = { ...found, at, depth: found.depth + taken };
    if (best === undefined || landing.depth > best.depth) best = landing;
  }
  return best;
}

/** How many steps of a target a JSON pointer takes; nothing where it leads elsewhere, or beyond. */
function pointerSteps(pointer: string, steps: readonly Step[]): number | undefined {
  const tokens = pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  const fits = tokens.every((token, index) => {
    const step = steps[index];
    if (step === undefined) return false;
    return step.kind === 'key' ? step.key === token : token === '-' || Number(token) === step.index;
  });
  return fits ? tokens.length : undefined;
}

/** `images` and `replicas` of a kustomization write into objects without a patch. */
function byTransformer(
  { object, placed }: SourceObject,
  { steps }: Target,
  order: readonly KustomizationFile[],
): SourcePlace | undefined {
  const last = steps.at(-1);
  if (last?.kind !== 'key') return undefined;
  const find = (
    list: string,
    accepts: (item: YamlNode) => boolean,
    keys: readonly string[],
  ): SourcePlace | undefined => {
    for (const { path, file } of [...order].reverse()) {
      const [own] = file.documents;
      const item = itemsIn(own?.document.root, list).find(accepts);
      const node = keys.map((key) => getIn(item, key)).find((value) => value !== undefined);
      if (own === undefined || node === undefined) continue;
      const at = { start: node.start + own.offset, end: node.end + own.offset };
      return { path, file, document: own.index, at, exact: true, related: [] };
    }
    return undefined;
  };
  if (last.key === 'image') {
    const { text } = placed.document;
    return find('images', (item) => text.includes(textIn(item, 'name') ?? '\u0000'), [
      'newTag',
      'digest',
      'newName',
    ]);
  }
  if (last.key === 'replicas') {
    return find('replicas', (item) => textIn(item, 'name') === object.name, ['count']);
  }
  return undefined;
}

/** The item of a generator that made an object, else the top of the kustomization. */
export function generatorPlace(path: string, name: string, read: ReadSource): SourcePlace | undefined {
  const file = read(path);
  const [placed] = file?.documents ?? [];
  if (file === undefined || placed === undefined) return undefined;
  const { root } = placed.document;
  const items = ['configMapGenerator', 'secretGenerator', 'helmCharts'].flatMap((key) => itemsIn(root, key));
  const named = items
    .flatMap((item) => scalarIn(item, 'name') ?? [])
    .filter(({ text }) => name.includes(text))
    .sort((a, b) => b.text.length - a.text.length);
  const node = named[0] ?? (isMap(root) ? root.entries[0]?.key : undefined);
  if (node === undefined) return undefined;
  const at = { start: node.start + placed.offset, end: node.end + placed.offset };
  return { path, file, document: placed.index, at, exact: false, related: [] };
}
