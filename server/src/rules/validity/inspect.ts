import type { Resource } from '../../kube/resource';
import { partIn, type Part } from '../../kube/part';
import { checkRole, checkRoleBinding } from './access';
import { checkAutoscaler } from './autoscaler';
import { checkBudget } from './budget';
import { checkConfigMap } from './config-map';
import { Inspection, type Flaw, type ValidityRule } from './inspection';
import { checkScaledJob } from './keda';
import { checkMetadata } from './metadata';
import { checkMonitor, checkPrometheusRule } from './monitoring';
import { checkIngress, checkNetworkPolicy } from './network';
import { checkNodeClass } from './node-class';
import { checkNodeClaim, checkNodePool } from './node-pool';
import { checkPodSpec, checkTemplate } from './pod';
import { checkPriorityClass } from './priority-class';
import { checkLimitRange, checkQuota } from './quota';
import { checkService } from './service';
import { checkClaim, checkPersistentVolume, checkStorageClass } from './storage';
import { checkCronJob, checkJob, checkReplicationController, checkWorkload } from './workload';
import { podTemplates } from '../../kube/pod-carriers';
import { entryOf, itemsIn, textIn } from '../../yaml/node';
import type { RuleContext } from '../rule';

/** Nothing beyond the name, the labels and what the schema says. */
const metadataOnly = (): void => undefined;

/** The check of each kind, by group, version and kind. Other groups have kinds of the same name: they are not meant. */
const checks: Readonly<Record<string, (cx: Inspection, root: Part) => void>> = {
  'apps/v1/Deployment': checkWorkload,
  'apps/v1/StatefulSet': checkWorkload,
  'apps/v1/DaemonSet': checkWorkload,
  'apps/v1/ReplicaSet': checkWorkload,
  '/v1/ReplicationController': checkReplicationController,
  'batch/v1/Job': checkJob,
  'batch/v1/CronJob': checkCronJob,
  '/v1/Pod': (cx, root) => {
    const spec = partIn(root, 'spec');
    if (spec !== undefined) checkPodSpec(cx, spec, 'any');
  },
  '/v1/PodTemplate': (cx, root) => {
    const template = partIn(root, 'template');
    if (template !== undefined) checkTemplate(cx, template, 'any');
  },
  '/v1/Service': checkService,
  'autoscaling/v1/HorizontalPodAutoscaler': checkAutoscaler,
  'autoscaling/v2/HorizontalPodAutoscaler': checkAutoscaler,
  'policy/v1/PodDisruptionBudget': checkBudget,
  '/v1/PersistentVolumeClaim': checkClaim,
  '/v1/PersistentVolume': checkPersistentVolume,
  'storage.k8s.io/v1/StorageClass': checkStorageClass,
  '/v1/ResourceQuota': checkQuota,
  '/v1/LimitRange': checkLimitRange,
  '/v1/ConfigMap': checkConfigMap,
  '/v1/Secret': checkConfigMap,
  '/v1/ServiceAccount': metadataOnly,
  '/v1/Namespace': metadataOnly,
  '/v1/Endpoints': metadataOnly,
  'discovery.k8s.io/v1/EndpointSlice': metadataOnly,
  'networking.k8s.io/v1/IngressClass': metadataOnly,
  'node.k8s.io/v1/RuntimeClass': metadataOnly,
  'networking.k8s.io/v1/Ingress': checkIngress,
  'networking.k8s.io/v1/NetworkPolicy': checkNetworkPolicy,
  'rbac.authorization.k8s.io/v1/Role': checkRole,
  'rbac.authorization.k8s.io/v1/ClusterRole': checkRole,
  'rbac.authorization.k8s.io/v1/RoleBinding': checkRoleBinding,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': checkRoleBinding,
  'scheduling.k8s.io/v1/PriorityClass': checkPriorityClass,
  'karpenter.sh/v1/NodePool': checkNodePool,
  'karpenter.sh/v1/NodeClaim': checkNodeClaim,
  'karpenter.k8s.aws/v1/EC2NodeClass': checkNodeClass,
  'keda.sh/v1alpha1/ScaledObject': metadataOnly,
  'keda.sh/v1alpha1/ScaledJob': checkScaledJob,
  'keda.sh/v1alpha1/TriggerAuthentication': metadataOnly,
  'keda.sh/v1alpha1/ClusterTriggerAuthentication': metadataOnly,
  'monitoring.coreos.com/v1/PrometheusRule': checkPrometheusRule,
  'monitoring.coreos.com/v1/ServiceMonitor': checkMonitor,
  'monitoring.coreos.com/v1/PodMonitor': checkMonitor,
};

/** Groups whose controllers make pods of their templates as they are written. */
const plainCarriers: readonly string[] = ['leaderworkerset.x-k8s.io', 'jobset.x-k8s.io', 'argoproj.io'];

/** Every kind that is checked, for the rules' own lists. */
export const checkedKinds: readonly string[] = [
  ...new Set(Object.keys(checks).map((key) => key.slice(key.lastIndexOf('/') + 1))),
  'LeaderWorkerSet',
  'JobSet',
  'Rollout',
];

/** Claim templates of a LeaderWorkerSet and a JobSet, which are volumes of their pods. */
function claimsOf(resource: Resource): ReadonlySet<string> | 'unknown' {
  const templates = [
    ...itemsIn(resource.root, 'spec', 'leaderWorkerTemplate', 'volumeClaimTemplates'),
    ...itemsIn(resource.root, 'spec', 'volumeClaimPolicies').flatMap((policy) =>
      itemsIn(policy, 'templates'),
    ),
  ];
  const names = templates.map((template) => textIn(template, 'metadata', 'name'));
  return names.includes(undefined) ? 'unknown' : new Set(names.filter((name) => name !== undefined));
}

const memo = new WeakMap<Resource, readonly Flaw[]>();

/** What the API server's validation would refuse of an object. All rules of the folder share one look at it. */
function flawsOf(resource: Resource): readonly Flaw[] {
  const known = memo.get(resource);
  if (known !== undefined) return known;
  const check = checks[`${resource.group}/${resource.version}/${resource.kind}`];
  const cx = new Inspection(resource, plainCarriers.includes(resource.group) ? 'pod' : resource.kind);
  if (check !== undefined) {
    const kind = entryOf(resource.root, 'kind');
    const root: Part = { map: resource.root, place: kind?.value ?? resource.root };
    checkMetadata(cx, root);
    check(cx, root);
  } else if (plainCarriers.includes(resource.group)) {
    // Only the pods: what the objects themselves may be, their own definitions say.
    for (const { node, spec } of podTemplates(resource)) {
      const template: Part = { map: node, place: spec.entries[0] ?? spec };
      checkTemplate(cx, template, 'any', claimsOf(resource));
    }
  }
  memo.set(resource, cx.flaws);
  return cx.flaws;
}

/** The check of a rule: its share of the flaws. */
export function reportFlaws(rule: ValidityRule) {
  return (resource: Resource, { report }: RuleContext<unknown>): void => {
    for (const { rule: id, ...flaw } of flawsOf(resource)) if (id === rule) report(flaw);
  };
}
