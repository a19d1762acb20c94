import type { Resource } from '../../kube/resource';
import { numberIn, scalarIn, type ScalarNode } from '../../yaml/node';
import type { Workspace } from '../../workspace/workspace';
import { titleOf } from '../naming';
import type { Related } from '../rule';

/** What changes the number of pods of a workload while it runs. */
export interface Scaler {
  /** `HorizontalPodAutoscaler "chat"`, `KServe`. */
  readonly title: string;
  readonly related: Related;
}

/** Pairs of fields between which an operator scales by itself. */
const bounds: readonly {
  readonly group: string;
  readonly title: string;
  readonly minimum: readonly string[];
  readonly absent: number;
  readonly maximum: readonly string[];
}[] = [
  {
    group: 'serving.kserve.io',
    title: 'KServe',
    minimum: ['spec', 'predictor', 'minReplicas'],
    absent: 1,
    maximum: ['spec', 'predictor', 'maxReplicas'],
  },
  {
    group: 'kubeai.org',
    title: 'KubeAI',
    minimum: ['spec', 'minReplicas'],
    absent: 0,
    maximum: ['spec', 'maxReplicas'],
  },
  {
    group: 'apps.nvidia.com',
    title: 'The NIM Operator',
    minimum: ['spec', 'scale', 'hpa', 'minReplicas'],
    absent: 1,
    maximum: ['spec', 'scale', 'hpa', 'maxReplicas'],
  },
];

/** The autoscaler that targets a workload, or the operator that scales it between two bounds. */
export function scalerOf(workspace: Workspace, resource: Resource): Scaler | undefined {
  const [autoscaler] = workspace.references(resource).autoscalers.filter(({ match }) => match === 'yes');
  if (autoscaler !== undefined) {
    const { resource: scaler } = autoscaler;
    const at: ScalarNode | undefined = scalarIn(scaler.root, 'metadata', 'name');
    return {
      title: titleOf(scaler),
      related: { resource: scaler, at: at ?? scaler.root, message: `${titleOf(scaler)} scales it` },
    };
  }
  for (const { group, title, minimum, absent, maximum } of bounds) {
    const most = resource.group === group ? numberIn(resource.root, ...maximum) : undefined;
    const at = scalarIn(resource.root, ...maximum);
    if (most === undefined || at === undefined || most <= (numberIn(resource.root, ...minimum) ?? absent))
      continue;
    return { title, related: { resource, at, message: `${title} scales it up to ${most} replicas` } };
  }
  return undefined;
}
