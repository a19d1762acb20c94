import { modelServers } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { coldStart } from '../cold-start/weights';

/** The slowest start of a workload's model servers. */
export interface SlowStart {
  /** Seconds from the start of the container to the first answer, as expected. */
  readonly seconds: number;
  /** Where the weights come from: `the Hugging Face hub`. */
  readonly from: string;
  readonly reasons: readonly string[];
}

/** How long a new replica of a workload takes to serve; `undefined` where the model is not known. */
export function slowestStart(workspace: Workspace, target: Resource): SlowStart | undefined {
  let slowest: SlowStart | undefined;
  for (const server of podTemplates(target).flatMap(modelServers)) {
    const start = coldStart(server, workspace);
    if (start === undefined) continue;
    const { total, read, start: engine } = start.time;
    if (slowest === undefined || total.expected > slowest.seconds) {
      slowest = {
        seconds: total.expected,
        from: start.from,
        reasons: [...read.reasons, ...engine.reasons],
      };
    }
  }
  return slowest;
}
