import { autoscalerKinds } from '../../kube/autoscalers';
import { targetRefOf } from '../../workspace/references';
import { nameKeyOfResource } from '../../workspace/objects';
import { scalarIn, textIn } from '../../yaml/node';
import { nearest } from '../nearest';
import { defineRule } from '../rule';
import { scalableKinds } from './scalable-kinds';

export default defineRule({
  id: 'hpa-target-not-found',
  summary: 'The target of an autoscaler is among the files around it',
  severity: 'info',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'none',
  check(resource, { report, workspace }) {
    // The names of a chart are put together in more than one way.
    if (resource.role === 'kustomize-patch' || resource.role === 'helm-template') return;
    if (workspace.references(resource).target?.state !== 'missing') return;
    const reference = targetRefOf(resource);
    const at = scalarIn(reference, 'name');
    const name = textIn(reference, 'name');
    if (at === undefined || name === undefined) return;
    const kind = textIn(reference, 'kind') ?? 'Deployment';
    const around = scalableKinds.flatMap((each) => workspace.near(resource, each));
    // Without any workload beside it the target is simply somewhere else; so it may be when one is made from templates.
    if (around.length === 0 || around.some((other) => other.role === 'helm-template')) return;
    const ofKind = around.filter((other) => other.kind === kind);
    const meant = nearest(
      name,
      ofKind.flatMap((other) => nameKeyOfResource(other) ?? []),
    );
    const other = around.find((one) => one.name === name && one.kind !== kind);
    const found = ofKind.find((one) => one.name === meant) ?? other;
    const hint =
      other !== undefined ? `, "${name}" is a ${other.kind}` : meant === undefined ? '' : ` ("${meant}"?)`;
    report({
      at,
      message: `No ${kind} "${name}" is among the files around this ${resource.kind}${hint}: if there is none in the cluster, nothing scales`,
      related:
        found === undefined
          ? []
          : [
              {
                resource: found,
                at: scalarIn(found.root, 'metadata', 'name') ?? found.root,
                message: 'This is what is there',
              },
            ],
    });
  },
});
