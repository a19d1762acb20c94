import { removeEntry } from '../../yaml/edit';
import { entryOf, isNull, mapIn, scalarIn } from '../../yaml/node';
import { targetRefOf } from '../../workspace/references';
import { defineRule } from '../rule';
import { scalableKinds } from './scalable-kinds';

export default defineRule({
  id: 'replicas-with-autoscaler',
  summary: 'A workload that an autoscaler scales has no replicas of its own',
  severity: 'warning',
  needs: 'workspace',
  kinds: scalableKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const spec = mapIn(resource.root, 'spec');
    const entry = entryOf(spec, 'replicas');
    if (spec === undefined || entry === undefined || isNull(entry.value)) return;
    if (entry.value.kind !== 'scalar' || entry.value.unknown) return;
    const autoscaler = workspace
      .references(resource)
      .autoscalers.find(
        ({ match, resource: other }) => match === 'yes' && other.role !== 'helm-template',
      )?.resource;
    if (autoscaler === undefined) return;
    const edits = removeEntry(resource.placed.document, spec, 'replicas');
    report({
      at: entry.value,
      message: `replicas: ${entry.value.text} is set although ${autoscaler.kind} "${autoscaler.name ?? ''}" scales "${resource.name ?? resource.kind}": each apply resets the count to ${entry.value.text}`,
      related: [
        {
          resource: autoscaler,
          at: scalarIn(targetRefOf(autoscaler), 'name') ?? autoscaler.root,
          message: `This ${autoscaler.kind} scales it`,
        },
      ],
      fixes: [
        edits === undefined
          ? undefined
          : {
              title:
                'Remove replicas (the first apply scales to 1, unless its last-applied value is taken out first)',
              safe: false,
              edits,
            },
      ],
    });
  },
});
