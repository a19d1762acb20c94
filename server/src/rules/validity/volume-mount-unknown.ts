import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'volume-mount-unknown',
  summary: 'A volume mount must name a volume of its pod',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('volume-mount-unknown'),
});
