import { acceleratorsOfPod } from '../../kube/accelerators';
import { autoscalerOf } from '../../kube/autoscalers';
import { countAt } from '../../kube/count';
import { hasAllTriggers, triggersOf, type WrittenTrigger } from '../../kube/keda/read-triggers';
import { readBoolean, readNumber } from '../../kube/keda/values';
import { isResourceType } from '../../kube/keda/trigger-types';
import { modelServers } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { isPathAbsent, type Resource } from '../../kube/resource';
import { selectorsOf } from '../../promql/expression';
import { targetRefOf } from '../../workspace/references';
import type { Workspace } from '../../workspace/workspace';
import { removeEntry } from '../../yaml/edit';
import { entryOf, mapIn, textIn, type ScalarNode } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix, type Place } from '../rule';
import { valuePlace } from './place';
import { engineOfMetric, selectsPodsOf } from './pod-metrics';
import { coversEmpty, prometheusQuery } from './prometheus-query';
import { keepOneReplica, shownCount } from './scaled-object';

export default defineRule({
  id: 'keda-never-wakes-up',
  summary: 'A ScaledObject that goes to zero reads a metric that is there without a pod',
  severity: 'error',
  needs: 'workspace',
  kinds: ['ScaledObject'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const rest = restOf(resource);
    const name = textIn(targetRefOf(resource), 'name');
    if (rest === undefined || name === undefined || !hasAllTriggers(resource)) return;
    const triggers = triggersOf(resource);
    const asked = triggers.filter(({ type }) => !isResourceType(type));
    const [first] = asked;
    if (first === undefined || triggers.some(({ composed }) => composed !== 'no')) return;
    if (!runsServers(workspace, resource)) return;
    const sources = asked.map((trigger) => podSource(workspace, trigger, name));
    if (sources.some((source) => source === undefined)) return;
    if (mayBePatched(workspace, resource, 'minReplicaCount')) return;
    const names = [...new Set(sources.flatMap((source) => source?.names ?? []))].join(', ');
    const at = rest.node ?? sources[0]?.place;
    if (at === undefined) return;
    report({
      at,
      message: `${rest.shown}, and what the triggers read (${names}) comes from the pods of "${name}" themselves: without a pod there is no value, so no request ever starts the first one`,
      related: sources.flatMap((source) =>
        source === undefined || source.place === at
          ? []
          : [{ resource, at: source.place, message: 'There is no value for this while no pod runs' }],
      ),
      fixes: [rest.fix],
    });
  },
});

interface Rest {
  readonly shown: string;
  readonly node: ScalarNode | undefined;
  readonly fix: Fix | undefined;
}

/** How the ScaledObject comes to rest without a pod; `undefined` when it does not. */
function restOf(resource: Resource): Rest | undefined {
  const spec = mapIn(resource.root, 'spec');
  const least = autoscalerOf(resource)?.minReplicas;
  if (spec === undefined || least?.known !== true) return undefined;
  const idle = countAt(resource, spec, 'idleReplicaCount', -1);
  if (!idle.known) return undefined;
  if (idle.value === 0 && least.value > 0) {
    const edits = removeEntry(resource.placed.document, spec, 'idleReplicaCount');
    const fix = edits && { title: 'Take idleReplicaCount away', safe: false, edits };
    return { shown: 'idleReplicaCount is 0', node: idle.node, fix };
  }
  if (least.value !== 0) return undefined;
  return {
    shown: `minReplicaCount is ${shownCount(least)}`,
    node: least.node,
    fix: keepOneReplica(resource, least.node),
  };
}

/** Whether the target is what the metrics are about, and not a gateway in front of it. */
function runsServers(workspace: Workspace, resource: Resource): boolean {
  const target = workspace.references(resource).target;
  if (target?.state !== 'found') return true;
  return podTemplates(target.resource).some(
    (template) => modelServers(template).length > 0 || acceleratorsOfPod(template).length > 0,
  );
}

interface PodSource {
  readonly names: readonly string[];
  readonly place: Place;
}

/** What a trigger reads, when all of it comes from the pods of the workload. */
function podSource(workspace: Workspace, trigger: WrittenTrigger, workload: string): PodSource | undefined {
  return trigger.type === 'prometheus'
    ? prometheusSource(trigger, workload)
    : trigger.type === 'metrics-api'
      ? apiSource(workspace, trigger, workload)
      : undefined;
}

function prometheusSource(trigger: WrittenTrigger, workload: string): PodSource | undefined {
  const query = prometheusQuery(trigger);
  if (query === undefined || coversEmpty(query.expression)) return undefined;
  const selectors = selectorsOf(query.expression);
  const fromPods = selectors.every(
    (selector) => engineOfMetric(selector.metric) !== undefined || selectsPodsOf(selector, workload),
  );
  if (selectors.length === 0 || !fromPods || wakesOnNothing(trigger)) return undefined;
  return {
    names: selectors.flatMap(({ metric }) => metric ?? []),
    place: valuePlace(trigger.resource, query.node),
  };
}

/**
 * An empty result counts as 0, which is active only above a negative threshold; with ignoreNullValues false it is an
 * error, and then a fallback starts pods.
 */
function wakesOnNothing({ resource, metadata }: WrittenTrigger): boolean {
  const threshold = metadata.get('activationThreshold')?.trim() ?? '';
  if (metadata.has('activationThreshold') && threshold !== '' && !((readNumber(threshold) ?? -1) >= 0))
    return true;
  const ignores = metadata.has('ignoreNullValues')
    ? readBoolean(metadata.get('ignoreNullValues')?.trim() ?? '')
    : true;
  return ignores !== true && !isPathAbsent(resource, resource.root, 'spec', 'fallback');
}

/** A URL whose host is a Service in front of the target, or has the target's own name. */
function apiSource(workspace: Workspace, trigger: WrittenTrigger, workload: string): PodSource | undefined {
  const url = trigger.metadata.get('url') ?? '';
  const host = /^https?:\/\/([a-z0-9-]+)(?:[.:/]|$)/.exec(url)?.[1];
  const value = entryOf(trigger.metadataNode, 'url')?.value;
  if (host === undefined || value?.kind !== 'scalar') return undefined;
  const target = workspace.references(trigger.resource).target;
  const services = target?.state === 'found' ? workspace.references(target.resource).services : [];
  const isOwn = services.some((service) => service.resource.name === host) || host === workload;
  return isOwn ? { names: [url], place: value } : undefined;
}
