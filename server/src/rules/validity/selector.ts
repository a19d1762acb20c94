import { labelValue, qualifiedName } from '../../kube/names';
import { given, isClosed, listIn, partIn, partsIn, textAt, textOf, type Part } from '../../kube/part';
import { checkLabels } from './metadata';
import type { Inspection, ValidityRule } from './inspection';

/** A `LabelSelector`: `matchLabels` and `matchExpressions`. */
export function checkSelector(cx: Inspection, selector: Part | undefined, where: string): void {
  if (selector === undefined) return;
  checkLabels(cx, selector, 'matchLabels', where);
  for (const term of partsIn(selector, 'matchExpressions')) {
    checkTermKey(cx, term, where, 'selector-invalid');
    checkOperands(cx, term, textAt(term, 'operator')?.text, where, 'selector-invalid');
    for (const value of listIn(term, 'values')?.items ?? []) {
      const text = textOf(value);
      if (text !== undefined)
        cx.textForm(text, labelValue, `Value in ${where}`, { rule: 'selector-invalid' });
    }
  }
}

/** The key of a term of a selector. */
export function checkTermKey(cx: Inspection, term: Part, where: string, rule: ValidityRule): void {
  const key = textAt(term, 'key');
  if (key === undefined) return;
  if (key.text !== '') cx.textForm(key, qualifiedName, `Key in ${where}`, { rule });
}

/** Whether the values suit the operator: some for In and NotIn, none for Exists and DoesNotExist. */
export function checkOperands(
  cx: Inspection,
  term: Part,
  operator: string | undefined,
  where: string,
  rule: ValidityRule,
): void {
  const values = listIn(term, 'values');
  const count =
    values === undefined ? (given(term, 'values') === undefined ? 0 : undefined) : values.items.length;
  if (count === undefined || (values !== undefined && !isClosed(values))) return;
  const at = cx.placeOf(term, 'values');
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0 && (values !== undefined || cx.lacks(term, 'values')))
      cx.add(rule, at, `Operator ${operator} in ${where} has no values to compare with`);
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) cx.add(rule, at, `Operator ${operator} in ${where} has values, and takes none`);
  }
}

/** The selector under a key of a part. */
export function checkSelectorAt(cx: Inspection, part: Part, key: string, where: string): void {
  checkSelector(cx, partIn(part, key), where);
}
