import { autoscalerKinds } from '../kube/autoscalers';
import { podTemplates, type PodTemplate } from '../kube/pod-carriers';
import { nodeDemandOf, readRequirements, valueSetOf, type NodeRequirement } from '../kube/requirements';
import { admitsAbsence, intersect, intersects, type ValueSet } from '../kube/value-set';
import type { Resource } from '../kube/resource';
import { labelsOf, selects } from '../kube/selectors';
import { any, truth, type Truth } from '../kube/truth';
import {
  entryOf,
  getIn,
  isMap,
  itemsIn,
  mapIn,
  scalarIn,
  textIn,
  type MapNode,
  type YamlNode,
} from '../yaml/node';
import { areRivals } from './layout';
import { isTargeting, linksOf, podSelectorOf, targetNameOf } from './links';
import { nameKeyOf, nameKeyOfResource, sameNamespace } from './objects';
import { relevantGroups } from './relevant-kinds';
import type { Reference, Workspace } from './workspace';

export { targetRefOf } from './links';

/** Pods that a selector selects, certainly or perhaps. */
export interface TemplateMatch {
  readonly template: PodTemplate;
  readonly match: 'yes' | 'unknown';
}

/** An object that selects or targets pods, certainly or perhaps. */
export interface ResourceMatch {
  readonly resource: Resource;
  readonly match: 'yes' | 'unknown';
}

/** A pool on whose nodes a pod can run, as far as labels and requirements tell (taints are looked at elsewhere). */
export interface NodePoolMatch extends ResourceMatch {
  /** The pod names this pool, or a label that only this pool's nodes have. */
  readonly named: boolean;
}

/** What an object has to do with others. Everything is worked out when it is asked for. */
export interface References {
  /** Of a HorizontalPodAutoscaler, ScaledObject or VerticalPodAutoscaler; `undefined` for other kinds. */
  readonly target: Reference | undefined;
  /** Of a PodDisruptionBudget or Service: the pods that it selects. */
  readonly templates: readonly TemplateMatch[];
  /** Of a workload: the HorizontalPodAutoscalers and ScaledObjects that target it. */
  readonly autoscalers: readonly ResourceMatch[];
  readonly verticalAutoscalers: readonly ResourceMatch[];
  /** Of a HorizontalPodAutoscaler or ScaledObject: the others whose target has the same kind and name. */
  readonly rivals: readonly Resource[];
  /** Of a workload, over all its templates. */
  readonly disruptionBudgets: readonly ResourceMatch[];
  readonly services: readonly ResourceMatch[];
  /** Of a NodePool: its EC2NodeClass or NodeClass. */
  readonly nodeClass: Reference | undefined;
  /** Of one of the object's templates. */
  nodePools(template: PodTemplate): readonly NodePoolMatch[];
  /** Claims that a template mounts, each with the item of `volumes` that names it. */
  claims(template: PodTemplate): readonly { readonly volume: MapNode; readonly claim: Reference }[];
}

function target(workspace: Workspace, resource: Resource): Reference | undefined {
  if (!isTargeting(resource.kind)) return undefined;
  const { kind, name } = targetNameOf(resource);
  if (kind === undefined || name === undefined || relevantGroups(kind).length === 0)
    return { state: 'unknown' };
  return workspace.lookup(kind, resource.namespace, name, resource.scope, resource.uri);
}

function isReferrer(workspace: Workspace, referrer: Resource, workload: Resource): Truth {
  const found = workspace.references(referrer).target;
  if (found?.state === 'found') return found.resource === workload ? 'yes' : 'no';
  if (found?.state === 'missing') return 'no';
  // Several would do, or the kind or the name is only known later: it may be this one unless a known part differs.
  const { kind, name } = targetNameOf(referrer);
  if (kind !== undefined && kind !== workload.kind) return 'no';
  return name !== undefined && name !== nameKeyOfResource(workload) ? 'no' : 'unknown';
}

function referrers(
  workspace: Workspace,
  workload: Resource,
  kinds: readonly string[],
): readonly ResourceMatch[] {
  const links = linksOf(workspace);
  return kinds.flatMap((kind) =>
    links.referrersOf(kind, workload).flatMap((resource) => {
      if (!sameNamespace(resource.namespace, workload.namespace)) return [];
      const match = isReferrer(workspace, resource, workload);
      return match === 'no' ? [] : [{ resource, match }];
    }),
  );
}

