import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'affinity-term-invalid',
  summary: 'Affinity and spread terms must be complete and within their ranges',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('affinity-term-invalid'),
});
