import { defineRule } from '../rule';
import { checkedKinds, reportFlaws } from './inspect';

export default defineRule({
  id: 'value-unsupported',
  summary: 'A value must be one that the API server knows',
  severity: 'error',
  needs: 'document',
  kinds: checkedKinds,
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('value-unsupported'),
});