function selected(workspace: Workspace, resource: Resource): readonly TemplateMatch[] {
  const selector = podSelectorOf(resource);
  if (selector === undefined) return [];
  return linksOf(workspace)
    .templatesFor(selector, resource)
    .flatMap((template) => {
      if (!sameNamespace(template.resource.namespace, resource.namespace)) return [];
      const match = selects(selector, template.labels);
      return match === 'no' ? [] : [{ template, match }];
    });
}

function selectors(workspace: Workspace, workload: Resource, kind: string): readonly ResourceMatch[] {
  const templates = podTemplates(workload);
  const links = linksOf(workspace);
  const candidates = new Set(templates.flatMap((template) => links.selectorsFor(kind, template)));
  return [...candidates].flatMap((resource) => {
    const selector = podSelectorOf(resource);
    if (selector === undefined || !sameNamespace(resource.namespace, workload.namespace)) return [];
    const match = any(templates.map((template) => selects(selector, template.labels)));
    return match === 'no' ? [] : [{ resource, match }];
  });
}

/** Labels that Kubernetes, Karpenter and EKS Auto Mode put on nodes by themselves, whatever the pool says. */
const wellKnown =
  /^(kubernetes\.io\/(arch|os|hostname)|node\.kubernetes\.io\/(instance-type|windows-build)|topology\.kubernetes\.io\/(zone|region)|topology\.k8s\.aws\/.*|topology\.ebs\.csi\.aws\.com\/zone|karpenter\.sh\/(capacity-type|registered|initialized)|karpenter\.k8s\.aws\/.*|eks\.amazonaws\.com\/.*|beta\.kubernetes\.io\/.*|failure-domain\.beta\.kubernetes\.io\/.*|metadata\.name)$/;

/** What a pool says about the labels of its nodes. */
export interface PoolLabels {
  readonly sets: ReadonlyMap<string, ValueSet | undefined>;
  readonly open: boolean;
}

const poolMemo = new WeakMap<Resource, PoolLabels>();

export function poolLabels(pool: Resource): PoolLabels {
  const known = poolMemo.get(pool);
  if (known !== undefined) return known;
  const sets = new Map<string, ValueSet | undefined>();
  const add = (key: string, set: ValueSet | undefined): void => {
    const before = sets.get(key);
    sets.set(key, sets.has(key) && before !== undefined && set !== undefined ? intersect(before, set) : set);
  };
  const template = mapIn(pool.root, 'spec', 'template');
  const labels = labelsOf(getIn(template, 'metadata', 'labels'));
  for (const [key, value] of labels.values) {
    add(key, value === undefined ? undefined : valueSetOf(equality(key, value)));
  }
  for (const requirement of readRequirements(getIn(template, 'spec', 'requirements'))) {
    add(requirement.key, valueSetOf(requirement));
  }
  add(
    'karpenter.sh/nodepool',
    pool.name === undefined ? undefined : valueSetOf(equality('karpenter.sh/nodepool', pool.name)),
  );
  const list = entryOf(mapIn(template, 'spec'), 'requirements')?.value;
  const result: PoolLabels = {
    sets,
    open:
      pool.role === 'kustomize-patch' ||
      labels.open ||
      template === undefined ||
      template.open ||
      mapIn(template, 'spec')?.open === true ||
      (list?.kind === 'sequence' && list.open),
  };
  poolMemo.set(pool, result);
  return result;
}

function equality(
  key: string,
  value: string,
): Pick<NodeRequirement, 'key' | 'operator' | 'values'> & NodeRequirement {
  const keyNode = {
    kind: 'scalar',
    value: key,
    text: key,
    style: 'plain',
    unknown: false,
    borrowed: true,
    start: 0,
    end: 0,
  } as const;
  return { key, keyNode, operator: 'In', values: [value], valueNodes: [], node: keyNode };
}

/** Whether nodes of a pool can meet one requirement of a pod. */
function poolMeets(labels: PoolLabels, requirement: NodeRequirement): Truth {
  const wanted = valueSetOf(requirement);
  if (wanted === undefined) return 'unknown';
  if (labels.sets.has(requirement.key)) {
    const offered = labels.sets.get(requirement.key);
    return offered === undefined ? 'unknown' : truth(intersects(offered, wanted));
  }
  if (wellKnown.test(requirement.key)) return 'yes';
  if (admitsAbsence(wanted)) return 'yes';
  return labels.open ? 'unknown' : 'no';
}

function meetsAll(labels: PoolLabels, requirements: readonly NodeRequirement[]): Truth {
  let result: Truth = 'yes';
  for (const requirement of requirements) {
    const met = poolMeets(labels, requirement);
    if (met === 'no') return 'no';
    if (met === 'unknown') result = 'unknown';
  }
  return result;
}

