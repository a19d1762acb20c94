import { isPathAbsent } from '../../kube/resource';
import type { Autoscaler } from '../../kube/autoscalers';
import { readsOnlyResources } from '../../kube/autoscalers';
import type { Count } from '../../kube/count';
import { titleOf } from '../../rules/naming';
import { entryOf, getIn, isMap, itemsIn, numberIn, scalarIn, type YamlNode } from '../../yaml/node';
import { formatSpan } from './words';
import { failing, worst, type Answer, type Subject } from './subject';

/** Runs a judgement on each autoscaler; says what there is to say where there is none. */
function byAutoscaler(
  subject: Subject,
  rules: readonly string[],
  without: Answer['state'],
  judge: (autoscaler: Autoscaler) => Answer,
): Answer {
  const { autoscalers, operator, resource } = subject;
  if (autoscalers.length === 0) {
    if (operator !== undefined) {
      return { state: 'not-applicable', fact: `${operator} scales it by rules of its own` };
    }
    return subject.mayBeScaled
      ? { state: 'unknown', fact: 'Which autoscaler targets it is only known later' }
      : {
          state: without,
          fact: `No HorizontalPodAutoscaler or ScaledObject in these files targets it`,
          place: { resource, at: getIn(resource.root, 'metadata', 'name') ?? resource.root },
        };
  }
  const found = failing(
    subject,
    rules,
    autoscalers.map((autoscaler) => autoscaler.resource),
  );
  if (found !== undefined) return found;
  return worst(autoscalers.map(judge)) ?? { state: 'unknown', fact: 'Its autoscaler is only known later' };
}

function counted(count: Count): string {
  return count.known ? String(count.value) : 'what is only known later';
}

export function scalingBounds(subject: Subject): Answer {
  const rules = [
    'hpa-min-above-max',
    'keda-min-above-max',
    'keda-idle-not-below-min',
    'hpa-cannot-scale',
    'hpa-min-replicas-one',
    'hpa-scale-to-zero-gated',
    'hpa-exceeds-node-capacity',
  ];
  return byAutoscaler(subject, rules, 'fail', ({ resource, minReplicas, maxReplicas }) => {
    const place = { resource, at: maxReplicas.node ?? minReplicas.node ?? resource.root };
    const fact = `${titleOf(resource)} scales from ${counted(minReplicas)} to ${counted(maxReplicas)} replicas`;
    if (!minReplicas.known || !maxReplicas.known) return { state: 'unknown', fact, place };
    const written = minReplicas.node !== undefined && maxReplicas.node !== undefined;
    return {
      state: written && minReplicas.value < maxReplicas.value ? 'pass' : 'fail',
      fact: written ? fact : `${fact}, of which one is a default that nobody chose`,
      place,
    };
  });
}

/** Percent; between them there is room for the load that comes while a pod starts. */
const advised = { low: 50, high: 70 };
/** Where no target is written: `autoscaling/v2` defaults.go, `DefaultCPUUtilization`. */
const defaultUtilization = 80;

export function scalingTarget(subject: Subject): Answer {
  return byAutoscaler(subject, [], 'not-applicable', (autoscaler) => {
    const { resource, resourceMetrics, metricCount } = autoscaler;
    const targets = resourceMetrics.filter(({ target }) => target !== 'AverageValue');
    if (targets.length === 0) {
      return metricCount === undefined
        ? { state: 'unknown', fact: `The metrics of ${titleOf(resource)} are only known later` }
        : { state: 'not-applicable', fact: `${titleOf(resource)} aims at no utilisation` };
    }
    const answers = targets.map(({ name, value, at, node, target }): Answer => {
      const place = { resource, at: value ?? at ?? node ?? resource.root };
      const known =
        value === undefined ? (at === undefined ? defaultUtilization : undefined) : percentOf(value);
      if (known === undefined || target === undefined) {
        return {
          state: 'unknown',
          fact: `The ${name} target of ${titleOf(resource)} is only known later`,
          place,
        };
      }
      const inside = known >= advised.low && known <= advised.high;
      return {
        state: inside ? 'pass' : 'fail',
        fact: `${titleOf(resource)} aims at ${known} % ${name}${value === undefined ? ', the default' : ''}${inside ? '' : `; ${advised.low} to ${advised.high} % leaves room while pods start`}`,
        place,
        ...(inside ? {} : { rule: 'hpa-target-utilization-extreme' }),
      };
    });
    return worst(answers) ?? { state: 'unknown', fact: 'Its targets are only known later' };
  });
}

