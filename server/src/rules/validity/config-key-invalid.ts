import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'config-key-invalid',
  summary: 'Keys of a ConfigMap must be file names, and its binary data base64',
  severity: 'error',
  needs: 'document',
  kinds: ['ConfigMap', 'Secret'],
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('config-key-invalid'),
});