/**
 * The pools that a pod can mean. Pools of the pod's own tree come first. When none of them fits, those of the whole
 * workspace that the pod names, since clusters are often described beside the applications and not with them.
 */
function nodePools(workspace: Workspace, template: PodTemplate): readonly NodePoolMatch[] {
  const demand = nodeDemandOf(template);
  const near = workspace.near(template.resource, 'NodePool', 'karpenter.sh');
  const judge = (pools: readonly Resource[]): NodePoolMatch[] =>
    pools.flatMap((resource) => {
      const labels = poolLabels(resource);
      const match = any(demand.alternatives.map((requirements) => meetsAll(labels, requirements)));
      if (match === 'no') return [];
      const named = demand.alternatives.some((requirements) =>
        requirements.some(
          (requirement) =>
            labels.sets.has(requirement.key) &&
            !wellKnown.test(requirement.key) &&
            valueSetOf(requirement)?.complement === false,
        ),
      );
      return [{ resource, match, named }];
    });
  const here = judge(near);
  if (here.length > 0 || demand.alternatives.every((requirements) => requirements.length === 0)) return here;
  const elsewhere = workspace
    .everywhere('NodePool', 'karpenter.sh')
    .filter(
      (pool) =>
        pool.role !== 'kustomize-patch' &&
        !near.includes(pool) &&
        !areRivals(pool.scope, template.resource.scope),
    );
  return judge(elsewhere).filter(({ named }) => named);
}

function nodeClass(workspace: Workspace, pool: Resource): Reference | undefined {
  if (pool.kind !== 'NodePool' && pool.kind !== 'NodeClaim') return undefined;
  const spec = pool.kind === 'NodePool' ? ['spec', 'template', 'spec'] : ['spec'];
  const reference = mapIn(pool.root, ...spec, 'nodeClassRef');
  if (reference === undefined) return { state: 'unknown' };
  const kind = scalarIn(reference, 'kind') === undefined ? 'EC2NodeClass' : textIn(reference, 'kind');
  const name = nameKeyOf(pool.placed.document, entryOf(reference, 'name')?.value);
  if (kind === undefined || name === undefined) return { state: 'unknown' };
  return workspace.lookup(kind, undefined, name, pool.scope, pool.uri);
}

function claims(
  workspace: Workspace,
  template: PodTemplate,
): readonly { readonly volume: MapNode; readonly claim: Reference }[] {
  const { resource } = template;
  return itemsIn(template.spec, 'volumes').flatMap((volume) => {
    const node: YamlNode | undefined = getIn(volume, 'persistentVolumeClaim', 'claimName');
    if (!isMap(volume) || node === undefined) return [];
    const name = nameKeyOf(resource.placed.document, node);
    const claim: Reference =
      name === undefined
        ? { state: 'unknown' }
        : workspace.lookup('PersistentVolumeClaim', resource.namespace, name, resource.scope, resource.uri);
    return [{ volume, claim }];
  });
}

/** Makes the references of one object; {@link Workspace.references} keeps them. */
export function referencesOf(workspace: Workspace, resource: Resource): References {
  const once = new Map<string, unknown>();
  const keep = <T>(key: string, make: () => T): T => {
    if (!once.has(key)) once.set(key, make());
    return once.get(key) as T;
  };
  return {
    get target() {
      return keep('target', () => target(workspace, resource));
    },
    get templates() {
      return keep('templates', () => selected(workspace, resource));
    },
    get autoscalers() {
      return keep('autoscalers', () => referrers(workspace, resource, autoscalerKinds));
    },
    get rivals() {
      return keep('rivals', () =>
        autoscalerKinds.flatMap((kind) =>
          linksOf(workspace)
            .sharersOf(kind, resource)
            .filter((other) => other !== resource && sameNamespace(other.namespace, resource.namespace)),
        ),
      );
    },
    get verticalAutoscalers() {
      return keep('verticalAutoscalers', () => referrers(workspace, resource, ['VerticalPodAutoscaler']));
    },
    get disruptionBudgets() {
      return keep('disruptionBudgets', () => selectors(workspace, resource, 'PodDisruptionBudget'));
    },
    get services() {
      return keep('services', () => selectors(workspace, resource, 'Service'));
    },
    get nodeClass() {
      return keep('nodeClass', () => nodeClass(workspace, resource));
    },
    nodePools: (template) => nodePools(workspace, template),
    claims: (template) => claims(workspace, template),
  };
}
