import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../kube/names';
import {
  given,
  isClosed,
  listIn,
  partIn,
  partsIn,
  textAt,
  textOf,
  textOrEmpty,
  wholeAt,
  type Part,
} from '../../kube/part';
import { entryOf, isNull } from '../../yaml/node';
import { removeEntry } from '../../yaml/edit';
import { checkOperands, checkSelectorAt, checkTermKey } from './selector';
import { shown, type Inspection } from './inspection';

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function checkTolerations(cx: Inspection, spec: Part): void {
  for (const item of listIn(spec, 'tolerations')?.items ?? []) {
    if (isNull(item))
      cx.add(
        'toleration-invalid',
        cx.placeOf(spec, 'tolerations'),
        'An item of tolerations is empty, and without a key it takes the operator Exists',
      );
  }
  for (const toleration of partsIn(spec, 'tolerations')) checkToleration(cx, toleration);
}

function checkToleration(cx: Inspection, toleration: Part): void {
  const rule = 'toleration-invalid';
  const key = textAt(toleration, 'key');
  const operator = textOrEmpty(toleration, 'operator');
  const effect = textOrEmpty(toleration, 'effect');
  if (key !== undefined && key.text !== '') cx.textForm(key, qualifiedName, 'Toleration key', { rule });
  const title =
    key === undefined || key.text === '' ? 'The toleration' : `The toleration of ${shown(key.text)}`;
  const value = textAt(toleration, 'value');
  if (cx.isCertain && !toleration.map.open) {
    const noKey = cx.lacksText(toleration, 'key');
    if (noKey && (operator === '' || operator === 'Equal')) {
      cx.add(
        rule,
        entryOf(toleration.map, 'operator') ?? cx.placeOf(toleration, 'key'),
        `${title} has no key, which takes the operator Exists`,
      );
    }
    if (operator === 'Exists' && value !== undefined && value.text !== '') {
      const edits = removeEntry(cx.resource.placed.document, toleration.map, 'value');
      cx.add(rule, value.node, `${title} has the operator Exists and a value, ${shown(value.text)}`, {
        fixes: [cx.fix('Remove the value', edits, true)],
      });
    }
    const seconds = given(toleration, 'tolerationSeconds');
    if (
      seconds !== undefined &&
      effect !== undefined &&
      effect !== 'NoExecute' &&
      (effect === '' || effects.includes(effect))
    ) {
      cx.add(
        rule,
        entryOf(toleration.map, 'effect') ?? seconds,
        `${title} has tolerationSeconds, which only the effect NoExecute takes`,
      );
    }
  }
  if ((operator === 'Equal' || operator === '') && value !== undefined) {
    const flaw = labelValue.flaw(value.text);
    if (flaw !== undefined)
      cx.add(
        rule,
        value.node,
        `${title} has the value ${shown(value.text)}, which is not ${labelValue.name}: ${flaw}`,
      );
  }
  const words = textAt(toleration, 'operator');
  if ((operator === 'Gt' || operator === 'Lt') && words !== undefined) {
    // The gate TaintTolerationComparisonOperators is off.
    cx.add(rule, words.node, `${title} has the operator ${operator}, and Equal and Exists are known`);
  }
}

export function checkSpread(cx: Inspection, spec: Part): void {
  const rule = 'affinity-term-invalid';
  const constraints = partsIn(spec, 'topologySpreadConstraints');
  for (const constraint of constraints) {
    const title = 'A topology spread constraint';
    const skew = wholeAt(constraint, 'maxSkew');
    if (skew !== undefined)
      cx.numberRange(skew, 1, undefined, `maxSkew of a topology spread constraint`, rule);
    const when = textAt(constraint, 'whenUnsatisfiable');
    const least = wholeAt(constraint, 'minDomains');
    if (least !== undefined) {
      if (least.value <= 0)
        cx.numberRange(least, 1, undefined, `minDomains of a topology spread constraint`, rule);
      else if (when?.text === 'ScheduleAnyway' && cx.isCertain) {
        cx.add(
          rule,
          least.node,
          `${title} has minDomains and whenUnsatisfiable ScheduleAnyway, and only DoNotSchedule goes with it`,
        );
      }
    }
    checkSelectorAt(cx, constraint, 'labelSelector', 'the labelSelector of a topology spread constraint');
    checkMatchLabelKeys(cx, constraint, 'matchLabelKeys');
  }
  cx.unique(
    constraints,
    (constraint) => {
      const key = textAt(constraint, 'topologyKey');
      const when = textAt(constraint, 'whenUnsatisfiable');
      return key === undefined || when === undefined
        ? undefined
        : { key: `${key.text}, ${when.text}`, at: key.node };
    },
    (key) => `Two topology spread constraints are on ${key}`,
  );
}

function checkMatchLabelKeys(cx: Inspection, part: Part, key: string): void {
  const rule = 'affinity-term-invalid';
  const keys = listIn(part, key);
  if (keys === undefined) return;
  const selector = partIn(part, 'labelSelector');
  if (keys.items.length > 0 && selector === undefined && cx.isCertain && cx.lacks(part, 'labelSelector')) {
    cx.add(rule, cx.placeOf(part, key), `${key} goes with a labelSelector, and there is none`);
  }
  const taken = new Set([
    ...(partIn(selector, 'matchLabels')?.map.entries ?? []).map((entry) => entry.key.text),
    ...partsIn(selector, 'matchExpressions').flatMap((term) => textAt(term, 'key')?.text ?? []),
  ]);
  for (const item of keys.items) {
    const text = textOf(item);
    if (text === undefined) continue;
    const flaw = qualifiedName.flaw(text.text);
    if (flaw !== undefined)
      cx.add(rule, text.node, `${shown(text.text)} in ${key} is not ${qualifiedName.name}: ${flaw}`);
    else if (taken.has(text.text) && cx.isCertain) {
      cx.add(rule, text.node, `${shown(text.text)} is in ${key} and in the labelSelector`);
    }
  }
}

