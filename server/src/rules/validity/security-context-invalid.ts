import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'security-context-invalid',
  summary: 'A security context must not contradict itself',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('security-context-invalid'),
});
