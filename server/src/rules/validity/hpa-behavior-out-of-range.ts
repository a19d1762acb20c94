import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'hpa-behavior-out-of-range',
  summary: 'The behaviour of an autoscaler must stay within its ranges',
  severity: 'error',
  needs: 'document',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('hpa-behavior-out-of-range'),
});