function topologyKey(cx: Inspection, part: Part, where: string): void {
  const key = textAt(part, 'topologyKey');
  if (key === undefined || key.text === '') return;
  cx.textForm(key, qualifiedName, `The topologyKey of ${where}`, { rule: 'affinity-term-invalid' });
}

export function checkAffinity(cx: Inspection, spec: Part): void {
  const affinity = partIn(spec, 'affinity');
  if (affinity === undefined) return;
  const node = partIn(affinity, 'nodeAffinity');
  const required = partIn(node, 'requiredDuringSchedulingIgnoredDuringExecution');
  if (required !== undefined) {
    const terms = listIn(required, 'nodeSelectorTerms');
    if (terms !== undefined && terms.items.length === 0 && !terms.open) {
      cx.add(
        'affinity-term-invalid',
        cx.placeOf(required, 'nodeSelectorTerms'),
        'Required node affinity has no terms',
      );
    }
    for (const term of partsIn(required, 'nodeSelectorTerms')) checkNodeTerm(cx, term, true);
  }
  for (const preferred of partsIn(node, 'preferredDuringSchedulingIgnoredDuringExecution')) {
    checkWeight(cx, preferred);
    const preference = partIn(preferred, 'preference');
    if (preference !== undefined) checkNodeTerm(cx, preference, false);
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const part = partIn(affinity, kind);
    for (const term of partsIn(part, 'requiredDuringSchedulingIgnoredDuringExecution'))
      checkPodTerm(cx, term, kind);
    for (const preferred of partsIn(part, 'preferredDuringSchedulingIgnoredDuringExecution')) {
      checkWeight(cx, preferred);
      const term = partIn(preferred, 'podAffinityTerm');
      if (term !== undefined) checkPodTerm(cx, term, kind);
    }
  }
}

function checkWeight(cx: Inspection, part: Part): void {
  const weight = wholeAt(part, 'weight');
  if (weight !== undefined)
    cx.numberRange(weight, 1, 100, 'The weight of an affinity term', 'affinity-term-invalid');
}

/** Operators of node selectors; unknown ones are the schema's finding. */
const comparisons: readonly string[] = ['Gt', 'Lt'];

/** @param isRequired values of preferred terms are not looked at. */
function checkNodeTerm(cx: Inspection, term: Part, isRequired: boolean): void {
  const rule = 'affinity-term-invalid';
  for (const expression of partsIn(term, 'matchExpressions')) {
    const operator = textAt(expression, 'operator')?.text;
    const where = 'node affinity';
    checkTermKey(cx, expression, where, rule);
    checkOperands(cx, expression, operator, where, rule);
    const list = listIn(expression, 'values');
    const isComparison = operator !== undefined && comparisons.includes(operator);
    if (isComparison && cx.isCertain) {
      const count =
        list === undefined
          ? cx.lacks(expression, 'values')
            ? 0
            : undefined
          : isClosed(list)
            ? list.items.length
            : undefined;
      if (count !== undefined && count !== 1) {
        cx.add(
          rule,
          cx.placeOf(expression, 'values'),
          `Operator ${operator} in node affinity compares with one value, and has ${count}`,
        );
      }
    }
    for (const item of isRequired ? (list?.items ?? []) : []) {
      const text = textOf(item);
      if (text === undefined) continue;
      cx.textForm(text, labelValue, 'Value in node affinity', { rule });
    }
  }
  for (const field of partsIn(term, 'matchFields')) {
    const key = textAt(field, 'key');
    if (key !== undefined && key.text !== '' && key.text !== 'metadata.name') {
      cx.add(rule, key.node, `matchFields has the key ${shown(key.text)}, and only metadata.name is known`, {
        fixes: [cx.write(key.node, 'metadata.name', 'Write metadata.name')],
      });
    }
    const operator = textAt(field, 'operator');
    if (
      operator !== undefined &&
      !['In', 'NotIn'].includes(operator.text) &&
      ['Exists', 'DoesNotExist', 'Gt', 'Lt'].includes(operator.text)
    ) {
      cx.add(
        rule,
        operator.node,
        `matchFields has the operator ${operator.text}, and In and NotIn are known`,
      );
    }
    const list = listIn(field, 'values');
    if (
      cx.isCertain &&
      (list === undefined ? cx.lacks(field, 'values') : isClosed(list) && list.items.length !== 1)
    ) {
      cx.add(
        rule,
        cx.placeOf(field, 'values'),
        `matchFields compares with one value, and has ${list?.items.length ?? 0}`,
      );
    }
    for (const item of list?.items ?? []) {
      const text = textOf(item);
      if (text !== undefined) cx.textForm(text, dnsSubdomain, 'Node name in matchFields', { rule });
    }
  }
}

function checkPodTerm(cx: Inspection, term: Part, kind: string): void {
  const where = kind === 'podAffinity' ? 'pod affinity' : 'pod anti-affinity';
  topologyKey(cx, term, where);
  checkSelectorAt(cx, term, 'labelSelector', `the labelSelector of ${where}`);
  checkSelectorAt(cx, term, 'namespaceSelector', `the namespaceSelector of ${where}`);
  checkMatchLabelKeys(cx, term, 'matchLabelKeys');
  checkMatchLabelKeys(cx, term, 'mismatchLabelKeys');
  for (const item of listIn(term, 'namespaces')?.items ?? []) {
    const text = textOf(item);
    if (text !== undefined)
      cx.textForm(text, dnsLabel, `Namespace in ${where}`, { rule: 'affinity-term-invalid' });
  }
}
