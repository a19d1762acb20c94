import { autoscalerOf, type Autoscaler } from '../../kube/autoscalers';
import { isAiWorkload, isServing } from '../../kube/ai-workload';
import { modelServers, type ModelServer } from '../../kube/model-server';
import { isPodCarrier, isServingKind, podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { leastReplicas } from '../../rules/availability/least-replicas';
import { scalerOf } from '../../rules/cold-start/scales';
import { placementOf } from '../../rules/placement/answers';
import type { Pool } from '../../rules/placement/surroundings';
import type { Workspace } from '../../workspace/workspace';
import type { Place } from '../../rules/rule';
import type { UserModel } from '../../sizing/models/types';
import { effectiveConfig, type Config } from '../config';
import { said, type Said } from './ask';
import type { ReadinessState } from './types';

/** The answer to one item. */
export interface Answer {
  readonly state: ReadinessState;
  readonly fact: string;
  readonly place?: Where | undefined;
  readonly rule?: string | undefined;
}

/** A place in the document of a resource. */
export interface Where {
  readonly resource: Resource;
  readonly at: Place;
}

/** A workload with what hangs on it, worked out once for all items. */
export interface Subject {
  readonly workspace: Workspace;
  readonly resource: Resource;
  /** The pods that answer requests; where it has none, all of its pods. */
  readonly templates: readonly PodTemplate[];
  readonly servers: readonly ModelServer[];
  /** Models that the configuration describes. */
  readonly models: readonly UserModel[];
  readonly serves: boolean;
  readonly isAi: boolean;
  /** The autoscalers that certainly target it. */
  readonly autoscalers: readonly Autoscaler[];
  /** Autoscalers that may target it. */
  readonly mayBeScaled: boolean;
  /** The operator that scales it between bounds of its own, such as KServe. */
  readonly operator: string | undefined;
  /** The fewest replicas that it runs with. */
  readonly least: number | undefined;
  /** What is launched for its pods. */
  readonly pools: Pools;
  /** What a rule says about a resource, with the configuration that holds there. */
  ask(rule: string, about?: Resource): readonly Said[];
}

export interface Pools {
  /** The pools that can run the pods, certainly or perhaps. */
  readonly usable: readonly Pool[];
  /** Names of the instance types that will do, over all pools. */
  readonly types: readonly string[];
  /** Some pool for the pod stands in the files, but none can run it. */
  readonly noneFits: boolean;
}

function poolsOf(workspace: Workspace, templates: readonly PodTemplate[]): Pools {
  const usable = new Set<Pool>();
  const types = new Set<string>();
  let seen = 0;
  for (const template of templates) {
    for (const { pool, verdict, candidates, possible } of placementOf(workspace, template).pools) {
      seen++;
      if (verdict === 'none') continue;
      usable.add(pool);
      for (const { type } of candidates) types.add(type.name);
      for (const name of possible) types.add(name);
    }
  }
  return { usable: [...usable], types: [...types].sort(), noneFits: seen > 0 && usable.size === 0 };
}

/** Whether the checklist is about an object: pods that answer requests or whose number follows the load. */
export function isSubject(workspace: Workspace, resource: Resource): boolean {
  if (!isPodCarrier(resource) || !['resource', 'kustomize-base', 'helm-template'].includes(resource.role))
    return false;
  const templates = podTemplates(resource);
  if (templates.some((template) => isServing(resource, template))) return true;
  return (
    templates.length > 0 &&
    isServingKind(resource) &&
    workspace.references(resource).autoscalers.some(({ match }) => match === 'yes')
  );
}

export function subjectOf(
  workspace: Workspace,
  resource: Resource,
  configFor: (uri: string) => Config,
): Subject {
  const all = podTemplates(resource);
  const serving = all.filter((template) => isServing(resource, template));
  const templates = serving.length > 0 ? serving : all;
  const matches = workspace.references(resource).autoscalers;
  const autoscalers = matches.flatMap(({ resource: scaler, match }) =>
    match === 'yes' ? (autoscalerOf(scaler) ?? []) : [],
  );
  const answers = new Map<string, readonly Said[]>();
  const [first] = templates;
  let pools: Pools | undefined;
  return {
    workspace,
    resource,
    templates,
    servers: templates.flatMap(modelServers),
    models: effectiveConfig(configFor(resource.uri), resource).models,
    serves: serving.length > 0,
    isAi: templates.some(isAiWorkload),
    autoscalers,
    mayBeScaled: matches.some(({ match }) => match === 'unknown'),
    operator: autoscalers.length > 0 ? undefined : scalerOf(workspace, resource)?.title,
    least: first === undefined ? undefined : leastReplicas(workspace, first)?.value,
    get pools() {
      return (pools ??= poolsOf(workspace, templates));
    },
    ask(rule, about = resource) {
      const key = `${rule} ${about.uri} ${about.placed.index} ${about.root.start}`;
      let known = answers.get(key);
      if (known === undefined) answers.set(key, (known = said(workspace, configFor(about.uri), rule, about)));
      return known;
    },
  };
}

/** The first thing that one of some rules says about one of some resources, as the answer to an item. */
export function failing(
  subject: Subject,
  rules: readonly string[],
  about: readonly Resource[] = [subject.resource],
): Answer | undefined {
  let accepted: Answer | undefined;
  for (const resource of about) {
    for (const rule of rules) {
      for (const { message, at, acceptedBecause } of subject.ask(rule, resource)) {
        const place = { resource, at };
        if (acceptedBecause === undefined) return { state: 'fail', fact: message, place, rule };
        accepted ??= {
          state: 'not-applicable',
          fact: `Accepted (${acceptedBecause}): ${message}`,
          place,
          rule,
        };
      }
    }
  }
  return accepted;
}

/** The worst of several answers, with how many there are of them. */
export function worst(answers: readonly Answer[]): Answer | undefined {
  for (const state of ['fail', 'unknown', 'pass', 'not-applicable'] as const) {
    const found = answers.filter((answer) => answer.state === state);
    const [first] = found;
    if (first === undefined) continue;
    const facts = [...new Set(found.map(({ fact }) => fact))];
    return { ...first, fact: facts.join('; ') };
  }
  return undefined;
}
