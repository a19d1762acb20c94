import { acceleratorKind } from '../../kube/accelerators';
import { renameKey } from '../../yaml/edit';
import { entryOf, mapIn } from '../../yaml/node';
import { defineRule } from '../rule';

const efa = 'vpc.amazonaws.com/efa';

export default defineRule({
  id: 'gpu-quota-key-invalid',
  summary: 'A quota on accelerators is a quota on their requests',
  severity: 'warning',
  needs: 'document',
  kinds: ['ResourceQuota'],
  fixable: 'safe',
  check(resource, { report }) {
    if (resource.group !== '') return;
    const hard = mapIn(resource.root, 'spec', 'hard');
    for (const entry of hard?.entries ?? []) {
      const { key } = entry;
      if (key.unknown) continue;
      const name = key.text.replace(/^limits\./, '');
      if (acceleratorKind(name) === undefined && name !== efa) continue;
      const right = `requests.${name}`;
      const edits =
        entryOf(hard, right) === undefined ? renameKey(resource.placed.document, entry, right) : undefined;
      report({
        at: key,
        message: `The quota on "${key.text}" is accepted, but nothing is ever counted against it: of extended resources only "${right}" is, so the namespace takes as many as there are`,
        fixes: [edits && { title: `Limit ${right}`, safe: true, edits }],
      });
    }
  },
});
