import type { Resource } from '../../kube/resource';
import type { Fault } from '../../structure/validate';
import { renameKey } from '../../yaml/edit';
import { entryOf } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { faultsOf } from './faults';
import { meant, sameLetters } from './misspelt';
import { capital, ownerOf, rejected } from './wording';

type Unknown = Extract<Fault, { readonly code: 'unknown-field' }>;

export default defineRule({
  id: 'unknown-field',
  summary: 'A key must be a field of its type',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'safe',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    for (const fault of faultsOf(resource, structure, 'unknown-field')) {
      const name = fault.entry.key.text;
      const place = home(fault);
      const near = place === undefined ? meant(fault) : undefined;
      const hint =
        place !== undefined ? ` (it is one of ${place})` : near !== undefined ? `, but ${near}` : '';
      const owner = ownerOf(resource, fault.path.slice(0, -1));
      report({
        at: fault.entry,
        message: `${capital(owner)} has no field ${name}${hint}; ${rejected(resource)}`,
        fixes: [rename(resource, fault, near)],
      });
    }
  },
});

/** Where a key belongs that is in the wrong object: in one around this one, or right below. */
function home({ entry, around, shape, path }: Unknown): string | undefined {
  const name = entry.key.text;
  const above = around.slice(0, -1).findLastIndex((place) => place.shape.fields.has(name));
  if (above >= 0) return above === 0 ? 'the object itself' : around[above]?.path.filter(isName).join('.');
  const below = shape.fields.names.filter((field) => {
    const inner = shape.fields.get(field);
    return inner?.type === 'object' && inner.fields.has(name);
  });
  const [only, ...others] = below;
  if (only === undefined || others.length > 0) return undefined;
  return [...path.slice(0, -1).filter(isName), only].join('.');
}

function isName(step: string | number): step is string {
  return typeof step === 'string';
}

function rename(resource: Resource, { entry, map }: Unknown, near: string | undefined): Fix | undefined {
  if (near === undefined || entryOf(map, near) !== undefined) return undefined;
  const edits = renameKey(resource.placed.document, entry, near);
  if (edits === undefined) return undefined;
  // Only capitals, dashes or underscores differ: nothing else can have been meant.
  return { title: `Write ${near}`, safe: sameLetters(near, entry.key.text), edits };
}
