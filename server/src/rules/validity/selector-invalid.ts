import { defineRule } from '../rule';
import { checkedKinds, reportFlaws } from './inspect';

export default defineRule({
  id: 'selector-invalid',
  summary: 'A label selector must be well-formed',
  severity: 'error',
  needs: 'document',
  kinds: checkedKinds,
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('selector-invalid'),
});
