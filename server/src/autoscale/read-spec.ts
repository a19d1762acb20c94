import { parseQuantity, toNumber } from '../kube/quantity';
import { defaultMetrics, defaultMinReplicas, fillBehavior } from './defaults';
import type { PartialRules } from './defaults';
import { maxInt32, readMilli } from './milli';
import type { Milli } from './milli';
import { plainReader } from './plain-data';
import type { PlainReader } from './plain-data';
import type {
  AmountTarget,
  AverageValueTarget,
  Behavior,
  HpaSpec,
  MetricSpec,
  MetricTarget,
  ResourceTarget,
  ScalingPolicy,
  SelectPolicy,
} from './spec';

/** A spec, or what keeps it from being one: each problem names the field. */
export type SpecReading =
  | { readonly ok: true; readonly spec: HpaSpec }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The spec of an HPA (autoscaling/v2) from plain data, defaults filled in.
 *
 * It refuses what the API server refuses, as far as the algorithm depends on it (autoscaling/validation.go). Fields
 * of the object that say nothing about replicas, such as `scaleTargetRef`, are not looked at.
 */
export function readHpaSpec(value: unknown): SpecReading {
  const reader = plainReader();
  const spec = reader.map(value, 'spec');
  if (spec === undefined) {
    return { ok: false, problems: reader.problems.length > 0 ? reader.problems : ['spec: missing'] };
  }
  const minReplicas =
    reader.integer(spec['minReplicas'], 'spec.minReplicas', { min: 0, max: maxInt32 }) ?? defaultMinReplicas;
  const maxReplicas = reader.integer(spec['maxReplicas'], 'spec.maxReplicas', { min: 1, max: maxInt32 });
  if (spec['maxReplicas'] === undefined || spec['maxReplicas'] === null) {
    reader.problem('spec.maxReplicas', 'missing');
  }
  if (maxReplicas !== undefined && maxReplicas < minReplicas) {
    reader.problem(
      'spec.maxReplicas',
      `must not be below minReplicas (${minReplicas}), found ${maxReplicas}`,
    );
  }
  const written = reader.list(spec['metrics'], 'spec.metrics') ?? [];
  const metrics = written.map((metric, index) => readMetric(reader, metric, `spec.metrics[${index}]`));
  const behavior = readBehavior(reader, spec['behavior']);
  const known = metrics.filter((metric) => metric !== undefined);
  if (reader.problems.length > 0 || maxReplicas === undefined || known.length < metrics.length) {
    return { ok: false, problems: reader.problems };
  }
  return {
    ok: true,
    spec: { minReplicas, maxReplicas, metrics: known.length > 0 ? known : defaultMetrics, behavior },
  };
}

const sources = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
} as const;

const types = Object.keys(sources) as readonly MetricSpec['type'][];

function readMetric(reader: PlainReader, value: unknown, path: string): MetricSpec | undefined {
  const metric = reader.map(value, path);
  if (metric === undefined) return reader.problem(path, 'missing');
  const type = reader.oneOf(metric['type'], `${path}.type`, types);
  if (type === undefined) {
    return metric['type'] === undefined ? reader.problem(`${path}.type`, 'missing') : undefined;
  }
  const at = `${path}.${sources[type]}`;
  const source = reader.map(metric[sources[type]], at);
  if (source === undefined) return reader.problem(at, `missing, although the type is ${type}`);
  const target = readTarget(reader, source['target'], `${at}.target`);
  switch (type) {
    case 'Resource':
    case 'ContainerResource': {
      const resource = required(reader, source['name'], `${at}.name`);
      const container = type === 'Resource' ? '' : required(reader, source['container'], `${at}.container`);
      const accepted = accept(
        reader,
        target,
        `${at}.target`,
        isResourceTarget,
        'averageUtilization or averageValue',
      );
      if (resource === undefined || container === undefined || accepted === undefined) return undefined;
      return type === 'Resource'
        ? { type, resource, target: accepted }
        : { type, resource, container, target: accepted };
    }
    case 'Pods': {
      const name = readMetricName(reader, source, at);
      const accepted = accept(reader, target, `${at}.target`, isAverageValue, 'averageValue');
      return name === undefined || accepted === undefined
        ? undefined
        : { type, metric: name, target: accepted };
    }
    case 'Object':
    case 'External': {
      const name = readMetricName(reader, source, at);
      const accepted = accept(reader, target, `${at}.target`, isAmount, 'value or averageValue');
      if (name === undefined || accepted === undefined) return undefined;
      if (type === 'External') return { type, metric: name, target: accepted };
      const described = reader.map(source['describedObject'], `${at}.describedObject`);
      const object = `${String(described?.['kind'] ?? 'object')}/${String(described?.['name'] ?? '')}`;
      return { type, metric: name, object, target: accepted };
    }
  }
}

function readMetricName(
  reader: PlainReader,
  source: Readonly<Record<string, unknown>>,
  path: string,
): string | undefined {
  return required(reader, reader.map(source['metric'], `${path}.metric`)?.['name'], `${path}.metric.name`);
}

function required(reader: PlainReader, value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || value === '') return reader.problem(path, 'missing');
  return reader.text(value, path);
}

