import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'schedule-invalid',
  summary: 'The schedule of a CronJob must be a cron expression',
  severity: 'error',
  needs: 'document',
  kinds: ['CronJob'],
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('schedule-invalid'),
});
