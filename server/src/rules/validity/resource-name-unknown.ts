import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'resource-name-unknown',
  summary: 'Resources must be standard ones or have a domain in their names',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier', 'ResourceQuota', 'LimitRange'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('resource-name-unknown'),
});
