import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'volume-source-invalid',
  summary: 'A volume must have one source, with what that source needs',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier', 'PersistentVolume'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('volume-source-invalid'),
});
