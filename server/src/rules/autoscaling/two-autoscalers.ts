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
    const reference = targetRefOf(resource);
    const at = scalarIn(reference, 'name');
    // A name that is only known later may become another in each of them.
    const name = textIn(reference, 'name');
    if (at === undefined || name === undefined) return;
    const other = workspace
      .references(resource)
      .rivals.find(
        (rival) =>
          !isSameObject(resource, rival) && !handsOver(resource, rival) && !handsOver(rival, resource),
      );
    if (other === undefined) return;
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
  },
});

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
