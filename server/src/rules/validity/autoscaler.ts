import { dnsLabel, pathSegment } from '../../kube/names';
import { given, isClosed, listIn, partIn, partsIn, textAt, wholeAt, type Part } from '../../kube/part';
import { quantityOf } from '../../kube/quantity';
import { entryOf, isScalar } from '../../yaml/node';
import { hasMisspelt } from './container';
import { shown, type Inspection } from './inspection';
import { resourceNameFlaw } from './resources';

const metric = 'hpa-metric-invalid';
const behaviour = 'hpa-behavior-out-of-range';

export function checkAutoscaler(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  const target = 'autoscaler-target-invalid';
  const least = wholeAt(spec, 'minReplicas');
  // Whether 0 is allowed depends on the cluster: a rule of its own.
  if (least !== undefined && least.value < 0) {
    cx.add('number-out-of-range', least.node, `minReplicas is ${least.value}, and 1 or more is allowed`);
  }
  const most = wholeAt(spec, 'maxReplicas');
  if (most !== undefined && most.value < 1) {
    cx.add('number-out-of-range', most.node, `maxReplicas is ${most.value}, and 1 or more is allowed`);
  }
  const scaled = partIn(spec, 'scaleTargetRef');
  if (scaled !== undefined) {
    checkReference(cx, scaled, 'The scale target');
    const version = textAt(scaled, 'apiVersion');
    const noGroup = cx.lacksText(scaled, 'apiVersion');
    const kind = textAt(scaled, 'kind')?.text;
    if (noGroup) {
      if (kind !== 'ReplicationController') {
        const wanted = kind === undefined ? undefined : groups[kind];
        cx.add(
          target,
          cx.placeOf(scaled, 'apiVersion'),
          'The scale target has no apiVersion, so its group is not known',
          {
            fixes: [
              wanted === undefined
                ? undefined
                : cx.insertion(scaled, 'apiVersion', wanted, `Write ${wanted}`),
            ],
          },
        );
      }
    } else if (version !== undefined) {
      checkVersion(cx, version, kind);
    }
  }
  if (cx.resource.version === 'v1') {
    const cpu = wholeAt(spec, 'targetCPUUtilizationPercentage');
    if (cpu !== undefined) cx.numberRange(cpu, 1, undefined, 'targetCPUUtilizationPercentage');
    return;
  }
  for (const item of partsIn(spec, 'metrics')) checkMetric(cx, item);
  const behavior = partIn(spec, 'behavior');
  for (const direction of ['scaleUp', 'scaleDown']) checkRules(cx, partIn(behavior, direction), direction);
}

const groups: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  ReplicaSet: 'apps/v1',
};

/** A version is `v1`, or a group with one. */
function checkVersion(
  cx: Inspection,
  version: NonNullable<ReturnType<typeof textAt>>,
  kind: string | undefined,
): void {
  const parts = version.text.split('/');
  if (parts.length > 2) {
    cx.add(
      'autoscaler-target-invalid',
      version.node,
      `The apiVersion ${shown(version.text)} of the scale target is no group with a version`,
    );
  } else if (
    (parts.length === 1 || parts[0] === '') &&
    kind !== 'ReplicationController' &&
    kind !== undefined
  ) {
    const wanted = groups[kind];
    cx.add(
      'autoscaler-target-invalid',
      version.node,
      `The apiVersion ${shown(version.text)} of the scale target names no group`,
      {
        fixes: [wanted === undefined ? undefined : cx.write(version.node, wanted, `Write ${wanted}`)],
      },
    );
  }
}

function checkReference(cx: Inspection, reference: Part, title: string): void {
  const rule = 'autoscaler-target-invalid';
  for (const key of ['kind', 'name']) {
    const text = textAt(reference, key);
    if (text === undefined || text.text === '') continue;
    cx.textForm(text, pathSegment, `The ${key} of ${title.charAt(0).toLowerCase()}${title.slice(1)}`, {
      rule,
    });
  }
}

/** Types of a metric, and the key that holds each. */
const blocks: Readonly<Record<string, string>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
  External: 'external',
};

function checkMetric(cx: Inspection, item: Part): void {
  const type = textAt(item, 'type');
  if (type !== undefined) {
    const key = blocks[type.text];
    if (key !== undefined && cx.isCertain && !item.map.open) {
      const block = given(item, key);
      if (block === undefined && !hasMisspelt(item, Object.values(blocks))) {
        cx.add(
          metric,
          entryOf(item.map, key) ?? type.node,
          `A metric has the type ${type.text} and no ${key}`,
        );
      }
      for (const other of Object.values(blocks)) {
        const entry = other === key ? undefined : given(item, other);
        if (entry !== undefined && block !== undefined) {
          cx.add(metric, entry, `A metric of type ${type.text} has ${other} beside ${key}`);
        }
      }
    }
  }
  for (const [kind, key] of Object.entries(blocks)) {
    const block = partIn(item, key);
    if (block !== undefined) checkBlock(cx, block, kind);
  }
}

