import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'probe-invalid',
  summary: 'A probe or a hook must have one handler and sensible numbers',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('probe-invalid'),
});
