import { partIn, partsIn, textAt, wholeAt, type Part } from '../../kube/part';
import { shown, type Inspection } from './inspection';

/** Lists of a pod template that are maps by a key in the CRD of a ScaledJob. */
export function checkScaledJob(cx: Inspection, root: Part): void {
  const whole = partIn(root, 'spec');
  if (whole !== undefined) checkScaled(cx, whole);
  const spec = partIn(root, 'spec', 'jobTargetRef', 'template', 'spec');
  if (spec === undefined) return;
  const containers = [partsIn(spec, 'containers'), partsIn(spec, 'initContainers')];
  for (const list of [...containers, partsIn(spec, 'volumes')]) {
    cx.unique(
      list,
      (item) => {
        const name = textAt(item, 'name');
        return name === undefined ? undefined : { key: name.text, at: name.node };
      },
      (key) => `The name ${shown(key)} stands twice`,
    );
  }
  for (const container of containers.flat()) {
    cx.unique(
      partsIn(container, 'ports'),
      (port) => {
        const number = wholeAt(port, 'containerPort');
        const protocol = textAt(port, 'protocol')?.text ?? 'TCP';
        return number === undefined ? undefined : { key: `${number.value}/${protocol}`, at: number.node };
      },
      (key) => `The port ${key} stands twice`,
    );
    for (const [list, key] of [
      ['env', 'name'],
      ['volumeMounts', 'mountPath'],
      ['volumeDevices', 'devicePath'],
    ] as const) {
      cx.unique(
        partsIn(container, list),
        (item) => {
          const text = textAt(item, key);
          return text === undefined ? undefined : { key: text.text, at: text.node };
        },
        (value) => `The ${key} ${shown(value)} stands twice in ${list}`,
      );
    }
  }
}

/** Numbers of ScaledObjects and ScaledJobs and the least of each (the definitions of KEDA 2.20). */
const least: Readonly<Record<string, number>> = {
  pollingInterval: 1,
  cooldownPeriod: 0,
  initialCooldownPeriod: 0,
  idleReplicaCount: 0,
  minReplicaCount: 0,
  maxReplicaCount: 1,
  successfulJobsHistoryLimit: 0,
  failedJobsHistoryLimit: 0,
};

/** What a ScaledObject and a ScaledJob have in common: numbers, and triggers with their authentication. */
function checkScaled(cx: Inspection, spec: Part): void {
  for (const [key, minimum] of Object.entries(least)) cx.range(spec, key, minimum, undefined, key);
  for (const trigger of partsIn(spec, 'triggers')) {
    cx.notEmpty(trigger, 'type', 'The type of a trigger');
    const authentication = partIn(trigger, 'authenticationRef');
    if (authentication !== undefined) {
      cx.oneOf(
        authentication,
        'kind',
        ['TriggerAuthentication', 'ClusterTriggerAuthentication'],
        'The kind of authenticationRef',
      );
    }
  }
}

export function checkScaledObject(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  checkScaled(cx, spec);
  const target = partIn(spec, 'scaleTargetRef');
  if (target !== undefined) cx.notEmpty(target, 'name', 'The name of the scale target');
  const fallback = partIn(spec, 'fallback');
  if (fallback !== undefined) {
    cx.range(fallback, 'failureThreshold', 0, undefined, 'The failureThreshold of the fallback');
    cx.range(fallback, 'replicas', 0, undefined, 'The replicas of the fallback');
  }
  const modifiers = partIn(spec, 'advanced', 'scalingModifiers');
  if (modifiers !== undefined) {
    cx.oneOf(modifiers, 'metricType', ['AverageValue', 'Value'], 'The metricType of scalingModifiers');
  }
}

/** Providers of today, and those of versions that are still in use. */
const providers: readonly string[] = ['aws', 'azure-workload', 'gcp', 'aws-eks', 'none', 'azure', 'aws-kiam'];

export function checkTriggerAuthentication(cx: Inspection, root: Part): void {
  const identity = partIn(root, 'spec', 'podIdentity');
  if (identity !== undefined) cx.oneOf(identity, 'provider', providers, 'The provider of podIdentity');
}
