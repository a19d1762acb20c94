import type { Resource } from '../../kube/resource';
import type { Fault } from '../../structure/validate';
import { replaceScalar } from '../../yaml/edit';
import { nearest } from '../nearest';
import { defineRule, type Fix } from '../rule';
import { faultsOf } from './faults';
import { ownerOf, placeOf, quoted, rejected } from './wording';

type NotAllowed = Extract<Fault, { readonly code: 'value-not-allowed' }>;

/** More than these are not listed. */
const MOST = 8;

export default defineRule({
  id: 'value-not-allowed',
  summary: 'A value must be one of those its field takes',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'safe',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    for (const fault of faultsOf(resource, structure, 'value-not-allowed')) {
      const { node, entry, allowed, path } = fault;
      const last = path.at(-1);
      const owner = typeof last === 'number' ? ownerOf(resource, path.slice(0, -1)) : ownerOf(resource, path);
      const list =
        allowed.length > MOST
          ? `${allowed.slice(0, MOST).join(', ')} and ${allowed.length - MOST} more`
          : allowed.join(', ');
      const value = node.value === null ? 'nothing' : quoted(node.text);
      report({
        at: placeOf(resource, node, entry),
        message: `${owner} takes ${list} and not ${value}; ${rejected(resource)}`,
        fixes: [correct(resource, fault)],
      });
    }
  },
});

function correct(resource: Resource, { node, allowed }: NotAllowed): Fix | undefined {
  if (node.text === '') return undefined;
  const same = allowed.find((value) => value.toLowerCase() === node.text.toLowerCase());
  const near = same ?? nearest(node.text, allowed);
  if (near === undefined) return undefined;
  const edits = replaceScalar(resource.placed.document, node, near);
  return edits === undefined ? undefined : { title: `Write ${near}`, safe: same !== undefined, edits };
}