const isResourceTarget = (target: MetricTarget): target is ResourceTarget => target.type !== 'Value';
const isAverageValue = (target: MetricTarget): target is AverageValueTarget => target.type === 'AverageValue';
const isAmount = (target: MetricTarget): target is AmountTarget => target.type !== 'Utilization';

function accept<T extends MetricTarget>(
  reader: PlainReader,
  target: MetricTarget | undefined,
  path: string,
  is: (target: MetricTarget) => target is T,
  expected: string,
): T | undefined {
  if (target === undefined) return undefined;
  return is(target) ? target : reader.problem(path, `expected ${expected}`);
}

/** The controller goes by the value that is set; `type` merely has to agree with it. */
function readTarget(reader: PlainReader, value: unknown, path: string): MetricTarget | undefined {
  const target = reader.map(value, path);
  if (target === undefined) return reader.problem(path, 'missing');
  const type = reader.oneOf(target['type'], `${path}.type`, [
    'Utilization',
    'AverageValue',
    'Value',
  ] as const);
  const set = (['averageUtilization', 'averageValue', 'value'] as const).filter(
    (key) => target[key] !== undefined && target[key] !== null,
  );
  const only = set[0];
  if (only === undefined || set.length > 1) {
    return reader.problem(
      path,
      `needs exactly one of averageUtilization, averageValue and value, found ${set.length}`,
    );
  }
  const named =
    only === 'averageUtilization' ? 'Utilization' : only === 'averageValue' ? 'AverageValue' : 'Value';
  if (type !== undefined && type !== named) {
    return reader.problem(`${path}.type`, `${type} does not go with ${only}`);
  }
  if (only === 'averageUtilization') {
    const percent = reader.integer(target[only], `${path}.${only}`, { min: 1, max: maxInt32 });
    return percent === undefined ? undefined : { type: 'Utilization', averageUtilization: percent };
  }
  const amount = readAmount(reader, target[only], `${path}.${only}`);
  if (amount === undefined) return undefined;
  return only === 'averageValue'
    ? { type: 'AverageValue', averageValue: amount }
    : { type: 'Value', value: amount };
}

function readAmount(reader: PlainReader, value: unknown, path: string): Milli | undefined {
  const amount = typeof value === 'string' || typeof value === 'number' ? readMilli(value) : undefined;
  if (amount === undefined) return reader.problem(path, `${JSON.stringify(value)} is no quantity`);
  return amount > 0n ? amount : reader.problem(path, 'must be greater than 0');
}

function readBehavior(reader: PlainReader, value: unknown): Behavior | undefined {
  const behavior = reader.map(value, 'spec.behavior');
  if (behavior === undefined) return undefined;
  return fillBehavior(
    readRules(reader, behavior['scaleUp'], 'spec.behavior.scaleUp'),
    readRules(reader, behavior['scaleDown'], 'spec.behavior.scaleDown'),
  );
}

const selectPolicies: readonly SelectPolicy[] = ['Max', 'Min', 'Disabled'];

function readRules(reader: PlainReader, value: unknown, path: string): PartialRules | undefined {
  const rules = reader.map(value, path);
  if (rules === undefined) return undefined;
  const policies = reader.list(rules['policies'], `${path}.policies`);
  if (policies !== undefined && policies.length === 0)
    reader.problem(`${path}.policies`, 'needs at least one policy');
  return {
    // The bounds are those of the API documentation: a window of at most an hour.
    stabilizationWindowSeconds: reader.integer(
      rules['stabilizationWindowSeconds'],
      `${path}.stabilizationWindowSeconds`,
      { min: 0, max: 3600 },
    ),
    selectPolicy: reader.oneOf(rules['selectPolicy'], `${path}.selectPolicy`, selectPolicies),
    policies: policies
      ?.map((policy, index) => readPolicy(reader, policy, `${path}.policies[${index}]`))
      .filter((policy) => policy !== undefined),
    tolerance: readTolerance(reader, rules['tolerance'], `${path}.tolerance`),
  };
}

function readPolicy(reader: PlainReader, value: unknown, path: string): ScalingPolicy | undefined {
  const policy = reader.map(value, path);
  if (policy === undefined) return reader.problem(path, 'missing');
  const type = reader.oneOf(policy['type'], `${path}.type`, ['Pods', 'Percent'] as const);
  const amount = reader.integer(policy['value'], `${path}.value`, { min: 1, max: maxInt32 });
  const periodSeconds = reader.integer(policy['periodSeconds'], `${path}.periodSeconds`, {
    min: 1,
    max: 1800,
  });
  if (type === undefined || amount === undefined || periodSeconds === undefined) {
    for (const key of ['type', 'value', 'periodSeconds']) {
      if (policy[key] === undefined || policy[key] === null) reader.problem(`${path}.${key}`, 'missing');
    }
    return undefined;
  }
  return { type, value: amount, periodSeconds };
}

function readTolerance(reader: PlainReader, value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const quantity =
    typeof value === 'string' || typeof value === 'number' ? parseQuantity(String(value)) : undefined;
  if (quantity === undefined) return reader.problem(path, `${JSON.stringify(value)} is no quantity`);
  return quantity.nanos >= 0n ? toNumber(quantity) : reader.problem(path, 'must not be negative');
}
