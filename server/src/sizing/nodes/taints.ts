import { isExtendedResource } from '../../kube/accelerators';
import { tolerates as tolerateFields } from '../../kube/tolerations';
import type { TaintFields, TolerationFields } from '../../kube/tolerations';
import { any } from '../../kube/truth';
import type { Truth } from '../../kube/truth';

/** A taint as the API has it: a field that is absent is empty. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  /** `NoSchedule`, `NoExecute` or `PreferNoSchedule`. */
  readonly effect: string;
}

/** A toleration as the API has it; every field absent tolerates everything only with `operator: Exists`. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** A toleration of which nothing is known, since something else may write it: whatever it is asked, it may be. */
export const anyToleration: TolerationFields = { key: undefined, operator: 'Exists', value: '', effect: '' };

export function tolerationFields(toleration: Toleration): TolerationFields {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  return { key, operator, value, effect };
}

export function taintFields({ key, value = '', effect }: Taint): TaintFields {
  return { key, value, effect };
}

/** Whether one toleration matches one taint; unknown for an operator that only newer clusters have. */
export function tolerates(toleration: Toleration, taint: Taint): Truth {
  return tolerateFields(tolerationFields(toleration), taintFields(taint));
}

/** Whether any of the tolerations matches the taint. */
export function tolerated(tolerations: readonly TolerationFields[], taint: Taint): Truth {
  const fields = taintFields(taint);
  return any(tolerations.map((toleration) => tolerateFields(toleration, fields)));
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
