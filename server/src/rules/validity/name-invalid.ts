import { defineRule } from '../rule';
import { checkedKinds, reportFlaws } from './inspect';

export default defineRule({
  id: 'name-invalid',
  summary: 'Names, labels and annotations must have the form that Kubernetes gives them',
  severity: 'error',
  needs: 'document',
  kinds: checkedKinds,
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('name-invalid'),
});
