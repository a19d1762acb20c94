import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { isAbsent } from '../../kube/resource';
import { readSelector, selects, type SelectorTerm } from '../../kube/selectors';
import { insertKey, removeEntry, renameKey, replaceScalar, type Edit, type Edits } from '../../yaml/edit';
import {
  entryOf,
  isMap,
  isScalar,
  itemsIn,
  mapIn,
  scalarIn,
  type Entry,
  type MapNode,
  type YamlNode,
} from '../../yaml/node';
import { defineRule, type Fix, type Place } from '../rule';
import { ownLabels } from './own-labels';

export default defineRule({
  id: 'topology-spread-selects-nothing',
  summary: 'A topology spread constraint counts the pods that it belongs to',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      // Without any label of its own the template gets its labels from elsewhere.
      if (template.labels.values.size === 0) continue;
      for (const constraint of itemsIn(template.spec, 'topologySpreadConstraints')) {
        if (!isMap(constraint)) continue;
        const found = uncounted(template, constraint);
        if (found === undefined) continue;
        const key = scalarIn(constraint, 'topologyKey');
        const over = key === undefined || key.unknown ? '' : ` over ${key.text}`;
        report({
          at: found.at,
          message: `${found.what}: the constraint counts none of its own pods and spreads nothing${over}`,
          related:
            found.related === undefined
              ? []
              : [{ resource, at: found.related, message: 'The labels of the pods' }],
          fixes: [found.fix],
        });
      }
    }
  },
});

interface Uncounted {
  readonly at: Place;
  readonly what: string;
  readonly related: Entry | undefined;
  readonly fix: Fix | undefined;
}

function uncounted(template: PodTemplate, constraint: MapNode): Uncounted | undefined {
  const { resource, metadata } = template;
  const related = entryOf(metadata, 'labels');
  const node = entryOf(constraint, 'labelSelector');
  const selector = readSelector(node?.value);
  if (node === undefined || selector === undefined) {
    // The scheduler takes no selector as one that selects no pod.
    const at = node ?? entryOf(constraint, 'topologyKey');
    if (at === undefined || !isAbsent(resource, constraint, 'labelSelector')) return undefined;
    return { at, what: 'No labelSelector is written', related, fix: selectOwn(template, constraint) };
  }
  if (selects(selector, template.labels) !== 'no') return undefined;
  const wrong = wrongLabels(template, node.value);
  const [first] = wrong;
  if (first !== undefined) {
    const { key, value } = first;
    const own = template.labels.values.get(key.text);
    return {
      at: own === undefined ? key : value,
      what:
        own === undefined
          ? `labelSelector asks for the label ${key.text}, which the pods do not have`
          : `labelSelector asks for ${key.text}: ${textOf(value)}, and the pods have ${key.text}: ${own}`,
      related,
      fix: correct(template, node.value, wrong),
    };
  }
  const term = selector.terms.find((candidate) => misses(template, candidate));
  const item = itemsIn(node.value, 'matchExpressions').find(
    (candidate) => scalarIn(candidate, 'key')?.text === term?.key,
  );
  if (term === undefined) return undefined;
  const values = term.values === undefined || term.values.length === 0 ? '' : ` ${term.values.join(', ')}`;
  return {
    at: scalarIn(item, 'key') ?? node,
    what: `labelSelector asks for ${term.key} ${term.operator ?? ''}${values}, which the labels of the pods do not meet`,
    related,
    fix: undefined,
  };
}

function textOf(node: YamlNode): string {
  return isScalar(node) ? node.text : '';
}

/** Whether one term alone leaves the pods out. */
function misses(template: PodTemplate, term: SelectorTerm): boolean {
  return selects({ terms: [term], open: false, empty: false }, template.labels) === 'no';
}

/** The entries of `matchLabels` that the pods do not have. */
function wrongLabels(template: PodTemplate, selector: YamlNode): readonly Entry[] {
  return (mapIn(selector, 'matchLabels')?.entries ?? []).filter(
    ({ key, value }) =>
      !key.unknown &&
      isScalar(value) &&
      !value.unknown &&
      misses(template, { key: key.text, operator: 'In', values: [value.text] }),
  );
}

function titleOf(labels: readonly (readonly [string, string])[]): string {
  return `Select ${labels.map(([key, value]) => `${key}=${value}`).join(', ')}`;
}

function selectOwn(template: PodTemplate, constraint: MapNode): Fix | undefined {
  const own = ownLabels(template);
  if (own === undefined) return undefined;
  const edits = insertKey(template.resource.placed.document, constraint, 'labelSelector', {
    matchLabels: own,
  });
  return edits === undefined ? undefined : { title: titleOf(Object.entries(own)), safe: false, edits };
}

/** Each wrong label gets the pods' value of that key, or makes way for a label that the pods have. */
function correct(template: PodTemplate, selector: YamlNode, wrong: readonly Entry[]): Fix | undefined {
  const { document } = template.resource.placed;
  const map = mapIn(selector, 'matchLabels');
  const own = ownLabels(template);
  if (map === undefined || own === undefined) return undefined;
  const spare = Object.entries(own).filter(([key]) => entryOf(map, key) === undefined);
  const edits: Edit[] = [];
  const selected: (readonly [string, string])[] = [];
  let left = map.entries.length;
  for (const entry of wrong) {
    const { key, value } = entry;
    if (!isScalar(value)) return undefined;
    const same = template.labels.values.get(key.text);
    const other = same === undefined ? spare.shift() : undefined;
    const parts: readonly Edits[] =
      same !== undefined
        ? [replaceScalar(document, value, same)]
        : other === undefined
          ? [left > 1 ? removeEntry(document, map, key.text) : undefined]
          : [
              renameKey(document, entry, other[0]),
              value.value === other[1] ? [] : replaceScalar(document, value, other[1]),
            ];
    if (parts.includes(undefined)) return undefined;
    edits.push(...parts.flatMap((part) => part ?? []));
    if (same !== undefined) selected.push([key.text, same]);
    else if (other === undefined) left -= 1;
    else selected.push(other);
  }
  const title = selected.length === 0 ? 'Select by the other labels only' : titleOf(selected);
  return { title, safe: false, edits };
}
