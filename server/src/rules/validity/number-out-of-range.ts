import { defineRule } from '../rule';
import { checkedKinds, reportFlaws } from './inspect';

export default defineRule({
  id: 'number-out-of-range',
  summary: 'Numbers must be within the range that the API server allows',
  severity: 'error',
  needs: 'document',
  kinds: checkedKinds,
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('number-out-of-range'),
});
