import { podTemplates, type PodTemplate } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import { readLabelMap, readSelector, type LabelSelector } from '../kube/selectors';
import { entryOf, getIn, mapIn, scalarIn, textIn, type MapNode } from '../yaml/node';
import type { Index } from './indexes';
import { nameKeyOf, nameKeyOfResource } from './objects';
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
  /** Objects of a kind that name the same target as this one does, itself among them. */
  sharersOf(kind: string, autoscaler: Resource): readonly Resource[];
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

const selecting: readonly string[] = ['Service', 'PodDisruptionBudget'];

const selectors: Index<Resource> = {
  read: ({ resources }, add) => {
    for (const resource of resources) {
      const { kind, scope, role } = resource;
      if (role === 'kustomize-patch' || !selecting.includes(kind)) continue;
      const selector = podSelectorOf(resource);
      if (selector === undefined) continue;
      const equality = equalityOf(selector);
      const place = `${kind} ${scope}`;
      add(`${place} *`, resource);
      if (equality === undefined) add(`${place} `, resource);
      else {
        add(`${place} ${equality.key}`, resource);
        add(`${place} ${equality.key}=${equality.value}`, resource);
      }
    }
  },
  uriOf: ({ uri }) => uri,
};

const templates: Index<PodTemplate> = {
  read: ({ resources }, add) => {
    for (const resource of resources) {
      if (resource.role === 'kustomize-patch') continue;
      const { scope } = resource;
      for (const template of podTemplates(resource)) {
        const { values, open } = template.labels;
        add(`${scope} *`, template);
        if (open) add(`${scope} `, template);
        for (const [key, value] of values) {
          add(value === undefined ? `${scope} ${key}` : `${scope} ${key}=${value}`, template);
        }
      }
    }
  },
  uriOf: ({ resource }) => resource.uri,
};

/** Autoscalers by the kind and name that they target; an empty name stands for one that is not known yet. */
const targets: Index<Resource> = {
  read: ({ resources }, add) => {
    for (const resource of resources) {
      if (resource.role === 'kustomize-patch' || !isTargeting(resource.kind)) continue;
      const { kind, name } = targetNameOf(resource);
      const target = kind === undefined || name === undefined ? '' : `${kind} ${name}`;
      add(`${resource.kind} ${resource.scope} ${target}`, resource);
    }
  },
  uriOf: ({ uri }) => uri,
};

const memo = new WeakMap<Workspace, Links>();

export function linksOf(workspace: Workspace): Links {
  let links = memo.get(workspace);
  if (links === undefined) {
    links = make(workspace);
    memo.set(workspace, links);
  }
  return links;
}

function make(workspace: Workspace): Links {
  return {
    selectorsFor: (kind, template) => {
      const groups = workspace.index(selectors);
      const { values, open } = template.labels;
      const around = workspace.around(template.resource);
      if (open) return around.flatMap((scope) => groups.get(`${kind} ${scope} *`));
      return around.flatMap((scope) => [
        ...groups.get(`${kind} ${scope} `),
        ...[...values].flatMap(([key, value]) =>
          groups.get(value === undefined ? `${kind} ${scope} ${key}` : `${kind} ${scope} ${key}=${value}`),
        ),
      ]);
    },
    templatesFor: (selector, from) => {
      const groups = workspace.index(templates);
      const equality = equalityOf(selector);
      return workspace
        .around(from)
        .flatMap((scope) =>
          equality === undefined
            ? groups.get(`${scope} *`)
            : [
                ...new Set([
                  ...groups.get(`${scope} ${equality.key}=${equality.value}`),
                  ...groups.get(`${scope} ${equality.key}`),
                  ...groups.get(`${scope} `),
                ]),
              ],
        );
    },
    referrersOf: (kind, workload) => {
      const groups = workspace.index(targets);
      const around = workspace.around(workload);
      const name = nameKeyOfResource(workload);
      const named =
        name === undefined
          ? []
          : around.flatMap((scope) => groups.get(`${kind} ${scope} ${workload.kind} ${name}`));
      return [...named, ...around.flatMap((scope) => groups.get(`${kind} ${scope} `))];
    },
    sharersOf: (kind, autoscaler) => {
      const target = targetNameOf(autoscaler);
      if (target.kind === undefined || target.name === undefined) return [];
      const groups = workspace.index(targets);
      return workspace
        .around(autoscaler)
        .flatMap((scope) => groups.get(`${kind} ${scope} ${target.kind} ${target.name}`));
    },
  };
}

const targetPaths: Readonly<Record<string, readonly string[]>> = {
  HorizontalPodAutoscaler: ['spec', 'scaleTargetRef'],
  ScaledObject: ['spec', 'scaleTargetRef'],
  VerticalPodAutoscaler: ['spec', 'targetRef'],
};

export function isTargeting(kind: string): boolean {
  return targetPaths[kind] !== undefined;
}

/** The map that names the target of an autoscaler. */
export function targetRefOf(resource: Resource): MapNode | undefined {
  const path = targetPaths[resource.kind];
  return path === undefined ? undefined : mapIn(resource.root, ...path);
}

/** The kind that an autoscaler targets, and its name in the form of {@link nameKeyOf}, as far as they are known. */
export function targetNameOf(resource: Resource): {
  readonly kind: string | undefined;
  readonly name: string | undefined;
} {
  const reference = targetRefOf(resource);
  const isLeftOut = resource.kind === 'ScaledObject' && scalarIn(reference, 'kind') === undefined;
  return {
    kind: isLeftOut ? 'Deployment' : textIn(reference, 'kind'),
    name: nameKeyOf(resource.placed.document, entryOf(reference, 'name')?.value),
  };
}
