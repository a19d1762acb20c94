import { entryOf, isMap, isNull, isScalar, itemsIn, mapIn, type MapNode, type YamlNode } from '../yaml/node';
import { all, truth, type Truth } from './truth';

/** Labels or annotations of one object or pod template. */
export interface Labels {
  /** The value of each key; `undefined` for a value that is only known later. */
  readonly values: ReadonlyMap<string, string | undefined>;
  /** Others may add keys: a template, the rest of a patched object, an operator. */
  readonly open: boolean;
}

export const noLabels: Labels = { values: new Map(), open: false };

/** Reads `labels:` or `annotations:`; a map that is not there has no keys. */
export function labelsOf(node: YamlNode | undefined, open = false): Labels {
  if (isNull(node)) return open ? { values: new Map(), open } : noLabels;
  if (!isMap(node)) return { values: new Map(), open: true };
  const values = new Map<string, string | undefined>();
  for (const { key, value } of node.entries) {
    if (key.unknown) continue;
    const known = isScalar(value) && !value.unknown && value.value !== null;
    values.set(key.text, known ? value.text : isScalar(value) && value.value === null ? '' : undefined);
  }
  return { values, open: open || node.open || node.entries.some((entry) => entry.key.unknown) };
}

/** The value of a label when it is there and known. */
export function labelOf(labels: Labels, key: string): string | undefined {
  return labels.values.get(key);
}

/** Whether a label is there, whatever its value. */
export function hasLabel(labels: Labels, key: string): Truth {
  return labels.values.has(key) ? 'yes' : labels.open ? 'unknown' : 'no';
}

export type SelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

export interface SelectorTerm {
  readonly key: string;
  /** `undefined` when it is written but is none of the four, or unknown. */
  readonly operator: SelectorOperator | undefined;
  /** An unknown value makes the whole list unknown. */
  readonly values: readonly string[] | undefined;
}

/** A label selector: every term must hold. */
export interface LabelSelector {
  readonly terms: readonly SelectorTerm[];
  /** Terms may be added by a template, or some could not be read. */
  readonly open: boolean;
  /** Certainly without any term: it selects everything (`policy/v1`, spread constraints) or nothing (Services). */
  readonly empty: boolean;
}

const operators: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

function isOperator(text: string): text is SelectorOperator {
  return operators.includes(text);
}

function equalities(map: MapNode): SelectorTerm[] {
  return map.entries
    .filter((entry) => !entry.key.unknown)
    .map(({ key, value }) => ({
      key: key.text,
      operator: 'In',
      values: isScalar(value) && !value.unknown ? [value.text] : undefined,
    }));
}

/** Reads a `LabelSelector` (`matchLabels` and `matchExpressions`); `undefined` when there is none. */
export function readSelector(node: YamlNode | undefined): LabelSelector | undefined {
  if (isNull(node)) return undefined;
  if (!isMap(node)) return { terms: [], open: true, empty: false };
  const labels = mapIn(node, 'matchLabels');
  const terms: SelectorTerm[] = labels === undefined ? [] : equalities(labels);
  let open =
    node.open || labels?.open === true || (labels?.entries.some((entry) => entry.key.unknown) ?? false);
  const expressions = entryOf(node, 'matchExpressions')?.value;
  if (expressions?.kind === 'sequence') open ||= expressions.open;
  else if (!isNull(expressions)) open = true;
  for (const item of itemsIn(node, 'matchExpressions')) {
    const key = entryOf(item, 'key')?.value;
    if (!isScalar(key) || key.unknown) {
      open = true;
      continue;
    }
    const operator = entryOf(item, 'operator')?.value;
    const values = entryOf(item, 'values')?.value;
    const items = values?.kind === 'sequence' ? values.items : [];
    const known =
      items.every((value) => isScalar(value) && !value.unknown) &&
      !(values?.kind === 'sequence' && values.open);
    terms.push({
      key: key.text,
      operator:
        isScalar(operator) && !operator.unknown && isOperator(operator.text) ? operator.text : undefined,
      values: known ? items.map((value) => (isScalar(value) ? value.text : '')) : undefined,
    });
  }
  return { terms, open, empty: terms.length === 0 && !open };
}

/** Reads a plain map of labels as a selector (`Service.spec.selector`); `undefined` when there is none. */
export function readLabelMap(node: YamlNode | undefined): LabelSelector | undefined {
  if (isNull(node)) return undefined;
  if (!isMap(node)) return { terms: [], open: true, empty: false };
  const open = node.open || node.entries.some((entry) => entry.key.unknown);
  const terms = equalities(node);
  return { terms, open, empty: terms.length === 0 && !open };
}

function holds(term: SelectorTerm, labels: Labels): Truth {
  const there = hasLabel(labels, term.key);
  switch (term.operator) {
    case undefined:
      return 'unknown';
    case 'Exists':
      return there;
    case 'DoesNotExist':
      return there === 'yes' ? 'no' : there === 'no' ? 'yes' : 'unknown';
    case 'In':
    case 'NotIn': {
      if (there === 'no') return truth(term.operator === 'NotIn');
      const value = labels.values.get(term.key);
      if (there === 'unknown' || value === undefined || term.values === undefined) return 'unknown';
      return truth(term.values.includes(value) === (term.operator === 'In'));
    }
  }
}

/** Whether a selector selects an object with these labels. A selector without terms selects everything. */
export function selects(selector: LabelSelector, labels: Labels): Truth {
  const result = all(selector.terms.map((term) => holds(term, labels)));
  return result === 'yes' && selector.open ? 'unknown' : result;
}
