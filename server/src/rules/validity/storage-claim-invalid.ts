import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'storage-claim-invalid',
  summary: 'A volume claim must ask for an access mode and a size',
  severity: 'error',
  needs: 'document',
  kinds: ['PersistentVolumeClaim', 'PersistentVolume', 'pod-carrier'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('storage-claim-invalid'),
});
