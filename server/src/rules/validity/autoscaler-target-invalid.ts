import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'autoscaler-target-invalid',
  summary: 'The target of an autoscaler must be named with its group',
  severity: 'error',
  needs: 'document',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('autoscaler-target-invalid'),
});
