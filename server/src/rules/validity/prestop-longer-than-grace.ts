import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'prestop-longer-than-grace',
  summary: 'The sleep of a preStop hook must fit into the grace period',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  apiServerRejects: true,
  check: reportFlaws('prestop-longer-than-grace'),
});
