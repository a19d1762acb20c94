import type { UserModel } from '../sizing/models/types';
import { applyEdits, insertKey, removeEntry, type Edits, type PlainValue } from '../yaml/edit';
import { isMap, isNull, entryOf, type MapNode } from '../yaml/node';
import type { YamlDocument } from '../yaml/document';
import { parseFile } from '../yaml/parse';
import { modelKeys, type ModelKeyName } from './models-config';

/** The figure of a model that stands under a key of the configuration. */
const fields: Readonly<Record<ModelKeyName, keyof UserModel>> = {
  parameters: 'parameters',
  weightBytes: 'weightBytes',
  dtype: 'dtype',
  quantization: 'quantization',
  layers: 'layers',
  hidden: 'hidden',
  heads: 'heads',
  kvHeads: 'kvHeads',
  headSize: 'headDim',
  vocab: 'vocab',
  maxLength: 'maxPositions',
  attentionLayers: 'attentionLayers',
  slidingLayers: 'slidingLayers',
  slidingWindow: 'slidingWindow',
  kvRank: 'kvRank',
  ropeSize: 'ropeDim',
};

/** The figures of a model as the configuration has them. */
export function modelEntry(model: UserModel): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    (Object.keys(modelKeys) as ModelKeyName[]).flatMap((key) => {
      const value = model[fields[key]];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/**
 * The text of a configuration file with a model added, or put in the place of one of the same name. Nothing else of the
 * text changes.
 *
 * @param text empty for a file that is to be made.
 * @returns `undefined` where the text cannot be changed: it is not well-formed, or `models` is something else than a map.
 */
export function withModel(text: string, model: UserModel): string | undefined {
  const entry = modelEntry(model);
  const [first] = parseFile('config', text).documents;
  const document = first?.document;
  if (first === undefined || document === undefined || isNull(document.root)) {
    const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    return `${start}${blockText({ models: { [model.name]: entry } })}`;
  }
  if (!isMap(document.root) || document.problems.length > 0) return undefined;
  const models = entryOf(document.root, 'models')?.value;
  if (models === undefined || isNull(models)) {
    return applied(text, first.offset, insertKey(document, document.root, 'models', { [model.name]: entry }));
  }
  if (!isMap(models)) return undefined;
  if (entryOf(models, model.name) === undefined) {
    return applied(text, first.offset, insertKey(document, models, model.name, entry));
  }
  return replaced(text, first.offset, document, models, model.name, entry);
}

function applied(text: string, offset: number, edits: Edits): string | undefined {
  if (edits === undefined) return undefined;
  return applyEdits(
    text,
    edits.map((edit) => ({ ...edit, start: edit.start + offset, end: edit.end + offset })),
  );
}

/** A model that is read again: the figures under its name are new ones, in the place of the old. */
function replaced(
  text: string,
  offset: number,
  document: YamlDocument,
  models: MapNode,
  name: string,
  entry: PlainValue,
): string | undefined {
  const next = models.entries[models.entries.findIndex(({ key }) => key.text === name) + 1]?.key.text;
  const without = applied(text, offset, removeEntry(document, models, name));
  const again = without === undefined ? undefined : parseFile('config', without).documents[0];
  const root = again?.document.root;
  const left = entryOf(root, 'models')?.value;
  if (without === undefined || again === undefined || !isMap(root)) return undefined;
  const edits = isMap(left)
    ? insertKey(again.document, left, name, entry, next === undefined ? {} : { before: next })
    : insertKey(again.document, root, 'models', { [name]: entry });
  return applied(without, again.offset, edits) ?? undefined;
}

/** A map in block style, by inserting it into an empty one. */
function blockText(value: Readonly<Record<string, PlainValue>>): string {
  const lines = (at: PlainValue, indent: string): readonly string[] =>
    Object.entries(at as Readonly<Record<string, PlainValue>>).flatMap(([key, inner]) =>
      typeof inner === 'object' && inner !== null
        ? [`${indent}${key}:`, ...lines(inner, `${indent}  `)]
        : [`${indent}${key}: ${String(inner)}`],
    );
  return `${lines(value, '').join('\n')}\n`;
}
