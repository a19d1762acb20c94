import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'nodeclass-invalid',
  summary: 'An EC2NodeClass must keep the rules of its definition',
  severity: 'error',
  needs: 'document',
  kinds: ['EC2NodeClass'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('nodeclass-invalid'),
});
