/** Kinds whose `spec.replicas` is the number that an autoscaler writes. */
export const scalableKinds: readonly string[] = [
  'Deployment',
  'StatefulSet',
  'ReplicaSet',
  'ReplicationController',
  'Rollout',
  'LeaderWorkerSet',
];
