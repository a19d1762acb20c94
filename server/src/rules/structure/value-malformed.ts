import type { Resource } from '../../kube/resource';
import { parseQuantity } from '../../kube/quantity';
import type { Form } from '../../structure/validate';
import { replaceScalar } from '../../yaml/edit';
import type { ScalarNode } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { faultsOf } from './faults';
import { ownerOf, placeOf, quoted, rejected } from './wording';

export default defineRule({
  id: 'value-malformed',
  summary: 'Quantities, times, names and the like must have the form of their field',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'suggest',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    for (const { node, entry, form, path } of faultsOf(resource, structure, 'value-malformed')) {
      const owner =
        typeof path.at(-1) === 'number' ? ownerOf(resource, path.slice(0, -1)) : ownerOf(resource, path);
      report({
        at: placeOf(resource, node, entry),
        message: `${owner} is ${quoted(node.text)}, ${problem(form)}; ${rejected(resource)}`,
        fixes: form.kind === 'quantity' ? [asQuantity(resource, node)] : [],
      });
    }
  },
});

/** Forms that have a name; others are told by their expression. */
const known: readonly (readonly [source: RegExp, words: string])[] = [
  [/^\^\(\(\[0-9\]\+\(s\|m\|h\)\)\+\|Never\)\$$/, 'and has to be a time such as 30s, 5m or 1h30m, or Never'],
  [/^\^\(\[0-9\]\+\(s\|m\|h\)\)\+\$$/, 'and has to be a time such as 30s, 5m or 1h30m'],
  [/^\^\[\^\/\]\*\$$/, 'and a group is written without its version'],
  [
    /^\^\(\(100\|\[0-9\]\{1,2\}\)%\|\[0-9\]\+\)\$$/,
    'and has to be a whole number or a percentage such as 10%',
  ],
  [/\[-A-Za-z0-9_\.\]\*\)\?\[A-Za-z0-9\]\$$/, 'which is no label key'],
  [/\[-A-Za-z0-9_\.\]\*\)\?\[A-Za-z0-9\]\)\?\$$/, 'which is no label value'],
];

function problem(form: Form): string {
  switch (form.kind) {
    case 'quantity':
      return 'which is no quantity (such as 500m, 2 or 16Gi)';
    case 'base64':
      return 'which is not base64; plain text belongs in stringData';
    case 'date-time':
      return 'which is no time of the form 2026-01-31T12:00:00Z';
    case 'pattern':
      return known.find(([source]) => source.test(form.source))?.[1] ?? `which does not match ${form.source}`;
  }
}

const units: Readonly<Record<string, string>> = {
  k: 'k',
  m: 'M',
  g: 'G',
  t: 'T',
  p: 'P',
  ki: 'Ki',
  mi: 'Mi',
  gi: 'Gi',
  ti: 'Ti',
  pi: 'Pi',
};

/** What was probably meant by `16GB`, `16 gib` or `16gi`. */
function asQuantity(resource: Resource, node: ScalarNode): Fix | undefined {
  const [, amount = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp]i?)b?\s*$/i.exec(node.text) ?? [];
  const suffix = units[unit.toLowerCase()];
  if (suffix === undefined || parseQuantity(amount + suffix) === undefined) return undefined;
  const edits = replaceScalar(resource.placed.document, node, amount + suffix);
  return edits === undefined ? undefined : { title: `Write ${amount}${suffix}`, safe: false, edits };
}
