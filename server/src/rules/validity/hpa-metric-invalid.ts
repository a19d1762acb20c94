import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'hpa-metric-invalid',
  summary: 'A metric of an autoscaler must have its block and a positive target',
  severity: 'error',
  needs: 'document',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('hpa-metric-invalid'),
});
