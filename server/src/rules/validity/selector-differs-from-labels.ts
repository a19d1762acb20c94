import { defineRule } from '../rule';
import { reportFlaws } from './inspect';

export default defineRule({
  id: 'selector-differs-from-labels',
  summary: 'The selector of a workload must match the labels of its pods',
  severity: 'error',
  needs: 'document',
  kinds: ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job', 'CronJob'],
  fixable: 'suggest',
  apiServerRejects: true,
  check: reportFlaws('selector-differs-from-labels'),
});
