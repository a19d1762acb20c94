import type { UserModel } from '../../sizing/models/types';
import type { ModelServer } from '../../kube/model-server';
import type { Probe } from '../../kube/probes';
import { formatBytes } from '../../kube/quantity';
import type { Workspace } from '../../workspace/workspace';
import { coldStart, durationText, type ColdStart } from '../cold-start/weights';

/**
 * The part of the expected time that a probe must at least allow. Rates and starts vary by a factor of two either way,
 * so that a budget a little below what is expected is no mistake.
 */
const allowance = 0.8;

/** A probe that gives up before a server has loaded its model. */
export interface ShortBudget {
  /** Seconds from the start of the container until the kubelet gives up. */
  readonly budget: number;
  readonly start: ColdStart;
  /** The sum, for messages: `15 GiB from the Hugging Face hub 102 s + start of vLLM 75 s`. */
  readonly sum: string;
}

/** Whether a budget is too short for the model that a server loads; `undefined` where it is not, or is not known. */
export function shortBudget(
  server: ModelServer,
  workspace: Workspace,
  models: readonly UserModel[],
  budget: number | undefined,
): ShortBudget | undefined {
  if (budget === undefined) return undefined;
  const start = coldStart(server, workspace, models);
  if (start === undefined || budget >= start.time.total.expected * allowance) return undefined;
  const { read, start: engine } = start.time;
  const sum = `${formatBytes(start.bytes.expected)} from ${start.from} ${durationText(read.expected)} + start of ${server.title} ${durationText(engine.expected)}`;
  return { budget, start, sum };
}

/** Seconds to allow: twice what is expected, in whole minutes and at least five. */
export function wantedSeconds({ time }: ColdStart): number {
  return Math.max(300, Math.ceil((2 * time.total.expected) / 60) * 60);
}

/** Initial delay, then a number of periods. `undefined` when any of it is only known later. */
export function budgetOf(probe: Probe, kind: 'startup' | 'liveness'): number | undefined {
  const { initialDelaySeconds, periodSeconds, failureThreshold, timeoutSeconds } = probe;
  if (
    !initialDelaySeconds.known ||
    !periodSeconds.known ||
    !failureThreshold.known ||
    !timeoutSeconds.known
  ) {
    return undefined;
  }
  const { value: delay } = initialDelaySeconds;
  const { value: period } = periodSeconds;
  const { value: failures } = failureThreshold;
  return kind === 'startup'
    ? delay + period * failures
    : delay + period * (failures - 1) + timeoutSeconds.value;
}