function checkBlock(cx: Inspection, block: Part, kind: string): void {
  const identifier = partIn(block, 'metric');
  if (identifier !== undefined) {
    const name = textAt(identifier, 'name');
    if (name !== undefined && name.text !== '')
      cx.textForm(name, pathSegment, 'The name of a metric', { rule: metric });
  }
  if (kind === 'Resource' || kind === 'ContainerResource') {
    const name = textAt(block, 'name');
    if (name !== undefined && name.text !== '' && kind === 'ContainerResource') {
      // Of the other kind any name is taken.
      const flaw = resourceNameFlaw(name.text);
      if (flaw !== undefined) {
        cx.add(metric, name.node, `The resource of a metric is ${shown(name.text)}, which is ${flaw}`, {
          fixes: [cx.meant(name.node, ['cpu', 'memory'])],
        });
      }
    }
    const container = textAt(block, 'container');
    if (container !== undefined && container.text !== '')
      cx.textForm(container, dnsLabel, 'The container of a metric', { rule: metric });
  }
  const described = partIn(block, 'describedObject');
  if (described !== undefined) {
    checkReference(cx, described, 'The described object');
    const version = textAt(described, 'apiVersion');
    if (version !== undefined && version.text.split('/').length > 2) {
      cx.add(
        metric,
        version.node,
        `The apiVersion ${shown(version.text)} of the described object is no group with a version`,
      );
    }
  }
  const target = partIn(block, 'target');
  if (target !== undefined) checkTarget(cx, target, kind);
}

function checkTarget(cx: Inspection, target: Part, kind: string): void {
  for (const key of ['value', 'averageValue']) {
    const node = entryOf(target.map, key)?.value;
    const quantity = quantityOf(node);
    if (node !== undefined && quantity !== undefined && quantity.nanos <= 0n) {
      cx.add(
        metric,
        node,
        `The ${key} of a target is ${isScalar(node) ? node.text : ''}, and above 0 is allowed`,
      );
    }
  }
  const utilization = wholeAt(target, 'averageUtilization');
  if (utilization !== undefined) {
    cx.numberRange(utilization, 1, undefined, 'The averageUtilization of a target', metric);
  }
  if (!cx.isCertain || target.map.open) return;
  const value = given(target, 'value');
  const average = given(target, 'averageValue');
  const percent = given(target, 'averageUtilization');
  const none = (keys: readonly string[]): boolean => keys.every((key) => cx.lacks(target, key));
  const missing = (keys: readonly string[]): void => {
    const names = keys.join(' nor ');
    cx.add(
      metric,
      keys.map((key) => entryOf(target.map, key)).find((entry) => entry !== undefined) ?? target.place,
      `The target of a metric of type ${kind} has ${keys.length === 1 ? 'no' : 'neither'} ${names}`,
    );
  };
  switch (kind) {
    case 'Pods':
      if (none(['averageValue'])) missing(['averageValue']);
      break;
    case 'Object':
      if (none(['value', 'averageValue'])) missing(['value', 'averageValue']);
      break;
    case 'External':
      if (none(['value', 'averageValue'])) missing(['value', 'averageValue']);
      else if (value !== undefined && average !== undefined) {
        cx.add(
          metric,
          average,
          'The target of an external metric has both a value and an averageValue, and takes one',
        );
      }
      break;
    case 'Resource':
    case 'ContainerResource':
      if (none(['averageValue', 'averageUtilization'])) missing(['averageUtilization', 'averageValue']);
      else if (percent !== undefined && average !== undefined) {
        cx.add(
          metric,
          average,
          'The target of a resource metric has both an averageValue and an averageUtilization, and takes one',
        );
      }
      break;
  }
}

function checkRules(cx: Inspection, rules: Part | undefined, direction: string): void {
  if (rules === undefined) return;
  const window = wholeAt(rules, 'stabilizationWindowSeconds');
  if (window !== undefined)
    cx.numberRange(window, 0, 3600, `The stabilizationWindowSeconds of ${direction}`, behaviour);
  const tolerance = entryOf(rules.map, 'tolerance')?.value;
  const quantity = quantityOf(tolerance);
  if (tolerance !== undefined && quantity !== undefined && quantity.nanos < 0n) {
    cx.add(behaviour, tolerance, `The tolerance of ${direction} is below 0`);
  }
  const policies = listIn(rules, 'policies');
  if (policies !== undefined && isClosed(policies) && policies.items.length === 0) {
    cx.add(
      behaviour,
      cx.placeOf(rules, 'policies'),
      `The list of policies of ${direction} is empty, and left out it has a default`,
    );
  }
  for (const policy of partsIn(rules, 'policies')) {
    cx.range(policy, 'value', 1, undefined, `The value of a policy of ${direction}`, behaviour);
    cx.range(policy, 'periodSeconds', 1, 1800, `The periodSeconds of a policy of ${direction}`, behaviour);
  }
}
