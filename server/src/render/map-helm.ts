import type { Resource } from '../kube/resource';
import { join } from '../workspace/paths';
import type { RelatedPlace } from '../engine/finding';
import { getIn, isMap, isScalar, type Span, type YamlNode } from '../yaml/node';
import { bestMatch, objectsIn, placeOf, type SourceObject } from './source-object';
import { land, type Landing, type Target } from './steps';
import type { ReadSource, RenderedText, SourcePlace } from './types';

/** What Helm writes above each document: the template that it comes from, below the chart's name. */
const sourceComment = /^# Source: [^/\n]+\/(.+?)\r?$/m;

/** The template of a rendered document, as an absolute path. */
export function templateOf(text: string, { unit }: RenderedText): string | undefined {
  const relative = sourceComment.exec(text)?.[1];
  return relative === undefined ? undefined : join(unit.directory, relative);
}

/** The object in a template from which a rendered one comes. */
export function helmSource(
  template: string,
  resource: Resource,
  nth: number,
  read: ReadSource,
): SourceObject | undefined {
  const file = read(template);
  return file === undefined ? undefined : bestMatch(objectsIn(template, file), resource, nth);
}

/** The place in a template, with the places in the values that decide it. */
export function helmPlace(
  source: SourceObject,
  target: Target,
  rendered: RenderedText,
  read: ReadSource,
): SourcePlace {
  const landing = land(source.object.root, target);
  return placeOf(source, landing, valuesBehind(source, landing, target, rendered, read));
}

/** `.Values.a.b` in an expression. */
const valuesPath = /\.Values((?:\.[A-Za-z_]\w*)+)/g;
const expression = /\{\{-?([^]*?)-?\}\}/g;

/** Where the values hold what fills in a hole of a template. */
function valuesBehind(
  { path, placed }: SourceObject,
  { hole, depth, at }: Landing,
  target: Target,
  { unit, values }: RenderedText,
  read: ReadSource,
): readonly RelatedPlace[] {
  if (hole === undefined) return [];
  const rest: Target = { ...target, steps: target.steps.slice(depth) };
  // Of a map that is there, a value fills in a part only.
  if (rest.steps.length === 0 && target.scalar === undefined) return [];
  const files = [
    ...(values === undefined ? [] : [values]),
    join(chartOf(path, unit.directory), 'values.yaml'),
  ];
  const found = new Map<string, RelatedPlace>();
  // What a template writes around the value, such as an item that it starts, the value does not have.
  const ways = [rest, ...[1, 2].map((skipped) => ({ ...rest, steps: rest.steps.slice(skipped) }))];
  for (const keys of namedValues(placed.document.text, {
    start: Math.min(at.start, hole.start),
    end: hole.end,
  })) {
    for (const candidate of files) {
      const file = read(candidate);
      const document = file?.documents[0];
      const node: YamlNode | undefined = getIn(document?.document.root, ...keys);
      if (file === undefined || document === undefined || node === undefined) continue;
      const landing = ways.map((way) => land(node, way)).find(({ exact }) => exact) ?? land(node, rest);
      if (!landing.exact && !isPartOf(node, rest)) continue;
      const place = landing.depth === 0 && !isMap(node) ? node : landing.at;
      const span = { start: place.start + document.offset, end: place.end + document.offset };
      found.set(`${file.uri} ${span.start}`, {
        uri: file.uri,
        at: span,
        message: 'The value comes from here',
      });
      break;
    }
  }
  return [...found.values()];
}

/** A value that stands within a longer text, such as the tag of an image. */
function isPartOf(node: YamlNode, { steps, scalar }: Target): boolean {
  return (
    steps.length === 0 &&
    isScalar(node) &&
    !node.unknown &&
    node.text !== '' &&
    scalar?.text.includes(node.text) === true
  );
}

/** The chart that a template belongs to: that of the unit, or one below its `charts/`. */
function chartOf(template: string, directory: string): string {
  const inside = /^(.*)\/templates\//.exec(template.slice(directory.length))?.[1] ?? '';
  return `${directory}${inside}`;
}

/** The keys of the values that the expressions of a hole name, `.` within `with` included. */
function namedValues(text: string, hole: Span): readonly (readonly string[])[] {
  const found: string[][] = [];
  const slice = text.slice(hole.start, Math.max(hole.end, nextLineEnd(text, hole.end)));
  const add = (written: string): void => {
    for (const match of written.matchAll(valuesPath)) found.push((match[1] ?? '').slice(1).split('.'));
  };
  for (const [, inner = ''] of slice.matchAll(expression)) {
    add(inner);
    if (/(^|[\s(])\.(?=[\s)|]|$)/.test(inner)) {
      const above = [...text.slice(0, hole.end).matchAll(/\{\{-?\s*with\s+([^]*?)-?\}\}/g)].at(-1)?.[1];
      if (above !== undefined) add(above);
    }
  }
  return found;
}

function nextLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
