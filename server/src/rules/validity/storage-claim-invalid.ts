import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'storage-claim-invalid',
  summary: 'A volume claim must ask for a size, and name access modes that go together',
  severity: 'error',
  needs: 'document',
  kinds: ['PersistentVolumeClaim', 'PersistentVolume', 'pod-carrier'],
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('storage-claim-invalid'),
});
