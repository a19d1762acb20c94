import type { Resource } from '../kube/resource';
import { objectsOf, type RawObject } from '../workspace/objects';
import type { PlacedDocument, SourceFile } from '../yaml/document';
import { getIn, type Span } from '../yaml/node';
import type { Landing } from './steps';
import type { SourcePlace } from './types';

/** An object in a source file from which a rendered one may have been made. */
export interface SourceObject {
  readonly path: string;
  readonly file: SourceFile;
  readonly placed: PlacedDocument;
  readonly object: RawObject;
}

export function objectsIn(path: string, file: SourceFile): readonly SourceObject[] {
  return file.documents.flatMap((placed) =>
    objectsOf(placed.document).map((object) => ({ path, file, placed, object })),
  );
}

/**
 * Of some objects the one that became a rendered object: of its kind, with its name, or with one that became it. A
 * template makes names, and kustomize puts something before or behind them.
 *
 * @param nth the how-manieth of its kind it is among what was rendered from the file.
 */
export function bestMatch(
  candidates: readonly SourceObject[],
  { kind, group, name = '', namespace }: Pick<Resource, 'kind' | 'group' | 'name' | 'namespace'>,
  nth: number,
): SourceObject | undefined {
  const ofKind = candidates.filter(({ object }) => object.kind === kind && object.group === group);
  const scored = ofKind.map((candidate, index) => {
    const { object } = candidate;
    const names = nameScore(object, name);
    const spaces = object.namespace !== undefined && object.namespace === namespace ? 1 : 0;
    return { candidate, score: names * 4 + spaces * 2 + (index === nth ? 1 : 0), fits: names > 0 };
  });
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (found, each) => (found === undefined || each.score > found.score ? each : found),
    undefined,
  );
  return best !== undefined && (best.fits || ofKind.length === 1) ? best.candidate : undefined;
}

/** Longer known parts tell more; 0: the name cannot have become this one. */
function nameScore({ name, nameKey }: RawObject, rendered: string): number {
  if (name === rendered) return 1000;
  if (name !== undefined) return name !== '' && rendered.includes(name) ? name.length : 0;
  if (nameKey === undefined) return 1;
  const parts = nameKey.split('\u0000').filter((_, index) => index % 2 === 0);
  const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^]*');
  return new RegExp(`^${pattern}$`).test(rendered) ? 1 + parts.join('').length : 0;
}

/** Where an object names itself: what stands for it where nothing more exact is known. */
export function selfOf({ object }: SourceObject): Span {
  return getIn(object.root, 'metadata', 'name') ?? getIn(object.root, 'kind') ?? object.root;
}

/** A landing in the tree of a source object, as a place in its file. */
export function placeOf(
  source: SourceObject,
  landing: Landing,
  related: SourcePlace['related'] = [],
): SourcePlace {
  const { start, end } = landing.depth === 0 ? selfOf(source) : landing.at;
  const { offset, index } = source.placed;
  return {
    path: source.path,
    file: source.file,
    document: index,
    at: { start: start + offset, end: end + offset },
    exact: landing.exact,
    related,
  };
}