function percentOf(node: YamlNode): number | undefined {
  if (node.kind !== 'scalar' || node.unknown) return undefined;
  const number = typeof node.value === 'number' ? node.value : Number(node.text.trim());
  return Number.isFinite(number) && node.text.trim() !== '' ? number : undefined;
}

/** Of the HPA controller, `--horizontal-pod-autoscaler-downscale-stabilization`, in seconds. */
const defaultWindow = 300;

export function scaleDownWindow(subject: Subject): Answer {
  return byAutoscaler(subject, ['hpa-scale-down-window-too-short'], 'not-applicable', (autoscaler) => {
    const { resource, behaviorPath } = autoscaler;
    const path = [...behaviorPath, 'scaleDown', 'stabilizationWindowSeconds'];
    const written = scalarIn(resource.root, ...path);
    if (written === undefined && isPathAbsent(resource, resource.root, ...path)) {
      return {
        state: 'pass',
        fact: `${titleOf(resource)} waits the default ${formatSpan(defaultWindow)} before it scales down`,
        place: { resource, at: entryOf(resource.root, 'spec') ?? resource.root },
      };
    }
    const seconds = numberIn(resource.root, ...path);
    if (written === undefined || written.unknown || seconds === undefined) {
      return { state: 'unknown', fact: `How long ${titleOf(resource)} waits is only known later` };
    }
    const enough = seconds >= defaultWindow;
    return {
      state: enough ? 'pass' : 'fail',
      fact: `${titleOf(resource)} waits ${formatSpan(seconds)} before it scales down`,
      place: { resource, at: written },
      ...(enough ? {} : { rule: 'hpa-scale-down-window-too-short' }),
    };
  });
}

export function customMetrics(subject: Subject): Answer {
  if (!subject.isAi) {
    return {
      state: 'not-applicable',
      fact: 'It has no accelerator and no model server: CPU and memory tell its load',
    };
  }
  return byAutoscaler(subject, ['hpa-cpu-for-gpu-workload'], 'not-applicable', (autoscaler) => {
    const { resource, metricCount, resourceMetrics } = autoscaler;
    const names = metricNames(autoscaler);
    const place = {
      resource,
      at: entryOf(getIn(resource.root, 'spec'), listKey(autoscaler)) ?? resource.root,
    };
    if (readsOnlyResources(autoscaler)) {
      const what = [...new Set(resourceMetrics.map(({ name }) => name))].join(' and ');
      return {
        state: 'fail',
        fact: `${titleOf(resource)} scales on ${what} alone, which does not tell how busy a model server is`,
        place,
        rule: 'hpa-cpu-for-gpu-workload',
      };
    }
    if (names.length > 0) {
      return { state: 'pass', fact: `${titleOf(resource)} scales on ${names.join(', ')}`, place };
    }
    return metricCount === undefined
      ? { state: 'unknown', fact: `What ${titleOf(resource)} scales on is only known later`, place }
      : { state: 'unknown', fact: `The names of the metrics of ${titleOf(resource)} are not known`, place };
  });
}

function listKey({ kind }: Autoscaler): string {
  return kind === 'ScaledObject' ? 'triggers' : 'metrics';
}

/** What it reads beside CPU and memory: names of metrics, or types of triggers. */
function metricNames(autoscaler: Autoscaler): readonly string[] {
  const items = itemsIn(getIn(autoscaler.resource.root, 'spec'), listKey(autoscaler)).filter(isMap);
  const own = new Set(autoscaler.resourceMetrics.map(({ node }) => node));
  const names = items.flatMap((item) => {
    if (own.has(item)) return [];
    const name =
      ['pods', 'object', 'external']
        .map((block) => scalarIn(item, block, 'metric', 'name'))
        .find((node) => node !== undefined) ?? scalarIn(item, 'type');
    return name === undefined || name.unknown || name.value === null ? [] : [name.text];
  });
  return [...new Set(names)];
}
