import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { parseQuantity, compareQuantities } from '../../kube/quantity';
import { partValue } from '../../live/readings';
import type { LiveSnapshot } from '../../live/snapshot';
import { mapIn, scalarIn, type ScalarNode } from '../../yaml/node';
import { inSentence, titleOf } from '../naming';
import { defineRule, type Report } from '../rule';
import { seenContainers, type SeenContainer } from './seen';

type Plain = Readonly<Record<string, unknown>>;

export default defineRule({
  id: 'differs-from-cluster',
  summary: 'What runs is what the file says',
  severity: 'info',
  needs: 'live',
  kinds: ['pod-carrier', ...autoscalerKinds],
  fixable: 'none',
  check(resource, { report, live }) {
    // A patch or a template is a part of what is applied, and its text is not the value that runs.
    if (resource.role !== 'resource') return;
    const title = inSentence(titleOf(resource));
    const tell = (found: readonly Difference[]): void => {
      for (const { at, what, there, container } of found) {
        const difference: Report = {
          at,
          message: `The cluster runs ${title} with another ${what}: ${JSON.stringify(there)} there, ${JSON.stringify(at.text)} here; the file is not applied, or somebody changed the object`,
        };
        report(container === undefined ? difference : { ...difference, container });
      }
    };
    if (autoscalerOf(resource) !== undefined) tell(boundsOf(resource.root, live));
    else tell(seenContainers(resource, live).flatMap(containerDifferences));
  },
});

interface Difference {
  readonly at: ScalarNode;
  /** `image`, `memory limit`. */
  readonly what: string;
  readonly there: string;
  readonly container?: string;
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Bounds of an autoscaler against those of the HPA that runs. */
function boundsOf(root: Parameters<typeof scalarIn>[0], live: LiveSnapshot): readonly Difference[] {
  const spec = partValue(live.cluster.hpa)?.spec;
  if (!isPlain(spec)) return [];
  const pairs = [
    ['minReplicas', 'minReplicas', 'minimum'],
    ['minReplicaCount', 'minReplicas', 'minimum'],
    ['maxReplicas', 'maxReplicas', 'maximum'],
    ['maxReplicaCount', 'maxReplicas', 'maximum'],
  ] as const;
  return pairs.flatMap(([key, there, what]): readonly Difference[] => {
    const at = scalarIn(root, 'spec', key);
    const applied = spec[there];
    if (at === undefined || at.unknown || typeof at.value !== 'number' || typeof applied !== 'number')
      return [];
    // KEDA scales to zero by itself; the HPA that it makes begins at 1.
    const own = key === 'minReplicaCount' ? Math.max(1, at.value) : at.value;
    return own === applied ? [] : [{ at, what, there: String(applied) }];
  });
}

/**
 * Image and amounts of a container against the newest pod that runs it: pods of an older revision go on for a while
 * during a rollout.
 */
function containerDifferences({ container, running }: SeenContainer): readonly Difference[] {
  const [newest] = [...running].sort((a, b) => b.pod.createdAt - a.pod.createdAt);
  if (newest === undefined) return [];
  const { view } = newest;
  const found: Difference[] = [];
  const { image } = container;
  if (
    image !== undefined &&
    !image.unknown &&
    container.imageText !== undefined &&
    view.image !== '' &&
    !isSameImage(container.imageText, view.image)
  ) {
    found.push({ at: image, what: 'image', there: view.image, container: container.name });
  }
  const resources = mapIn(container.node, 'resources');
  for (const where of ['requests', 'limits'] as const) {
    const applied = view[where];
    for (const entry of mapIn(resources, where)?.entries ?? []) {
      const { key, value } = entry;
      if (value.kind !== 'scalar' || key.unknown || value.unknown || value.borrowed) continue;
      const here = parseQuantity(String(value.value));
      const amount = applied[key.text];
      if (here === undefined || amount === undefined) continue;
      const there = parseQuantity(plainAmount(amount));
      if (there === undefined || compareQuantities(here, there) === 0) continue;
      const what = `${key.text} ${where === 'requests' ? 'request' : 'limit'}`;
      found.push({ at: value, what, there: amountText(key.text, amount), container: container.name });
    }
  }
  return found;
}

/** A number without an exponent, as far as amounts of resources go. */
function plainAmount(amount: number): string {
  return Number.isInteger(amount) ? String(BigInt(amount)) : amount.toFixed(3);
}

function amountText(resource: string, amount: number): string {
  const mebi = amount / 1024 ** 2;
  if (resource !== 'memory' || !Number.isInteger(mebi)) return plainAmount(amount);
  return mebi % 1024 === 0 ? `${mebi / 1024}Gi` : `${mebi}Mi`;
}

/** Registries are left out where they are Docker's own; a digest that a runtime adds says nothing about the tag. */
function isSameImage(here: string, there: string): boolean {
  const plain = (image: string): string => {
    const short = image.replace(/^(docker\.io|index\.docker\.io)\//, '').replace(/^library\//, '');
    const tagged = /[:@][^/]*$/.test(short) ? short : `${short}:latest`;
    return here.includes('@') ? tagged : tagged.replace(/@sha256:.*$/, '');
  };
  // A runtime that knows an image by its digest alone does not tell its name.
  return there.startsWith('sha256:') || plain(here) === plain(there);
}
