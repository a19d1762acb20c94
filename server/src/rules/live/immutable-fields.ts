import { compareQuantities, parseQuantity } from '../../kube/quantity';
import type { Resource } from '../../kube/resource';
import { entryOf, getIn, isNull, scalarIn, type Entry, type YamlNode } from '../../yaml/node';

/** A field of a file that differs from the object in the cluster and cannot be changed there. */
export interface ImmutableDifference {
  /** `spec.selector`. */
  readonly field: string;
  /** The value at fault, or the key of what the file adds or leaves out. */
  readonly at: YamlNode | Entry;
  /** Both sides in short, where they are single values. */
  readonly here: string | undefined;
  readonly there: string | undefined;
}

/**
 * - `whole`: what one side lacks is a difference.
 * - `written`: what the file does not write is what the API server fills in.
 */
type Comparing = 'whole' | 'written';

export interface ImmutableField {
  readonly path: readonly string[];
  readonly comparing: Comparing;
  /** When the field may be changed after all. */
  readonly unless?: (live: unknown) => boolean;
}

const whole = (...path: string[]): ImmutableField => ({ path, comparing: 'whole' });
const written = (...path: string[]): ImmutableField => ({ path, comparing: 'written' });

const isSuspended = (live: unknown): boolean => plainIn(live, 'spec', 'suspend') === true;
const isIndexed = (live: unknown): boolean => plainIn(live, 'spec', 'completionMode') === 'Indexed';
/** A claim without a volume may still be given one. */
const isUnbound = (live: unknown): boolean => plainIn(live, 'status', 'phase') !== 'Bound';

/**
 * By group and kind, as the API server's validation of updates has them
 * (https://github.com/kubernetes/kubernetes/tree/release-1.33/pkg/apis, `Validate...Update` of each group) and the rules
 * of Karpenter's definitions (https://karpenter.sh/docs/concepts/nodepools/).
 */
export const immutableFields: Readonly<Record<string, readonly ImmutableField[]>> = {
  'apps/Deployment': [whole('spec', 'selector')],
  'apps/ReplicaSet': [whole('spec', 'selector')],
  'apps/DaemonSet': [whole('spec', 'selector')],
  'apps/StatefulSet': [
    whole('spec', 'selector'),
    written('spec', 'serviceName'),
    written('spec', 'podManagementPolicy'),
    written('spec', 'volumeClaimTemplates'),
  ],
  'batch/Job': [
    written('spec', 'selector'),
    written('spec', 'completionMode'),
    // Both numbers of an indexed Job may change together.
    { ...written('spec', 'completions'), unless: isIndexed },
    written('spec', 'backoffLimitPerIndex'),
    written('spec', 'podFailurePolicy'),
    written('spec', 'successPolicy'),
    written('spec', 'managedBy'),
    // Where its pods may run can be set before it begins.
    { ...written('spec', 'template', 'spec'), unless: isSuspended },
  ],
  '/PersistentVolumeClaim': [
    written('spec', 'accessModes'),
    written('spec', 'storageClassName'),
    written('spec', 'volumeMode'),
    { ...written('spec', 'volumeName'), unless: isUnbound },
    written('spec', 'selector'),
    written('spec', 'dataSource'),
  ],
  '/Service': [written('spec', 'clusterIP')],
  'storage.k8s.io/StorageClass': [
    written('provisioner'),
    whole('parameters'),
    written('reclaimPolicy'),
    written('volumeBindingMode'),
  ],
  'scheduling.k8s.io/PriorityClass': [written('value'), written('preemptionPolicy')],
  'rbac.authorization.k8s.io/RoleBinding': [written('roleRef')],
  'rbac.authorization.k8s.io/ClusterRoleBinding': [written('roleRef')],
  'karpenter.sh/NodePool': [
    written('spec', 'template', 'spec', 'nodeClassRef', 'group'),
    written('spec', 'template', 'spec', 'nodeClassRef', 'kind'),
  ],
};

/** Kinds with fields that cannot be changed. */
export const kindsWithImmutableFields: readonly string[] = Object.keys(immutableFields).map((key) =>
  key.slice(key.indexOf('/') + 1),
);

