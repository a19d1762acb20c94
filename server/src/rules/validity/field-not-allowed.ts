import { defineRule } from '../rule';
import { checkedKinds, reportFlaws } from './inspect';

export default defineRule({
  id: 'field-not-allowed',
  summary: 'A field must suit the other settings of its object',
  severity: 'error',
  needs: 'document',
  kinds: checkedKinds,
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('field-not-allowed'),
});
