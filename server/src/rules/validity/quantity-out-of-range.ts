import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'quantity-out-of-range',
  summary: 'Amounts must not be negative, and must come in whole units where these are counted',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier', 'ResourceQuota', 'LimitRange'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('quantity-out-of-range'),
});
