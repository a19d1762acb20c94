import type { Fault, Limit } from '../../structure/validate';
import { defineRule } from '../rule';
import { faultsOf } from './faults';
import { ownerOf, placeOf, rejected } from './wording';

type OutOfRange = Extract<Fault, { readonly code: 'value-out-of-range' }>;

export default defineRule({
  id: 'value-out-of-range',
  summary: 'Numbers, lengths and counts must be within the limits of their field',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    for (const fault of faultsOf(resource, structure, 'value-out-of-range')) {
      report({
        at: placeOf(resource, fault.node, fault.entry),
        message: `${ownerOf(resource, fault.path)} ${beyond(fault)}; ${rejected(resource)}`,
      });
    }
  },
});

function beyond({ node, limit }: OutOfRange): string {
  const value = node.kind === 'scalar' ? node.text : '';
  switch (limit.kind) {
    case 'minimum':
      return `is ${value}, and at least ${limit.value} is allowed`;
    case 'maximum':
      return `is ${value}, and at most ${limit.value} is allowed`;
    case 'bits':
      return `is ${value}, more than a number of ${limit.value} bits holds`;
    default:
      return counted(limit);
  }
}

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  length: ['character', 'characters'],
  items: ['item', 'items'],
  keys: ['key', 'keys'],
};

function counted({
  kind,
  value,
  length,
}: Exclude<Limit, { readonly kind: 'minimum' | 'maximum' | 'bits' }>): string {
  const [bound, unit] = [kind.slice(0, 3), kind.slice(4)];
  const [one = '', many = ''] = units[unit] ?? [];
  const word = (count: number): string => `${count} ${count === 1 ? one : many}`;
  if (length === 0) return `is empty, and at least ${word(value)} is needed`;
  return `has ${word(length)}, and ${bound === 'min' ? 'at least' : 'at most'} ${word(value)} may be there`;
}