/** Fields of a file that the object in the cluster has otherwise, and that no update can change. */
export function immutableDifferences(resource: Resource, live: unknown): readonly ImmutableDifference[] {
  const { root } = resource;
  const found = (immutableFields[`${resource.group}/${resource.kind}`] ?? []).flatMap(
    ({ path, comparing, unless }): readonly ImmutableDifference[] => {
      const entry = entryAt(root, path);
      if (entry === undefined || isNull(entry.value) || unless?.(live) === true) return [];
      const there = plainIn(live, ...path);
      // What is not set there, such as a class that was left to the cluster, can be set in some versions.
      if (there === undefined || there === null || there === '') return [];
      const at = differenceOf(entry.value, there, comparing, entry);
      return at === undefined ? [] : [{ field: path.join('.'), ...at }];
    },
  );
  const smaller = resource.kind === 'PersistentVolumeClaim' ? smallerClaim(root, live) : undefined;
  return smaller === undefined ? found : [...found, smaller];
}

/** A claim can grow and not shrink below what its volume has. */
function smallerClaim(root: YamlNode, live: unknown): ImmutableDifference | undefined {
  const at = scalarIn(root, 'spec', 'resources', 'requests', 'storage');
  const there =
    plainIn(live, 'status', 'capacity', 'storage') ??
    plainIn(live, 'spec', 'resources', 'requests', 'storage');
  if (at === undefined || at.unknown || typeof there !== 'string') return undefined;
  const [wanted, has] = [parseQuantity(at.text), parseQuantity(there)];
  if (wanted === undefined || has === undefined || compareQuantities(wanted, has) >= 0) return undefined;
  return { field: 'spec.resources.requests.storage', at, here: at.text, there };
}

function entryAt(root: YamlNode, path: readonly string[]): Entry | undefined {
  const last = path.at(-1);
  return last === undefined ? undefined : entryOf(getIn(root, ...path.slice(0, -1)), last);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainIn(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) at = isPlain(at) ? at[key] : undefined;
  return at;
}

type Difference = Omit<ImmutableDifference, 'field'>;

const elsewhere = (at: YamlNode | Entry): Difference => ({ at, here: undefined, there: undefined });

/** Where a node first differs from a plain value; nothing where it does not, or where that is only known later. */
function differenceOf(
  node: YamlNode,
  there: unknown,
  comparing: Comparing,
  holder: Entry | YamlNode,
): Difference | undefined {
  switch (node.kind) {
    case 'scalar':
      return node.unknown || isSameScalar(node.value, node.text, there)
        ? undefined
        : {
            at: node,
            ...(typeof there === 'object'
              ? { here: undefined, there: undefined }
              : { here: node.text, there: String(there) }),
          };
    case 'sequence': {
      if (node.open) return undefined;
      if (!Array.isArray(there)) return elsewhere(holder);
      const items: readonly unknown[] = there;
      if (node.items.length !== items.length) return elsewhere(holder);
      for (const [index, item] of node.items.entries()) {
        const found = differenceOf(item, items[index], comparing, item);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    case 'map': {
      if (node.entries.some(({ key }) => key.unknown)) return undefined;
      if (!isPlain(there)) return node.entries.length === 0 ? undefined : elsewhere(holder);
      for (const entry of node.entries) {
        if (isNull(entry.value)) continue;
        const value = there[entry.key.text];
        const isNothing = entry.value.kind !== 'scalar' && isEmpty(entry.value);
        if (value === undefined) {
          if (!isNothing && !isUnknown(entry.value)) return elsewhere(entry);
          continue;
        }
        const found = differenceOf(entry.value, value, comparing, entry);
        if (found !== undefined) return found;
      }
      if (comparing === 'written' || node.open) return undefined;
      const names = new Set(node.entries.map(({ key }) => key.text));
      return Object.keys(there).some((key) => !names.has(key)) ? elsewhere(holder) : undefined;
    }
  }
}

function isEmpty(node: YamlNode): boolean {
  return node.kind === 'map'
    ? node.entries.length === 0
    : node.kind === 'sequence' && node.items.length === 0;
}

function isUnknown(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.unknown;
}

/** Quantities that are written in another way are the same. */
function isSameScalar(value: unknown, text: string, there: unknown): boolean {
  if (value === there || text === String(there)) return true;
  // What may be secret is left out of what is read: values of variables, and of flags such as `--api-key=`.
  if (there === '' || (typeof there === 'string' && there.endsWith('=') && text.startsWith(there)))
    return true;
  if (typeof there !== 'string' && typeof there !== 'number') return false;
  const [a, b] = [parseQuantity(text), parseQuantity(String(there))];
  return a !== undefined && b !== undefined && compareQuantities(a, b) === 0;
}
