import type { Calculation } from './metric-outcome';
import type { Milli } from './milli';
import { perPodReplicas } from './per-pod';
import type { Level, PerPodInput } from './per-pod';
import { requestsOf } from './pods';

/**
 * A resource against a percentage of what the pods request: `GetResourceReplicas` of replica_calculator.go.
 *
 * The percentage is that of the sums, cut to a whole number before it is divided by the target.
 */
export function utilizationReplicas(
  input: PerPodInput,
  resource: string,
  container: string | undefined,
  targetPercent: number,
): Calculation {
  return perPodReplicas(input, resource, () => {
    const requests = requestsOf(input.pods, resource, container);
    if (!requests.ok) return requests;
    const { byPod } = requests;
    // Kubernetes 1.3x and later; older releases took exactly 100 % also where the target is above it.
    const assumedPercent = BigInt(Math.max(100, targetPercent));
    return {
      ok: true,
      measure: {
        resource,
        unit: 'percent',
        target: BigInt(targetPercent),
        level: (values) => utilizationOf(values, byPod),
        assumeMissing: (pod) => ((byPod.get(pod) ?? 0n) * assumedPercent) / 100n,
        missingAs: targetPercent > 100 ? 'the target' : 'the whole request',
      },
    };
  });
}

function utilizationOf(values: ReadonlyMap<string, Milli>, requests: ReadonlyMap<string, Milli>): Level {
  let used = 0n;
  let requested = 0n;
  let entries = 0n;
  for (const [pod, value] of values) {
    const request = requests.get(pod);
    if (request === undefined) continue;
    used += value;
    requested += request;
    entries += 1n;
  }
  if (requested === 0n) return { ok: false, message: 'no metrics returned matched known pods' };
  const level = (used * 100n) / requested;
  return {
    ok: true,
    level,
    value: { kind: 'utilization', percent: Number(level), averageValue: used / entries },
  };
}
