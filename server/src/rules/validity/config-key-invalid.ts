import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'config-key-invalid',
  summary: 'Keys of a ConfigMap or Secret must be file names, each of them once',
  severity: 'error',
  needs: 'document',
  kinds: ['ConfigMap', 'Secret'],
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('config-key-invalid'),
});
