import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'strategy-contradiction',
  summary: 'An update strategy must leave a way to replace pods',
  severity: 'error',
  needs: 'document',
  kinds: ['Deployment', 'StatefulSet', 'DaemonSet'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('strategy-contradiction'),
});
