import { defineRule } from '../rule';
import { checkedKinds, reportFlaws } from './inspect';

export default defineRule({
  id: 'required-value-missing',
  summary: 'A required value must not be missing or empty',
  severity: 'error',
  needs: 'document',
  kinds: checkedKinds,
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('required-value-missing'),
});
