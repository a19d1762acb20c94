import { defineRule } from '../rule';
import { faultsOf } from './faults';
import { capital, ownerOf, placeOf, rejected, rootPlace } from './wording';

export default defineRule({
  id: 'validation-rule-failed',
  summary: 'An object must keep the validation rules of its definition',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    for (const { node, entry, message, path } of faultsOf(resource, structure, 'rule-failed')) {
      report({
        at: path.length === 0 ? rootPlace(resource) : placeOf(resource, node, entry),
        message: `${capital(ownerOf(resource, path))} breaks a rule of its definition: ${message}; ${rejected(resource)}`,
      });
    }
  },
});
