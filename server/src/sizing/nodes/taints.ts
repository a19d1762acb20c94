import { isExtendedResource } from './resources';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  /** `NoSchedule`, `NoExecute` or `PreferNoSchedule`. */
  readonly effect: string;
}

/** A toleration as a pod writes it; every field absent tolerates everything only with `operator: Exists`. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** A third truth value beside yes and no: the manifest does not say enough. */
export type Truth = 'yes' | 'no' | 'unknown';

/**
 * Whether one toleration matches one taint. Unknown for an operator that this version does not know (the numeric
 * operators of newer Kubernetes).
 */
export function tolerates(toleration: Toleration, taint: Taint): Truth {
  if (toleration.effect !== undefined && toleration.effect !== '' && toleration.effect !== taint.effect)
    return 'no';
  if (toleration.key !== undefined && toleration.key !== '' && toleration.key !== taint.key) return 'no';
  switch (toleration.operator ?? '') {
    case 'Exists':
      return 'yes';
    case '':
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '') ? 'yes' : 'no';
    default:
      return 'unknown';
  }
}

/** Whether any of the tolerations matches the taint. */
export function tolerated(tolerations: readonly Toleration[], taint: Taint): Truth {
  let best: Truth = 'no';
  for (const toleration of tolerations) {
    const truth = tolerates(toleration, taint);
    if (truth === 'yes') return 'yes';
    if (truth === 'unknown') best = 'unknown';
  }
  return best;
}

/**
 * The tolerations that the admission plugin `ExtendedResourceToleration`, which EKS runs, adds to a pod: one for
 * each extended resource that it asks for.
 */
export function extendedResourceTolerations(resources: Iterable<string>): readonly Toleration[] {
  return [...new Set(resources)]
    .filter(isExtendedResource)
    .map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }));
}
