import type { Position, Range, TextDocumentContentChangeEvent } from 'vscode-languageserver';
import { InvalidParams } from './guard';

/** Checks of what a client sent. Each returns the value, typed, or throws {@link InvalidParams}. */

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown, name = 'params'): Fields {
  if (!isFields(value)) throw new InvalidParams(`${name} is not an object`);
  return value;
}

export function stringOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new InvalidParams(`${name} is not a string`);
  return value;
}

export function integerOf(value: unknown, name: string): number {
  if (!Number.isInteger(value)) throw new InvalidParams(`${name} is not an integer`);
  return value as number;
}

export function listOf(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidParams(`${name} is not an array`);
  return value;
}

/** `params.textDocument.uri`. */
export function documentUri(params: unknown): string {
  const document = fieldsOf(fieldsOf(params).textDocument, 'textDocument');
  return stringOf(document.uri, 'textDocument.uri');
}

export function positionOf(value: unknown, name: string): Position {
  const { line, character } = fieldsOf(value, name);
  const position = {
    line: integerOf(line, `${name}.line`),
    character: integerOf(character, `${name}.character`),
  };
  if (position.line < 0 || position.character < 0) throw new InvalidParams(`${name} is negative`);
  return position;
}

export function rangeOf(value: unknown, name: string): Range {
  const { start, end } = fieldsOf(value, name);
  return { start: positionOf(start, `${name}.start`), end: positionOf(end, `${name}.end`) };
}

export function changesOf(value: unknown): TextDocumentContentChangeEvent[] {
  return listOf(value, 'contentChanges').map((each, index) => {
    const name = `contentChanges[${index}]`;
    const { text, range } = fieldsOf(each, name);
    const newText = stringOf(text, `${name}.text`);
    return range === undefined
      ? { text: newText }
      : { text: newText, range: rangeOf(range, `${name}.range`) };
  });
}
