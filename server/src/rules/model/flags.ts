import { envOf, type Container } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import type { Setting } from '../../kube/settings';
import { appendItem, isRepeated, type Edits } from '../../yaml/edit';
import { entryOf, isMap, isScalar, isSequence, type ScalarNode, type SequenceNode } from '../../yaml/node';

/** Puts another value in the place of a setting, wherever it stands: an argument, a part of one, a variable, a script. */
export function setSetting(server: ModelServer, setting: Setting<unknown>, value: string): Edits {
  if (setting.state !== 'known') return undefined;
  const { at, node, text } = setting;
  const { document } = server.container.template.resource.placed;
  if (isRepeated(document, node) || node.unknown || at.end - at.start !== text.length || text === '')
    return undefined;
  if (document.text.slice(at.start, at.end) !== text) return undefined;
  return [{ ...at, newText: value }];
}

/** How the flags of a server are written. */
interface FlagPlace {
  /** The list whose items are words of the command. */
  readonly list: SequenceNode | undefined;
  /** The script that holds the command. */
  readonly script: ScalarNode | undefined;
}

function placeOf({ node }: Container, server: ModelServer): FlagPlace {
  const last = server.arguments.words.at(-1)?.node;
  if (last === undefined) return { list: undefined, script: undefined };
  for (const key of ['args', 'command']) {
    const list = entryOf(node, key)?.value;
    if (!isSequence(list)) continue;
    const own = list.items.filter((item) => isScalar(item) && item.start === last.start);
    if (own.length === 0) continue;
    const words = server.arguments.words.filter((word) => word.node.start === last.start);
    return words.length > 1 || /\s/.test(last.text)
      ? { list: undefined, script: last }
      : { list, script: undefined };
  }
  return { list: undefined, script: undefined };
}

/**
 * Adds a flag to the command of a server, in the form of the others: one item `--flag=value`, two items, or behind the
 * model in a script. `undefined` where the command is not written, or not in one of these forms.
 */
export function addFlag(server: ModelServer, flag: string, value: string): Edits {
  const { container } = server;
  const { document } = container.template.resource.placed;
  const { list, script } = placeOf(container, server);
  if (list !== undefined) {
    const flags = server.arguments.words.filter(({ text }) => text.startsWith('--'));
    if (flags.length === 0 || flags.some(({ text }) => text.includes('='))) {
      return appendItem(document, list, `${flag}=${value}`);
    }
    const first = appendItem(document, list, flag);
    const second = appendItem(document, list, value);
    return first === undefined || second === undefined ? undefined : [...first, ...second];
  }
  if (script === undefined || script.borrowed || script.unknown) return undefined;
  const { model } = server;
  if (model.state !== 'known' || model.node.start !== script.start) return undefined;
  const end = endOfWord(document.text, model.at.end);
  return [{ start: end, end, newText: ` ${flag} ${value}` }];
}

/** Behind the quote that closes a word. */
function endOfWord(text: string, at: number): number {
  return /["']/.test(text[at] ?? '') && text[at - 1] !== ' ' && /\s|$/.test(text[at + 1] ?? '') ? at + 1 : at;
}

/** Adds a variable to a container's list of variables. */
export function addVariable(server: ModelServer, name: string, value: string): Edits {
  const { container } = server;
  const list = entryOf(container.node, 'env')?.value;
  if (!isSequence(list) || envOf(container).some((variable) => variable.name === name)) return undefined;
  if (!list.items.every(isMap)) return undefined;
  return appendItem(container.template.resource.placed.document, list, { name, value });
}
