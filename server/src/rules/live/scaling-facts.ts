import { defaultController } from '../../autoscale/controller';
import type { Decision } from '../../autoscale/decide';
import { assessLiveStatus, readHpaStatus } from '../../autoscale/live-status';
import type { LiveStatus } from '../../autoscale/live-status';
import { readHpaSpec } from '../../autoscale/read-spec';
import { nameOf } from '../../autoscale/spec';
import type { HpaSpec } from '../../autoscale/spec';
import type { HpaView } from '../../live/cluster';
import { isActive, isReady } from '../../live/pods';
import type { Absent, Instant } from '../../live/reading';
import { partValue } from '../../live/readings';
import type { LiveSnapshot } from '../../live/snapshot';
import type { ScalingFacts } from '../../live/verdict/context';

/** The autoscaler of a workload, read and worked out. */
export type Scaling =
  | {
      readonly kind: 'known';
      readonly hpa: HpaView;
      readonly spec: HpaSpec;
      readonly status: LiveStatus;
      readonly decision: Decision;
      /** `HPA vllm`, `ScaledObject vllm (HPA keda-hpa-vllm)`. */
      readonly title: string;
      readonly minimum: number;
      readonly maximum: number;
      /** What the metrics ask for before any limit. */
      readonly wanted: number | undefined;
      readonly facts: ScalingFacts;
    }
  /** There is an HPA, and it cannot be read. */
  | { readonly kind: 'unreadable'; readonly title: string; readonly problems: readonly string[] }
  /** A ScaledObject without its HPA: KEDA holds it at zero, is paused, or has not made it yet. */
  | { readonly kind: 'no-hpa'; readonly title: string }
  | { readonly kind: 'none' }
  | Absent;

/** Reads the live HPA and applies the algorithm of the controller to its status. */
export function scalingOf(snapshot: LiveSnapshot, now: Instant): Scaling {
  const { hpa, scaledObject } = snapshot.cluster;
  const owner = partValue(scaledObject);
  if (hpa.kind === 'absent') {
    if (owner !== undefined) return { kind: 'no-hpa', title: `ScaledObject ${owner.ref.name}` };
    return hpa.why === 'no-data' ? { kind: 'none' } : hpa;
  }
  const view = hpa.value;
  const title =
    owner === undefined ? `HPA ${view.ref.name}` : `ScaledObject ${owner.ref.name} (HPA ${view.ref.name})`;
  const spec = readHpaSpec(view.spec);
  if (!spec.ok) return { kind: 'unreadable', title, problems: spec.problems };
  const status = readHpaStatus(view.status, spec.spec);
  if (!status.ok) return { kind: 'unreadable', title, problems: status.problems };
  const pods = partValue(snapshot.cluster.pods);
  const readyPods = pods?.filter((pod) => isActive(pod) && isReady(pod)).length;
  const decision = assessLiveStatus(spec.spec, status.status, {
    now,
    controller: defaultController,
    // Without any ready pod the formula would say nothing; the controller then counts those that are there.
    ...(readyPods === undefined || readyPods === 0 ? {} : { readyPods }),
  });
  const wanted = wantedBy(decision);
  const failures =
    decision.kind === 'failed' || decision.kind === 'computed'
      ? decision.outcomes.flatMap((outcome) =>
          outcome.kind === 'failed' ? [`${nameOf(outcome.metric)}: ${outcome.message}`] : [],
        )
      : [];
  return {
    kind: 'known',
    hpa: view,
    spec: spec.spec,
    status: status.status,
    decision,
    title,
    minimum: spec.spec.minReplicas,
    maximum: spec.spec.maxReplicas,
    wanted,
    facts: {
      kind: 'known',
      scaler: title,
      current: status.status.currentReplicas,
      maximum: spec.spec.maxReplicas,
      ...(wanted === undefined ? {} : { wanted }),
      failures,
    },
  };
}

function wantedBy(decision: Decision): number | undefined {
  switch (decision.kind) {
    case 'computed':
      return decision.proposal.replicas;
    case 'failed':
      return decision.proposal.withheld;
    case 'clamped':
      return decision.from;
    case 'disabled':
      return undefined;
  }
}

export function factsOfScaling(scaling: Scaling): ScalingFacts {
  switch (scaling.kind) {
    case 'known':
      return scaling.facts;
    case 'none':
    case 'no-hpa':
      return { kind: 'none' };
    case 'unreadable':
      return { kind: 'unknown', why: `${scaling.title}: ${scaling.problems[0] ?? 'it cannot be read'}` };
    case 'absent':
      return { kind: 'unknown', why: scaling.message };
  }
}
