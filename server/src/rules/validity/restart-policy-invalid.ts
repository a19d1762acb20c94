import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'restart-policy-invalid',
  summary: 'The restart policy must suit the kind of the pods',
  severity: 'error',
  needs: 'document',
  kinds: ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job', 'CronJob'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('restart-policy-invalid'),
});
