import { fit, prepareFit } from '../../server/src/sizing/nodes/fit';
import { instanceTypes } from '../../server/src/sizing/nodes/instances';
import type { InstanceType } from '../../server/src/sizing/nodes/instances';
import type { FitOptions } from '../../server/src/sizing/nodes/options';
import type { PodSpec } from '../../server/src/sizing/nodes/pod';
import type { NodePoolSpec } from '../../server/src/sizing/nodes/pool';
import type { RequirementSpec } from '../../server/src/kube/value-set';
import type { ContainerResources } from '../../server/src/sizing/nodes/resources';
import type { Taint, Toleration } from '../../server/src/sizing/nodes/taints';
import type { VectorRunner } from './index';

/** What was asked of Karpenter and what it answered. */
export interface FitCase {
  readonly id: string;
  readonly pool: NodePoolSpec;
  readonly pod: PodSpec;
  readonly answer: FitAnswer;
}

export type FitAnswer =
  | { readonly result: 'unschedulable' }
  | {
      readonly result: 'launched';
      readonly type: string;
      readonly capacity: string;
      readonly candidates: readonly string[];
    };

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown): readonly string[] {
  return list(value).map(String);
}

function labels(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record(value)).map(([key, one]) => [key, String(one)]));
}

function requirement(value: unknown): RequirementSpec {
  const { key, operator, values, minValues } = record(value);
  return {
    key: String(key),
    operator: String(operator),
    ...(values !== undefined && { values: texts(values) }),
    ...(typeof minValues === 'number' && { minValues }),
  };
}

function container(value: unknown): ContainerResources {
  const { resources, restartPolicy } = record(value);
  return {
    requests: record(record(resources)['requests']),
    limits: record(record(resources)['limits']),
    ...(typeof restartPolicy === 'string' && { restartPolicy }),
  };
}

function term(value: unknown): {
  readonly matchExpressions: readonly RequirementSpec[];
  readonly matchFields: boolean;
} {
  const { matchExpressions, matchFields } = record(value);
  return {
    matchExpressions: list(matchExpressions).map(requirement),
    matchFields: list(matchFields).length > 0,
  };
}

function optional<Key extends string>(key: Key, value: unknown): Partial<Record<Key, string>> {
  return value === undefined ? {} : ({ [key]: String(value) } as Record<Key, string>);
}

function taint(value: unknown): Taint {
  const fields = record(value);
  return {
    key: String(fields['key']),
    effect: String(fields['effect']),
    ...optional('value', fields['value']),
  };
}

function toleration(value: unknown): Toleration {
  const fields = record(value);
  return {
    ...optional('key', fields['key']),
    ...optional('operator', fields['operator']),
    ...optional('value', fields['value']),
    ...optional('effect', fields['effect']),
  };
}

function readPod(value: unknown): PodSpec {
  const pod = record(value);
  const nodeAffinity = record(record(pod['affinity'])['nodeAffinity']);
  const required = record(nodeAffinity['requiredDuringSchedulingIgnoredDuringExecution'])[
    'nodeSelectorTerms'
  ];
  const preferred = nodeAffinity['preferredDuringSchedulingIgnoredDuringExecution'];
  const podLevel = record(pod['resources']);
  return {
    resources: {
      containers: list(pod['containers']).map(container),
      initContainers: list(pod['initContainers']).map(container),
      overhead: record(pod['overhead']),
      ...(pod['resources'] !== undefined && {
        podLevel: { requests: record(podLevel['requests']), limits: record(podLevel['limits']) },
      }),
    },
    nodeSelector: labels(pod['nodeSelector']),
    requiredTerms: list(required).map(term),
    preferredTerms: list(preferred).map((one) => ({
      weight: Number(record(one)['weight'] ?? 0),
      term: term(record(one)['preference']),
    })),
    tolerations: list(pod['tolerations']).map(toleration),
  };
}

function readPool(value: unknown): NodePoolSpec {
  const pool = record(value);
  return {
    kind: 'node-pool',
    name: typeof pool['name'] === 'string' ? pool['name'] : 'pool',
    provider: 'karpenter',
    requirements: list(pool['requirements']).map(requirement),
    labels: labels(pool['labels']),
    taints: list(pool['taints']).map(taint),
    startupTaints: list(pool['startupTaints']).map(taint),
    limits: record(pool['limits']),
    ...(typeof pool['weight'] === 'number' && { weight: pool['weight'] }),
    nodeClass: { kind: 'EC2NodeClass', spec: { amiFamily: 'AL2023' }, reservations: false },
  };
}

