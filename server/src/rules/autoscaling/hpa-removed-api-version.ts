import type { Resource } from '../../kube/resource';
import { renameKey, replaceScalar, replaceWithFlow, type Edit, type PlainValue } from '../../yaml/edit';
import {
  entryOf,
  isMap,
  isScalar,
  itemsIn,
  mapIn,
  scalarIn,
  textIn,
  type Entry,
  type MapNode,
} from '../../yaml/node';
import { defineRule, type Fix } from '../rule';

/** The release that no longer served each version: https://kubernetes.io/docs/reference/using-api/deprecation-guide/ */
const removedIn: Readonly<Record<string, string>> = { v2beta1: '1.25', v2beta2: '1.26' };

export default defineRule({
  id: 'hpa-removed-api-version',
  summary: 'autoscaling/v2beta1 and v2beta2 are no longer served',
  severity: 'error',
  needs: 'document',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'suggest',
  apiServerRejects: true,
  check(resource, { report }) {
    const release = removedIn[resource.version];
    const at = scalarIn(resource.root, 'apiVersion');
    if (resource.group !== 'autoscaling' || release === undefined || at === undefined) return;
    report({
      at,
      message: `${resource.apiVersion} is not served since Kubernetes ${release}; the API server rejects the HorizontalPodAutoscaler`,
      fixes: [upgrade(resource)],
    });
  },
});

/** v2beta2 has the fields of v2. v2beta1 wrote each metric's target in another way, so its metrics are written anew. */
function upgrade(resource: Resource): Fix | undefined {
  const { document } = resource.placed;
  const version = scalarIn(resource.root, 'apiVersion');
  const head = version === undefined ? undefined : replaceScalar(document, version, 'autoscaling/v2');
  if (head === undefined) return undefined;
  const list = entryOf(mapIn(resource.root, 'spec'), 'metrics')?.value;
  if (resource.version === 'v2beta2' || list === undefined) {
    return { title: 'Use autoscaling/v2', safe: true, edits: head };
  }
  if (list.kind !== 'sequence' || list.open || list.borrowed) return undefined;
  const edits: Edit[] = [...head];
  for (const item of itemsIn(list)) {
    const converted = isMap(item) ? convert(resource, item) : undefined;
    if (converted === undefined) return undefined;
    edits.push(...converted);
  }
  return { title: 'Use autoscaling/v2, with the metrics in its form', safe: false, edits };
}

/** What became of each field of a v2beta1 metric: another key, with the old value inside. */
type Rewrite = readonly [from: string, to: string, value: (old: string | number) => PlainValue];

const utilization: Rewrite = [
  'targetAverageUtilization',
  'target',
  (old) => ({ type: 'Utilization', averageUtilization: Number(old) }),
];
const averageValue: Rewrite = [
  'targetAverageValue',
  'target',
  (old) => ({ type: 'AverageValue', averageValue: old }),
];
const value: Rewrite = ['targetValue', 'target', (old) => ({ type: 'Value', value: old })];
const metricName: Rewrite = ['metricName', 'metric', (old) => ({ name: old })];

const rewrites: Readonly<Record<string, readonly [block: string, fields: readonly Rewrite[]]>> = {
  Resource: ['resource', [utilization, averageValue]],
  Pods: ['pods', [metricName, averageValue]],
  External: ['external', [metricName, averageValue, value]],
  Object: ['object', [metricName, value, ['averageValue', 'target', averageValue[2]]]],
};

/** `undefined` where the metric cannot be carried over field by field (a selector moves into another map). */
function convert(resource: Resource, item: MapNode): readonly Edit[] | undefined {
  const [blockName, fields] = rewrites[textIn(item, 'type') ?? ''] ?? [];
  const block = blockName === undefined ? undefined : mapIn(item, blockName);
  if (block === undefined || fields === undefined || block.borrowed || block.open) return undefined;
  if (entryOf(block, 'selector') !== undefined || entryOf(block, 'metricSelector') !== undefined)
    return undefined;
  const edits: Edit[] = [];
  let targets = 0;
  for (const entry of block.entries) {
    const rewrite = fields.find(([from]) => from === entry.key.text);
    if (rewrite !== undefined) {
      const [, to, make] = rewrite;
      const made = writeAnew(resource, entry, to, make);
      if (made === undefined) return undefined;
      edits.push(...made);
      if (to === 'target') targets++;
    } else if (entry.key.text === 'target' && blockName === 'object') {
      const renamed = renameKey(resource.placed.document, entry, 'describedObject');
      if (renamed === undefined) return undefined;
      edits.push(...renamed);
    }
  }
  // Two targets would become one key twice; no target was an error already.
  return targets === 1 ? edits : undefined;
}

function writeAnew(
  resource: Resource,
  entry: Entry,
  key: string,
  make: (old: string | number) => PlainValue,
): readonly Edit[] | undefined {
  const { document } = resource.placed;
  const old = entry.value;
  if (!isScalar(old) || old.unknown || old.borrowed || old.value === null || old.start === old.end)
    return undefined;
  const renamed = renameKey(document, entry, key);
  if (renamed === undefined) return undefined;
  const replaced = replaceWithFlow(document, old, make(typeof old.value === 'number' ? old.value : old.text));
  return replaced === undefined ? undefined : [...renamed, ...replaced];
}
