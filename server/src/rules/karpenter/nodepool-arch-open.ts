import { archLabel } from '../../sizing/nodes/labels';
import { acceleratorsOnly, readNodePool, typesOf } from '../../sizing/nodes/read-pool';
import { appendItem } from '../../yaml/edit';
import { entryOf, isSequence, mapIn } from '../../yaml/node';
import { someOf } from '../placement/words';
import { defineRule } from '../rule';
import { requirementsOn } from './pool-facts';

export default defineRule({
  id: 'nodepool-arch-open',
  summary: 'A GPU pool says for which architecture its nodes are',
  severity: 'info',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report }) {
    if (resource.group !== 'karpenter.sh' || readNodePool(resource).incomplete === true) return;
    if (requirementsOn(resource, archLabel).length > 0 || acceleratorsOnly(resource).length === 0) return;
    if (readNodePool(resource).labels?.[archLabel] !== undefined) return;
    const { types } = typesOf(resource);
    const arm = types.filter(({ arch }) => arch === 'arm64');
    const list = entryOf(mapIn(resource.root, 'spec', 'template', 'spec'), 'requirements');
    if (list === undefined || arm.length === 0 || arm.length === types.length) return;
    const edits = isSequence(list.value)
      ? appendItem(resource.placed.document, list.value, {
          key: archLabel,
          operator: 'In',
          values: ['amd64'],
        })
      : undefined;
    report({
      at: list,
      message: `NodePool "${resource.name ?? ''}" allows amd64 and arm64 (${someOf([...new Set(arm.map(({ family }) => family))])}): a pod that says nothing of its architecture may get either, and images for one of them do not start on the other`,
      fixes: [edits === undefined ? undefined : { title: 'Require amd64', safe: false, edits }],
    });
  },
});
