import type { SourceFile, YamlDocument } from '../yaml/document';
import { isMap, isScalar, itemsIn, mapIn, scalarIn, textIn, type YamlNode } from '../yaml/node';
import { baseNameOf, directoryOf, join, pathOf, upwards } from './paths';

/** What one kustomization lists; all paths are resolved. */
export interface Kustomization {
  readonly directory: string;
  readonly component: boolean;
  /** Files and directories under `resources`, `bases`, `components`, `crds`. */
  readonly resources: ReadonlySet<string>;
  /** Files that are patches. */
  readonly patches: ReadonlySet<string>;
  /** It adds labels to selectors and pod templates, and makes those that are missing. */
  readonly labels: boolean;
}

/**
 * How the files hang together: which directories are charts and kustomizations, and which of these are built
 * together. It changes only when such a file does.
 */
export interface Layout {
  /** Directories of charts (with a `Chart.yaml`). */
  readonly charts: ReadonlySet<string>;
  /** By directory. */
  readonly kustomizations: ReadonlyMap<string, Kustomization>;
  /** Kustomization directories that some build puts together with this one. */
  readonly builtWith: ReadonlyMap<string, ReadonlySet<string>>;
  /** Kustomization directories whose objects get labels and selectors, from themselves or from one that reads them. */
  readonly labelled: ReadonlySet<string>;
}

const kustomizationNames: readonly string[] = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

export function isKustomizationFile(path: string): boolean {
  return kustomizationNames.includes(baseNameOf(path));
}

export function isChartFile(path: string): boolean {
  const name = baseNameOf(path);
  return name === 'Chart.yaml' || name === 'Chart.yml';
}

/** Files that decide about others: a change of one makes a new layout. */
export function isLayoutFile(uri: string): boolean {
  const path = pathOf(uri);
  return isKustomizationFile(path) || isChartFile(path);
}

function listed(root: YamlNode | undefined, directory: string, ...keys: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const key of keys) {
    for (const item of itemsIn(root, key)) {
      if (isScalar(item) && !item.unknown && item.value !== null && !item.text.includes('\n')) {
        found.add(join(directory, item.text));
      }
      const path = isMap(item) ? textIn(item, 'path') : undefined;
      if (path !== undefined) found.add(join(directory, path));
    }
  }
  return found;
}

const memo = new WeakMap<YamlDocument, Map<string, Kustomization>>();

function readKustomization(document: YamlDocument, directory: string): Kustomization {
  const cached = memo.get(document) ?? new Map<string, Kustomization>();
  const known = cached.get(directory);
  if (known !== undefined) return known;
  const { root } = document;
  const kustomization: Kustomization = {
    directory,
    component: scalarIn(root, 'kind')?.text === 'Component',
    resources: listed(root, directory, 'resources', 'bases', 'components', 'crds'),
    patches: listed(
      root,
      directory,
      'patches',
      'patchesStrategicMerge',
      'patchesJson6902',
      'replacements',
      'transformers',
    ),
    labels: addsSelectors(root),
  };
  memo.set(document, cached.set(directory, kustomization));
  return kustomization;
}

function addsSelectors(root: YamlNode | undefined): boolean {
  const common = mapIn(root, 'commonLabels');
  if (common !== undefined && (common.entries.length > 0 || common.open)) return true;
  return itemsIn(root, 'labels').some((item) => {
    const selectors = scalarIn(item, 'includeSelectors');
    return selectors !== undefined && (selectors.unknown || selectors.value === true);
  });
}

/** Kustomizations that one lists. */
function listedBy(directory: string, kustomizations: ReadonlyMap<string, Kustomization>): readonly string[] {
  const found = new Set<string>();
  for (const path of kustomizations.get(directory)?.resources ?? []) {
    // A file of another kustomization's directory is read without its kustomization, but belongs to that place.
    const next = kustomizations.has(path) ? path : directoryOf(path);
    if (next !== directory && kustomizations.has(next)) found.add(next);
  }
  return [...found];
}

/** Everything that building one kustomization reads, itself included. */
function closure(start: string, kustomizations: ReadonlyMap<string, Kustomization>): Set<string> {
  const seen = new Set<string>([start]);
  const queue = [start];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const next of listedBy(at, kustomizations)) {
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
  }
  return seen;
}

/** A kustomization that lists more than this is the list of a cluster's applications, not one application. */
const MAX_PARTS = 64;

/**
 * Which kustomizations some build puts together: one with all that it reads, and what it reads side by side. A build of
 * several variants (`dev` and `prod`) holds a copy of their base for each, which have nothing to do with each other.
 */
function builds(kustomizations: ReadonlyMap<string, Kustomization>): Map<string, Set<string>> {
  const builtWith = new Map<string, Set<string>>();
  const closures = new Map(
    [...kustomizations.keys()].map((key) => [key, closure(key, kustomizations)] as const),
  );
  const pair = (a: string, b: string): void => {
    if (a === b || areRivals(a, b)) return;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const others = builtWith.get(from);
      if (others === undefined) builtWith.set(from, new Set([to]));
      else others.add(to);
    }
  };
  for (const [root, members] of closures) {
    for (const member of members) pair(root, member);
    const parts = listedBy(root, kustomizations);
    if (parts.length > MAX_PARTS) continue;
    for (const [index, left] of parts.entries()) {
      for (const right of parts.slice(index + 1)) {
        if (areRivals(left, right)) continue;
        for (const a of closures.get(left) ?? []) for (const b of closures.get(right) ?? []) pair(a, b);
      }
    }
  }
  return builtWith;
}