function readAnswer(value: unknown): FitAnswer {
  const { result, type, capacity, candidates } = record(value);
  if (result !== 'launched') return { result: 'unschedulable' };
  return { result, type: String(type), capacity: String(capacity), candidates: texts(candidates) };
}

/** Reads one case of the recorded form; fields that it does not have count as absent. */
export function readFitCase(value: unknown): FitCase {
  const { id, nodepool, pod, answer } = record(value);
  return { id: String(id), pool: readPool(nodepool), pod: readPod(pod), answer: readAnswer(answer) };
}

/** The recorded clusters labelled no node for a fraction of a GPU, where EC2 says that the count is 0. */
function withoutFractions(type: InstanceType): InstanceType {
  if (type.gpus?.count !== 0) return type;
  const { gpus: _fraction, ...rest } = type;
  return rest;
}

/**
 * The conditions under which the recorded answers were given: every priced type, no other, the zones and the spot price
 * that `meta.assumes` states, and the accelerator resources that it lists.
 */
export function assumed(assumes: string): FitOptions {
  const zones = assumes.match(/\b[a-z]{2}(?:-[a-z]+)+-\d[a-z]\b/g);
  const factor = /spot price = ([\d.]+)\s*x/.exec(assumes)?.[1];
  const overhead = /([\d.]+) % VM overhead/.exec(assumes)?.[1];
  const resources = /extended resources: ([^;]+)/
    .exec(assumes)?.[1]
    ?.split(',')
    .map((name) => name.trim());
  return {
    types: instanceTypes().map(withoutFractions),
    closed: true,
    // The kwok provider of Karpenter, under which the answers were recorded.
    reservedOfEveryType: { cpu: 100, memory: 10 * 1024 * 1024 },
    onlyPriced: true,
    discoveredMemory: false,
    extendedResourceToleration: false,
    zones: zones ?? ['us-west-2a', 'us-west-2b'],
    spotPriceFactor: Number(factor ?? '0.4'),
    settings: { vmMemoryOverheadPercent: Number(overhead ?? '7.5') / 100 },
    ...(resources !== undefined && { extendedResources: resources }),
  };
}

/** What the product answers, in the form of the recorded answer. */
export function answerOf(one: FitCase, options: FitOptions): FitAnswer | { readonly result: 'unknown' } {
  const { verdict, launch } = fit(prepareFit([one.pool], options), one.pod);
  if (verdict === 'none') return { result: 'unschedulable' };
  const [cheapest] = launch?.candidates ?? [];
  if (launch === undefined || cheapest === undefined) return { result: 'unknown' };
  return {
    result: 'launched',
    type: cheapest.type.name,
    capacity: cheapest.capacityType,
    candidates: launch.candidates.map(({ type }) => type.name).sort(),
  };
}

/** What differs between the recorded and the computed answer; `undefined` when nothing does. */
export function difference(one: FitCase, options: FitOptions): string | undefined {
  const got = answerOf(one, options);
  const want = one.answer;
  if (want.result !== 'launched' || got.result !== 'launched') {
    return want.result === got.result
      ? undefined
      : `case ${one.id}: ${want.result} expected, ${got.result} computed`;
  }
  const missing = want.candidates.filter((name) => !got.candidates.includes(name));
  const extra = got.candidates.filter((name) => !want.candidates.includes(name));
  const parts = [
    ...(got.type === want.type ? [] : [`type ${want.type} expected, ${got.type} computed`]),
    ...(got.capacity === want.capacity
      ? []
      : [`capacity ${want.capacity} expected, ${got.capacity} computed`]),
    ...(missing.length === 0 ? [] : [`candidates missing: ${missing.join(', ')}`]),
    ...(extra.length === 0 ? [] : [`candidates too many: ${extra.join(', ')}`]),
  ];
  return parts.length === 0 ? undefined : `case ${one.id}: ${parts.join('; ')}`;
}

/** Runs `{meta: {assumes}, cases: [{id, nodepool, pod, answer}]}` through the fit. */
export const run: VectorRunner = (input) => {
  const { meta, cases } = record(input);
  const options = assumed(String(record(meta)['assumes'] ?? ''));
  const read = list(cases ?? input).map(readFitCase);
  const differences = read.map((one) => difference(one, options)).filter((line) => line !== undefined);
  const agree = read.length - differences.length;
  return {
    differences,
    summary: `${agree} of ${read.length}`,
    ok: read.length > 0 && differences.length === 0,
  };
};
