import type { Resource } from '../../kube/resource';
import type { Fault } from '../../structure/validate';
import { replaceScalar, replaceWithFlow } from '../../yaml/edit';
import { defineRule, type Fix } from '../rule';
import { faultsOf } from './faults';
import { ownerOf, placeOf, quoted, rejected, seen, wanted } from './wording';

type WrongType = Extract<Fault, { readonly code: 'wrong-type' }>;

export default defineRule({
  id: 'wrong-type',
  summary: 'A value must be of the type of its field',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'safe',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    for (const fault of faultsOf(resource, structure, 'wrong-type')) {
      const { node, entry, shape, path } = fault;
      const owner = ownerOf(resource, path);
      report({
        at: placeOf(resource, node, entry),
        message: `${owner} is ${seen(node)} and has to be ${wanted(shape)}; ${rejected(resource)}`,
        fixes: [convert(resource, fault)],
      });
    }
  },
});

/** The same value as the type that is wanted, where it has one. */
function convert(resource: Resource, { node, shape }: WrongType): Fix | undefined {
  if (node.kind !== 'scalar' || node.value === null) return undefined;
  const { document } = resource.placed;
  const { text, value } = node;
  if (shape.type === 'list') {
    const edits = replaceWithFlow(document, node, [value]);
    return edits === undefined
      ? undefined
      : { title: `Make it a list of ${quoted(text)}`, safe: false, edits };
  }
  const converted =
    shape.type === 'string' && typeof value !== 'string'
      ? text
      : shape.type === 'integer' && typeof value === 'string' && /^[-+]?\d{1,15}$/.test(text.trim())
        ? Number(text)
        : shape.type === 'boolean' && /^(true|false)$/i.test(text) && typeof value === 'string'
          ? text.toLowerCase() === 'true'
          : undefined;
  if (converted === undefined) return undefined;
  const edits = replaceScalar(document, node, converted);
  const title = typeof converted === 'string' ? `Write ${quoted(converted)}` : `Write ${String(converted)}`;
  return edits === undefined ? undefined : { title, safe: true, edits };
}
