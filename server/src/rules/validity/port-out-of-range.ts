import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'port-out-of-range',
  summary: 'Ports must be numbers from 1 to 65535, or names of ports',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier', 'Service', 'Ingress', 'NetworkPolicy'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('port-out-of-range'),
});
