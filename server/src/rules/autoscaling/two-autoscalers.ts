import { autoscalerKinds } from '../../kube/autoscalers';
import type { Resource } from '../../kube/resource';
import { targetRefOf } from '../../workspace/references';
import { scalarIn, textIn } from '../../yaml/node';
import { defineRule } from '../rule';

export default defineRule({
  id: 'two-autoscalers',
  summary: 'A workload has one autoscaler',
  severity: 'error',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'none',
  check(resource, { report, workspace }) {
    const key = targetKey(resource);
    const at = scalarIn(targetRefOf(resource), 'name');
    if (key === undefined || at === undefined) return;
    for (const kind of autoscalerKinds) {
      for (const other of workspace.near(resource, kind)) {
        if (other === resource || targetKey(other) !== key || isSameObject(resource, other)) continue;
        if (handsOver(resource, other) || handsOver(other, resource)) continue;
        const name = textIn(targetRefOf(resource), 'name') ?? '';
        report({
          at,
          message: `${resource.kind} "${resource.name ?? ''}" and ${other.kind} "${other.name ?? ''}" both scale "${name}": the controller sees its pods selected twice and scales with neither`,
          // The files of a plain folder can be alternatives of which one is applied.
          ...(workspace.appliedTogether(resource, other) ? {} : { severity: 'warning' as const }),
          related: [
            {
              resource: other,
              at: scalarIn(targetRefOf(other), 'name') ?? other.root,
              message: `${other.kind} "${other.name ?? ''}" scales it too`,
            },
          ],
        });
        return;
      }
    }
  },
});

/** Kind and name of the target; `undefined` when some of it is only known later. */
function targetKey(autoscaler: Resource): string | undefined {
  const reference = targetRefOf(autoscaler);
  const name = textIn(reference, 'name');
  const kindNode = scalarIn(reference, 'kind');
  const kind =
    kindNode === undefined && autoscaler.kind === 'ScaledObject' ? 'Deployment' : textIn(reference, 'kind');
  return name === undefined || kind === undefined ? undefined : `${kind}/${name}`;
}

/** The same object, written in two files: an environment's variant, or an older copy. */
function isSameObject(a: Resource, b: Resource): boolean {
  if (a.name === undefined || b.name === undefined) return true;
  return a.kind === b.kind && a.name === b.name;
}

const transfer = 'scaledobject.keda.sh/transfer-hpa-ownership';

/**
 * KEDA makes an HPA of its own, so one written out with that name is the same one; and a ScaledObject can take over an
 * existing one (https://keda.sh/docs/latest/concepts/scaling-deployments/#transfer-ownership-of-an-existing-hpa).
 */
function handsOver(scaledObject: Resource, hpa: Resource): boolean {
  if (scaledObject.kind !== 'ScaledObject' || hpa.kind !== 'HorizontalPodAutoscaler') return false;
  const named = textIn(scaledObject.root, 'spec', 'advanced', 'horizontalPodAutoscalerConfig', 'name');
  if (hpa.name === (named ?? `keda-hpa-${scaledObject.name ?? ''}`) && named === undefined) return true;
  return textIn(scaledObject.root, 'metadata', 'annotations', transfer) === 'true' && hpa.name === named;
}
