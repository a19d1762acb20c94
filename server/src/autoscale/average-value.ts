import type { Calculation } from './metric-outcome';
import type { Milli } from './milli';
import { perPodReplicas } from './per-pod';
import type { PerPodInput } from './per-pod';

/**
 * The mean over the pods against an amount: `calcPlainMetricReplicas` of replica_calculator.go, for Pods metrics
 * (`resource` empty) and for resources with an AverageValue. The mean is cut to whole thousandths.
 */
export function averageValueReplicas(input: PerPodInput, resource: string, target: Milli): Calculation {
  return perPodReplicas(input, resource, () => ({
    ok: true,
    measure: {
      resource,
      unit: resource === 'memory' ? 'milli-bytes' : 'milli',
      target,
      level: (values) => {
        let sum = 0n;
        for (const value of values.values()) sum += value;
        const mean = sum / BigInt(values.size);
        return { ok: true, level: mean, value: { kind: 'averageValue', averageValue: mean } };
      },
      assumeMissing: () => target,
      missingAs: 'the target',
    },
  }));
}
