import { modelServers } from '../kube/model-server';
import { podTemplates } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import { valueOf } from '../kube/settings';
import type { Baseline } from '../live/baseline';
import type { Instant } from '../live/reading';
import { readingsOf } from '../live/readings';
import type { LiveSnapshot } from '../live/snapshot';
import { defaultThresholds } from '../live/thresholds';
import type { Thresholds } from '../live/thresholds';
import type { JudgeContext } from '../live/verdict/context';
import { factsOfScaling, scalingOf } from '../rules/live/scaling-facts';
import type { Scaling } from '../rules/live/scaling-facts';

export interface JudgeOptions {
  readonly thresholds?: Thresholds;
  readonly baseline?: Baseline;
  /** The workload in the files, for what its engine reserves by its arguments. */
  readonly workload?: Resource | undefined;
}

/** A snapshot with everything that verdicts and alarms need beside it; also for the command line and code lenses. */
export function judgeContext(
  snapshot: LiveSnapshot,
  now: Instant,
  { thresholds = defaultThresholds, baseline, workload }: JudgeOptions = {},
): { readonly context: JudgeContext; readonly scaling: Scaling } {
  const scaling = scalingOf(snapshot, now);
  return {
    scaling,
    context: {
      readings: readingsOf(snapshot),
      now,
      thresholds,
      baseline,
      scaling: factsOfScaling(scaling),
      reservedVram: reservedVram(workload),
    },
  };
}

/** vLLM's default of `--gpu-memory-utilization` since 0.21; 0.9 before. */
const vllmDefault = 0.92;

/** The share of GPU memory that the engine takes at its start, whatever it is used for. */
function reservedVram(workload: Resource | undefined): number | undefined {
  if (workload === undefined) return undefined;
  const servers = podTemplates(workload).flatMap((template) => modelServers(template));
  const shares = servers.flatMap(({ engine, gpuMemoryUtilization }) => {
    const written = valueOf(gpuMemoryUtilization);
    if (written !== undefined) return [written];
    return engine === 'vllm' && gpuMemoryUtilization.state === 'absent' ? [vllmDefault] : [];
  });
  return shares.length === 0 ? undefined : Math.max(...shares);
}
