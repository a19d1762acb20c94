import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'toleration-invalid',
  summary: 'A toleration must not contradict itself',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'safe',
  apiServerRejects: true,
  check: reportFlaws('toleration-invalid'),
});