export function readLayout(files: Iterable<SourceFile>): Layout {
  const charts = new Set<string>();
  const kustomizations = new Map<string, Kustomization>();
  for (const file of files) {
    const path = pathOf(file.uri);
    if (isChartFile(path)) charts.add(directoryOf(path));
    const document = file.documents[0]?.document;
    if (document !== undefined && isKustomizationFile(path)) {
      kustomizations.set(directoryOf(path), readKustomization(document, directoryOf(path)));
    }
  }
  return { charts, kustomizations, builtWith: builds(kustomizations), labelled: labelled(kustomizations) };
}

function labelled(kustomizations: ReadonlyMap<string, Kustomization>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [directory, { labels }] of kustomizations) {
    if (labels) for (const member of closure(directory, kustomizations)) found.add(member);
  }
  return found;
}

function sameItems<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}

/** Whether two layouts say the same about every file: an edit of a kustomization is mostly about something else. */
export function sameLayout(a: Layout, b: Layout): boolean {
  if (!sameItems(a.charts, b.charts) || a.kustomizations.size !== b.kustomizations.size) return false;
  for (const [directory, one] of a.kustomizations) {
    const other = b.kustomizations.get(directory);
    if (other === undefined) return false;
    if (one === other) continue;
    if (one.component !== other.component || one.labels !== other.labels) return false;
    if (!sameItems(one.resources, other.resources) || !sameItems(one.patches, other.patches)) return false;
  }
  return true;
}

/**
 * Directory names that say what a file is, not which application it belongs to: `app/hpa/hpa.yaml` scales
 * `app/deployment.yaml`.
 */
const component =
  /^(k8s|kubernetes|kube|manifests?|yamls?|deploy|deployments?|workloads?|services?|svc|hpas?|pdbs?|vpas?|keda|autoscal(ing|ers?)|scaling|scaledobjects?|monitoring|observability|metrics|storage|volumes?|pvcs?|networking|ingress|config|configs|configmaps?|rbac|nodepools?|nodeclass(es)?|karpenter|probes|availability|resources)$/i;

/** Directory names of variants, each with objects of the same names. */
const variant =
  /^(dev|devel|develop|development|test|tests|testing|qa|uat|stag(e|ing)|pre-?prod|prod|production|live|sandbox|demo|local|canary|blue|green|before|after|broken|healthy|fixed|good|bad|wrong|right|eks|gke|aks|[a-z]{2}(-[a-z]+)+-\d[a-z]?)([-_.].*)?$/i;

/** Directory names of what variants are made from. */
const common = /^(base|bases|common|shared|components?|overlays?|environments?|envs?|clusters?|variants?)$/i;

function plain(segment: string): string {
  return segment.replace(/^\d+[-_.]?/, '') || segment;
}

function isVariant(segment: string): boolean {
  return variant.test(plain(segment));
}

/** Two directories that are different variants of one thing, whatever lists both. */
export function areRivals(a: string, b: string): boolean {
  const left = a.split('/');
  const right = b.split('/');
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  return left.slice(same).some(isVariant) && right.slice(same).some(isVariant);
}

/**
 * The tree in which an object's names are looked up:
 *
 * 1. the nearest chart above the file, else
 * 2. the nearest kustomization, when it stands in the file's directory or lists the file, else
 * 3. the file's directory, without trailing names that only say what a file is (`hpa/`, `manifests/`).
 *
 * Two scopes belong together when they are equal; kustomizations also when one build reads both; plain directories
 * also when one is the direct child of the other and is no variant (`base`, `dev`, `prod`, a region). So
 * `app/hpa/hpa.yaml` finds `app/deployment.yaml`, while `dev/` and `prod/` never see each other.
 */
export function scopeOf(layout: Layout, path: string): string {
  const directory = directoryOf(path);
  for (const at of upwards(directory)) {
    if (layout.charts.has(at)) return at;
    const kustomization = layout.kustomizations.get(at);
    if (kustomization === undefined) continue;
    if (at === directory || kustomization.resources.has(path) || kustomization.patches.has(path)) return at;
  }
  const parts = directory.split('/');
  while (parts.length > 1 && component.test(plain(parts.at(-1) ?? ''))) parts.pop();
  return parts.join('/');
}

/** Whether two scopes belong together, as {@link scopeOf} says. */
export function belongTogether(layout: Layout, a: string, b: string): boolean {
  if (a === b) return true;
  const built = (scope: string): boolean => layout.charts.has(scope) || layout.kustomizations.has(scope);
  if (built(a) || built(b)) return layout.builtWith.get(a)?.has(b) ?? false;
  const [parent, child] = a.length < b.length ? [a, b] : [b, a];
  if (directoryOf(child) !== parent || (parent === '' && child === '')) return false;
  const segment = baseNameOf(child);
  return !isVariant(segment) && !common.test(plain(segment));
}
