import { autoscalerOf, isBehaviorAbsent } from '../../kube/autoscalers';
import { isAbsent, type Resource } from '../../kube/resource';
import {
  commentBehind,
  insertKey,
  insertPath,
  removeEntry,
  type Edit,
  type PlainValue,
} from '../../yaml/edit';
import { entryOf, isNull, isScalar, mapIn, type Entry } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';

/** The longest window that the API takes, in seconds. */
const longestWindow = 3600;

export default defineRule({
  id: 'keda-cooldown-misread',
  summary: 'cooldownPeriod rules only the way to zero, which a minimum of one or more never takes',
  severity: 'info',
  needs: 'document',
  kinds: ['ScaledObject'],
  fixable: 'suggest',
  check(resource, { report }) {
    const spec = mapIn(resource.root, 'spec');
    const minReplicas = autoscalerOf(resource)?.minReplicas;
    const cooldown = entryOf(spec, 'cooldownPeriod');
    if (spec === undefined || cooldown === undefined || isNull(cooldown.value)) return;
    if (minReplicas?.known !== true || minReplicas.value < 1 || !isAbsent(resource, spec, 'idleReplicaCount'))
      return;
    const seconds = isScalar(cooldown.value) && !cooldown.value.unknown ? ` ${cooldown.value.text}` : '';
    report({
      at: cooldown,
      message: `cooldownPeriod${seconds} has no effect with minReplicaCount ${minReplicas.value}: it is the wait before the last step to zero, and replicas above the minimum leave by the HPA's scale-down window, 300 s by default`,
      fixes: [useWindow(resource, cooldown)],
    });
  },
});

/** The author's number where it would have the effect that it seems to have. */
function useWindow(resource: Resource, cooldown: Entry): Fix | undefined {
  const { document } = resource.placed;
  const autoscaler = autoscalerOf(resource);
  const spec = mapIn(resource.root, 'spec');
  const seconds = isScalar(cooldown.value) ? cooldown.value.value : undefined;
  if (autoscaler === undefined || spec === undefined || typeof seconds !== 'number') return undefined;
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > longestWindow) return undefined;
  const path = ['scaleDown', 'stabilizationWindowSeconds'];
  if (!isBehaviorAbsent(autoscaler, ...path)) return undefined;
  const [, first = '', ...below] = autoscaler.behaviorPath;
  const comment = commentBehind(document, cooldown);
  // Where the block is new it stands before the line that goes, so that the two never touch.
  const window =
    entryOf(spec, first) === undefined
      ? insertKey(document, spec, first, nested([...below, ...path], seconds), {
          before: 'cooldownPeriod',
          comment,
        })
      : insertPath(document, spec, [first, ...below, ...path], seconds, { comment });
  const parts: readonly (readonly Edit[] | undefined)[] = [
    removeEntry(document, spec, 'cooldownPeriod'),
    window,
  ];
  return parts.includes(undefined)
    ? undefined
    : {
        title: `Make ${seconds} s the scale-down window instead`,
        safe: false,
        edits: parts.flatMap((part) => part ?? []),
      };
}

function nested(path: readonly string[], value: number): PlainValue {
  return path.reduceRight<PlainValue>((inner, key) => ({ [key]: inner }), value);
}
