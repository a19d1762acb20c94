import { podTemplates, type PodTemplate } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import { readLabelMap, readSelector, type LabelSelector } from '../kube/selectors';
import { getIn } from '../yaml/node';
import type { Workspace } from './workspace';

/**
 * Who selects or targets whom, by label and by target, so that looking it up for one object does not walk over all
 * others: a folder of a thousand applications stays linear.
 */
export interface Links {
  /** Selecting objects of a kind that could select pods with these labels; a superset, in no order. */
  selectorsFor(kind: string, template: PodTemplate): readonly Resource[];
  /** Pods that a selector could select, seen from a scope; a superset. */
  templatesFor(selector: LabelSelector, from: Resource): readonly PodTemplate[];
  /** Objects of a kind whose target is this workload, or is not decided. */
  referrersOf(kind: string, workload: Resource): readonly Resource[];
}

/** The pods that a PodDisruptionBudget or a Service selects; `undefined` when it selects none by itself. */
export function podSelectorOf(resource: Resource): LabelSelector | undefined {
  const node = getIn(resource.root, 'spec', 'selector');
  if (resource.kind === 'Service') {
    const selector = readLabelMap(node);
    return selector?.empty === true ? undefined : selector;
  }
  const selector = readSelector(node);
  // policy/v1beta1 took an empty selector as nothing, policy/v1 takes it as everything.
  return selector?.empty === true && resource.version === 'v1beta1' ? undefined : selector;
}

/** A label that every selected pod must have, with its value. */
function equalityOf(selector: LabelSelector): { readonly key: string; readonly value: string } | undefined {
  for (const { key, operator, values } of selector.terms) {
    const [value] = values ?? [];
    if (operator === 'In' && values?.length === 1 && value !== undefined) return { key, value };
  }
  return undefined;
}

class Buckets<T> {
  private readonly buckets = new Map<string, T[]>();

  add(key: string, item: T): void {
    const bucket = this.buckets.get(key);
    if (bucket === undefined) this.buckets.set(key, [item]);
    else bucket.push(item);
  }

  get(key: string): readonly T[] {
    return this.buckets.get(key) ?? [];
  }
}

const memo = new WeakMap<Workspace, Links>();

export function linksOf(workspace: Workspace): Links {
  let links = memo.get(workspace);
  if (links === undefined) {
    links = make(workspace);
    memo.set(workspace, links);
  }
  return links;
}

const selecting: readonly string[] = ['Service', 'PodDisruptionBudget'];
const targeting: readonly string[] = ['HorizontalPodAutoscaler', 'ScaledObject', 'VerticalPodAutoscaler'];

function make(workspace: Workspace): Links {
  const selectors = new Buckets<Resource>();
  const templates = new Buckets<PodTemplate>();
  for (const resource of workspace.resources) {
    if (resource.role === 'kustomize-patch') continue;
    const { kind, scope } = resource;
    if (selecting.includes(kind)) {
      const selector = podSelectorOf(resource);
      if (selector !== undefined) {
        const equality = equalityOf(selector);
        const place = `${kind} ${scope}`;
        selectors.add(`${place} *`, resource);
        if (equality === undefined) selectors.add(`${place} `, resource);
        else {
          selectors.add(`${place} ${equality.key}`, resource);
          selectors.add(`${place} ${equality.key}=${equality.value}`, resource);
        }
      }
    }
    for (const template of podTemplates(resource)) {
      const { values, open } = template.labels;
      templates.add(`${scope} *`, template);
      if (open) templates.add(`${scope} `, template);
      for (const [key, value] of values) {
        templates.add(value === undefined ? `${scope} ${key}` : `${scope} ${key}=${value}`, template);
      }
    }
  }
  let targets: Map<Resource, Resource[]> | undefined;
  let undecided: Buckets<Resource> | undefined;

  function readTargets(): void {
    targets = new Map();
    undecided = new Buckets();
    for (const kind of targeting) {
      for (const resource of workspace.byKind(kind)) {
        if (resource.role === 'kustomize-patch') continue;
        const target = workspace.references(resource).target;
        if (target?.state === 'found') {
          targets.set(target.resource, [...(targets.get(target.resource) ?? []), resource]);
        } else if (target?.state === 'unknown') {
          undecided.add(`${kind} ${resource.scope}`, resource);
        }
      }
    }
  }

  return {
    selectorsFor: (kind, template) => {
      const { values, open } = template.labels;
      const around = workspace.around(template.resource);
      if (open) return around.flatMap((scope) => selectors.get(`${kind} ${scope} *`));
      return around.flatMap((scope) => [
        ...selectors.get(`${kind} ${scope} `),
        ...[...values].flatMap(([key, value]) =>
          selectors.get(value === undefined ? `${kind} ${scope} ${key}` : `${kind} ${scope} ${key}=${value}`),
        ),
      ]);
    },
    templatesFor: (selector, from) => {
      const equality = equalityOf(selector);
      return workspace
        .around(from)
        .flatMap((scope) =>
          equality === undefined
            ? templates.get(`${scope} *`)
            : [
                ...new Set([
                  ...templates.get(`${scope} ${equality.key}=${equality.value}`),
                  ...templates.get(`${scope} ${equality.key}`),
                  ...templates.get(`${scope} `),
                ]),
              ],
        );
    },
    referrersOf: (kind, workload) => {
      if (targets === undefined || undecided === undefined) readTargets();
      const certain = (targets?.get(workload) ?? []).filter((resource) => resource.kind === kind);
      const open = workspace.around(workload).flatMap((scope) => undecided?.get(`${kind} ${scope}`) ?? []);
      return [...certain, ...open];
    },
  };
}
