import type { Resource } from '../../kube/resource';
import type { Shape } from '../../structure/shape';
import type { FaultPath } from '../../structure/validate';
import { isMap, textIn, type Entry, type YamlNode } from '../../yaml/node';
import { titleOf } from '../naming';
import type { Place } from '../rule';

/** The end of every message: what follows from the fault. */
export function rejected({ kind }: Resource): string {
  return `the API server rejects the ${kind}`;
}

/** `container "vllm"`, `securityContext`, `tolerations[1]`, `Deployment "chat"`: what a path leads to. */
export function ownerOf(resource: Resource, path: FaultPath): string {
  const last = path.at(-1);
  if (last === undefined) return titleOf(resource);
  if (typeof last === 'string') return last;
  const list = path.at(-2);
  if (typeof list !== 'string') return `item ${last + 1}`;
  const item = nodeAt(resource, path);
  const name = isMap(item) ? textIn(item, 'name') : undefined;
  return name === undefined || name === '' ? `${list}[${last}]` : `${singular(list)} "${name}"`;
}

/** The word for one of a list, where it is plain English. */
function singular(list: string): string {
  if (/ies$/.test(list)) return `${list.slice(0, -3)}y`;
  return /[^s]s$/.test(list) ? list.slice(0, -1) : list;
}

/** Field names are written as they are: only words of ours start a sentence with a capital. */
export function capital(text: string): string {
  return /^[a-z]+ ("|\d)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

function nodeAt(resource: Resource, path: FaultPath): YamlNode | undefined {
  let node: YamlNode | undefined = resource.root;
  for (const step of path) {
    if (node?.kind === 'map') node = node.entries.find(({ key }) => key.text === step)?.value;
    else if (node?.kind === 'sequence') node = typeof step === 'number' ? node.items[step] : undefined;
    else return undefined;
  }
  return node;
}

/** What a shape takes, in words. */
export function wanted(shape: Shape): string {
  switch (shape.type) {
    case 'any':
      return 'anything';
    case 'object':
    case 'map':
      return 'a map';
    case 'list':
      return 'a list';
    case 'string':
      return 'text';
    case 'integer':
      return 'a whole number';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'int-or-string':
      return 'a whole number or text';
    case 'quantity':
      return 'a quantity such as 500m or 16Gi';
  }
}

/** What a value is, in words. */
export function seen(node: YamlNode): string {
  if (node.kind === 'map') return 'a map';
  if (node.kind === 'sequence') return 'a list';
  const { value, text } = node;
  if (value === null) return 'empty';
  if (typeof value === 'string') return `the text ${quoted(text)}`;
  if (typeof value === 'number') return `the number ${text}`;
  return text.toLowerCase() === String(value) ? text : `${text}, which YAML reads as ${value}`;
}

const LONGEST = 60;

export function quoted(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return JSON.stringify(line.length > LONGEST ? `${line.slice(0, LONGEST)}...` : line);
}

/** Where a fault of a value is shown: on the value, or, when it spans lines, on its key. */
export function placeOf(resource: Resource, node: YamlNode, entry: Entry | undefined): Place {
  if (
    node.kind === 'scalar' &&
    node.start < node.end &&
    node.style !== 'literal' &&
    node.style !== 'folded'
  ) {
    return node;
  }
  return entry ?? firstLine(resource, node);
}

/** An item of a list has no key: its first line stands for it. */
export function firstLine(resource: Resource, { start, end }: YamlNode): Place {
  const text = resource.placed.document.text.slice(start, end);
  const line = /^[^\r\n]*?(?=[ \t]*(?:[\r\n]|$))/.exec(text)?.[0].length ?? 0;
  return { start, end: start + line };
}

/** The key that stands for a whole object. */
export function rootPlace(resource: Resource): Place {
  const { root } = resource;
  return root.entries.find(({ key }) => key.text === 'kind') ?? firstLine(resource, root);
}
