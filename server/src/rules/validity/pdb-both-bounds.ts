import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'pdb-both-bounds',
  summary: 'A disruption budget must have one bound, as a number or a percentage',
  severity: 'error',
  needs: 'document',
  kinds: ['PodDisruptionBudget'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('pdb-both-bounds'),
});
