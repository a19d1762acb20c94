import type { Resource } from '../../kube/resource';
import type { Fault } from '../../structure/validate';
import { valuesKind } from '../../workspace/relevant-kinds';
import { entryOf, isNull } from '../../yaml/node';
import { titleOf } from '../naming';
import { defineRule, type Place } from '../rule';
import { faultsOf } from './faults';
import { meant } from './misspelt';
import { capital, firstLine, ownerOf, rejected, rootPlace } from './wording';

type Missing = Extract<Fault, { readonly code: 'missing-field' }>;

export default defineRule({
  id: 'missing-field',
  summary: 'A required field must be there',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    for (const key of ['apiVersion', 'kind'] as const) {
      const entry = entryOf(resource.root, key);
      if (resource[key] !== '' || !isNull(entry?.value) || resource.kind === valuesKind) continue;
      const at = entry ?? firstLine(resource, resource.root);
      const what = resource.kind === '' ? 'The object' : titleOf(resource);
      report({ at, message: `${what} lacks ${key}; the API server rejects it` });
    }
    const unknown = faultsOf(resource, structure, 'unknown-field');
    for (const fault of faultsOf(resource, structure, 'missing-field')) {
      // It is there, misspelt: that is said already.
      if (unknown.some((other) => other.map === fault.map && meant(other) === fault.field)) continue;
      const owner = ownerOf(resource, fault.path.slice(0, -1));
      const what = fault.empty
        ? `${fault.field} of ${owner} is empty, and required`
        : `${capital(owner)} lacks ${fault.field}`;
      report({ at: place(resource, fault), message: `${what}; ${rejected(resource)}` });
    }
  },
});

function place(resource: Resource, { at }: Missing): Place {
  if (!('kind' in at) || at.kind === 'scalar') return at;
  return at === resource.root ? rootPlace(resource) : firstLine(resource, at);
}
