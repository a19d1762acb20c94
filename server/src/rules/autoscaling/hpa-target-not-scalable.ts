import { autoscalerKinds } from '../../kube/autoscalers';
import { targetRefOf } from '../../workspace/references';
import { replaceScalar } from '../../yaml/edit';
import { scalarIn, textIn } from '../../yaml/node';
import { defineRule } from '../rule';

/** Kinds without the subresource `scale`, in the API of Kubernetes 1.36 and in the CRDs of KubeRay and KServe. */
const unscalable: readonly string[] = [
  'DaemonSet',
  'Job',
  'CronJob',
  'Pod',
  'PodTemplate',
  'Service',
  'ConfigMap',
  'Namespace',
  'Node',
  'PersistentVolumeClaim',
  'HorizontalPodAutoscaler',
  'ScaledObject',
  'ScaledJob',
  'RayCluster',
  'RayJob',
  'RayService',
  'InferenceService',
];

/** The group of each built-in kind with the subresource. */
const scalable: Readonly<Record<string, string>> = {
  Deployment: 'apps',
  StatefulSet: 'apps',
  ReplicaSet: 'apps',
};

export default defineRule({
  id: 'hpa-target-not-scalable',
  summary: 'The target of an autoscaler is a kind that can be scaled',
  severity: 'error',
  needs: 'document',
  kinds: autoscalerKinds,
  fixable: 'safe',
  check(resource, { report }) {
    const reference = targetRefOf(resource);
    const node = scalarIn(reference, 'kind');
    const kind = textIn(reference, 'kind');
    const { document } = resource.placed;
    if (node !== undefined && kind !== undefined) {
      const meant = Object.keys(scalable).find(
        (each) =>
          each !== kind && [each.toLowerCase(), `${each.toLowerCase()}s`].includes(kind.toLowerCase()),
      );
      if (meant !== undefined) {
        const edits = replaceScalar(document, node, meant);
        report({
          at: node,
          message: `There is no kind "${kind}", the kind is ${meant}: the autoscaler finds no target and nothing scales`,
          fixes: [edits && { title: `Write ${meant}`, safe: true, edits }],
        });
        return;
      }
      if (unscalable.includes(kind)) {
        report({
          at: node,
          message: `A ${kind} has no number of replicas to scale (no scale subresource): nothing scales`,
        });
        return;
      }
    }
    const version = scalarIn(reference, 'apiVersion');
    const written = textIn(reference, 'apiVersion');
    const group = scalable[kind ?? (resource.kind === 'ScaledObject' ? 'Deployment' : '')];
    if (version === undefined || written === undefined || written === '' || group === undefined) return;
    const slash = written.indexOf('/');
    if ((slash < 0 ? '' : written.slice(0, slash)) === group) return;
    const edits = replaceScalar(document, version, `${group}/v1`);
    report({
      at: version,
      message: `${kind ?? 'Deployment'} is in the API group ${group}, not in "${written}": the autoscaler finds no target and nothing scales`,
      fixes: [edits && { title: `Write ${group}/v1`, safe: true, edits }],
    });
  },
});
