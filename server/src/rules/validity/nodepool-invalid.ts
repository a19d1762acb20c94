import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'nodepool-invalid',
  summary: 'A NodePool must keep the rules of its definition',
  severity: 'error',
  needs: 'document',
  kinds: ['NodePool', 'NodeClaim'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('nodepool-invalid'),
});
