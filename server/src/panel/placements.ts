import { isUnscheduled } from '../live/pods';
import { listed, quantityText } from '../live/format';
import { partValue } from '../live/readings';
import type { Readings } from '../live/readings';
import { isPodCarrier, podTemplates } from '../kube/pod-carriers';
import { placementOf } from '../rules/placement/answers';
import type { PlacementAnswer } from '../rules/placement/answers';
import { Workspace } from '../workspace/workspace';
import { parseFile } from '../yaml/parse';

/** Which NodePools of the cluster should serve the pods that wait. */
export interface Placements {
  /** `gpu: g6.xlarge ($0.805/h)`; why there is none. */
  readonly summary: string;
  readonly detail: string;
  /** One for each pool that cannot. */
  readonly notes: readonly string[];
}

const answered = new WeakMap<object, Placements>();

/**
 * Runs the model of Karpenter's choice over the live NodePools and the live pod template. Only when a pod waits: it
 * costs some milliseconds, and its answer is kept for as long as the list of pools is the same object.
 */
export function placementsOf(readings: Readings): Placements {
  const { cluster } = readings.snapshot;
  const none = (summary: string): Placements => ({ summary, detail: '', notes: [] });
  if (!(readings.pods ?? []).some(isUnscheduled)) return none('');
  const workload = partValue(cluster.workload);
  if (cluster.nodePools.kind === 'absent') return none(`not known: ${cluster.nodePools.message}`);
  if (workload === undefined) return none('not known: the workload cannot be read');
  const pools = cluster.nodePools.value;
  if (pools.length === 0) return none('the cluster has no NodePool');
  const known = answered.get(pools);
  if (known !== undefined) return known;
  const answer = ask(
    workload.object,
    pools.map(({ object }) => object),
  );
  const result = answer === undefined ? none('not known: the workload has no pod template') : words(answer);
  answered.set(pools, result);
  return result;
}

/** Live objects are JSON, and JSON is YAML: they are read as files would be. */
function ask(workload: unknown, pools: readonly unknown[]): PlacementAnswer | undefined {
  const workspace = Workspace.empty.withAll([
    parseFile('live:///workload.yaml', JSON.stringify(workload)),
    ...pools.map((pool, index) => parseFile(`live:///pool-${index}.yaml`, JSON.stringify(pool))),
  ]);
  const resource = workspace.resourcesOf('live:///workload.yaml').find(isPodCarrier);
  const template = resource === undefined ? undefined : podTemplates(resource)[0];
  return template === undefined ? undefined : placementOf(workspace, template);
}

function words(answer: PlacementAnswer): Placements {
  const notes = answer.pools
    .filter(({ verdict }) => verdict === 'none')
    .map(({ pool, reasons, nearest }) => {
      const lacks =
        nearest === undefined ? [] : [`${nearest.candidate.name} comes nearest and ${listed(nearest.lacks)}`];
      const why = reasons.length > 0 ? reasons : lacks;
      return `NodePool ${pool.spec.name} cannot serve it: ${why.length === 0 ? 'no instance type fits all it asks for' : listed(why)}`;
    });
  const fitting = answer.pools.filter(({ verdict }) => verdict === 'fits');
  const chosen = fitting.find(({ pool }) => pool === answer.launch) ?? fitting[0];
  if (chosen !== undefined) {
    const [first] = chosen.candidates;
    const price =
      first?.onDemandPrice === undefined
        ? ''
        : ` (${quantityText(first.onDemandPrice, 'dollars-per-hour')} on demand)`;
    return {
      summary: `${chosen.pool.spec.name}${first === undefined ? '' : `: ${first.type.name}${price}`}`,
      detail: `${chosen.candidates.length} instance types do`,
      notes,
    };
  }
  if (answer.verdict === 'none')
    return { summary: 'none of the NodePools can', detail: notes.join('. '), notes };
  const possible = answer.pools.find(({ verdict }) => verdict === 'unknown');
  return {
    summary: possible === undefined ? 'not known' : `perhaps ${possible.pool.spec.name}`,
    detail: 'the node class or a figure of an instance type is not known',
    notes,
  };
}
