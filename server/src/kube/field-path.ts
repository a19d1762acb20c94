import { entryOf, isScalar, isSequence, textIn, type Span, type YamlNode } from '../yaml/node';

/** A step of a path: a key of a map, or in brackets an index, the name of an item, or a key with dots in it. */
interface Step {
  readonly text: string;
  readonly bracketed: boolean;
}

/** Reads a path as the API server writes it: `spec.containers[0].resources.limits[nvidia.com/gpu]`. */
function stepsOf(field: string): readonly Step[] {
  const steps: Step[] = [];
  for (const match of field.matchAll(/\[("(?:[^"\\]|\\.)*"|[^\]]*)\]|([^.[\]]+)/g)) {
    const [, bracket, plain] = match;
    if (plain !== undefined) steps.push({ text: plain, bracketed: false });
    else if (bracket !== undefined) steps.push({ text: bracket.replace(/^"(.*)"$/, '$1'), bracketed: true });
  }
  return steps;
}

/**
 * Where a field stands in an object: its value, else the key of the deepest part of the path that is there. With `whole`
 * false the field itself is missing.
 */
export function placeOfField(root: YamlNode, field: string): { readonly at: Span; readonly whole: boolean } {
  let node = root;
  // Of nothing at all, where people look first.
  let at: Span = entryOf(root, 'kind')?.value ?? root;
  for (const { text, bracketed } of stepsOf(field)) {
    if (isSequence(node)) {
      const item: YamlNode | undefined = /^\d+$/.test(text)
        ? node.items[Number(text)]
        : node.items.find((each) => textIn(each, 'name') === text);
      if (item === undefined) return { at, whole: false };
      node = item;
      at = entryOf(item, 'name')?.value ?? (isScalar(item) ? item : at);
      continue;
    }
    const entry = entryOf(node, text);
    if (entry === undefined || (bracketed && isScalar(node))) return { at, whole: false };
    node = entry.value;
    at = isScalar(node) && node.end > node.start ? node : { start: entry.key.start, end: entry.key.end };
  }
  return { at, whole: true };
}
