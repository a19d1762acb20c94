import type { FitCase } from '../fit';
import type { RequirementSpec } from '../../../server/src/kube/value-set';
import type { ContainerResources } from '../../../server/src/sizing/nodes/resources';
import type { Taint, Toleration } from '../../../server/src/sizing/nodes/taints';
import { recordedFits } from './fit';
import type { RecordedFit } from './fit';

const operators: Readonly<Record<string, string>> = {
  '>': 'Gt',
  '<': 'Lt',
  in: 'In',
  'not in': 'NotIn',
  exists: 'Exists',
  absent: 'DoesNotExist',
};

function requirement(text: string): RequirementSpec {
  const match = /^(\S+) (not in|\S+)(?: (.*))?$/.exec(text);
  const [, key = '', operator = '', values] = match ?? [];
  return {
    key: key.replace('~', 'karpenter.k8s.aws/instance-'),
    operator: operators[operator] ?? operator,
    ...(values !== undefined && { values: values.split(',') }),
  };
}

function taint(text: string): Taint {
  const [head = '', effect = ''] = text.split(':');
  const [key = '', value] = head.split('=');
  return { key, effect, ...(value !== undefined && { value }) };
}

function toleration(text: string): Toleration {
  const [head = '', effect] = text.split(':');
  const [key = '', value] = head.split('=');
  return {
    ...(key !== '*' && { key }),
    operator: value === undefined ? 'Exists' : 'Equal',
    ...(value !== undefined && { value }),
    ...(effect !== undefined && { effect }),
  };
}

function initContainers(recorded: RecordedFit): readonly ContainerResources[] {
  return [
    ...(recorded.init === undefined ? [] : [{ requests: recorded.init }]),
    ...(recorded.sidecar === undefined ? [] : [{ requests: recorded.sidecar, restartPolicy: 'Always' }]),
  ];
}

function fitCase(recorded: RecordedFit): FitCase {
  const [type = '', capacity = ''] = recorded.launches?.split(' ') ?? [];
  return {
    id: String(recorded.id),
    pool: {
      kind: 'node-pool',
      name: 'pool',
      provider: 'karpenter',
      requirements: recorded.needs.map(requirement),
      taints: (recorded.taints ?? []).map(taint),
      limits: recorded.limits ?? {},
      nodeClass: { kind: 'EC2NodeClass', spec: { amiFamily: 'AL2023' }, reservations: false },
    },
    pod: {
      resources: { containers: [{ requests: recorded.asks }], initContainers: initContainers(recorded) },
      nodeSelector: recorded.selects ?? {},
      requiredTerms: (recorded.terms ?? []).map((term) => ({ matchExpressions: term.map(requirement) })),
      tolerations: (recorded.tolerates ?? []).map(toleration),
    },
    answer:
      recorded.launches === undefined
        ? { result: 'unschedulable' }
        : { result: 'launched', type, capacity, candidates: recorded.candidates?.split(' ') ?? [] },
  };
}

/** The recorded answers in the form of the vector runner. */
export const recordedCases: readonly FitCase[] = recordedFits.map(fitCase);
