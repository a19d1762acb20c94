import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'env-source-invalid',
  summary: 'The source of an environment variable must be one, and known',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('env-source-invalid'),
});
