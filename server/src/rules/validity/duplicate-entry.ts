import { defineRule } from '../rule';
import { checkedKinds, reportFlaws } from './inspect';

export default defineRule({
  id: 'duplicate-entry',
  summary: 'Entries of a list that is a map by name must differ',
  severity: 'error',
  needs: 'document',
  kinds: checkedKinds,
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('duplicate-entry'),
});
