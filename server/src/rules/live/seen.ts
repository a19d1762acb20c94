import { containers, type Container } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { toNumber } from '../../kube/quantity';
import type { Resource } from '../../kube/resource';
import { agoText, sourceTitles } from '../../live/format';
import type { ContainerView, PodView } from '../../live/cluster';
import type { Observed } from '../../live/reading';
import { partValue } from '../../live/readings';
import type { LiveSnapshot } from '../../live/snapshot';
import { soleAmount } from '../resources/wording';

/** A container of the file with the ones that run from it. */
export interface SeenContainer {
  readonly container: Container;
  readonly running: readonly { readonly pod: PodView; readonly view: ContainerView }[];
}

/** Containers of a workload that some pod of the cluster has too. */
export function seenContainers(resource: Resource, live: LiveSnapshot): readonly SeenContainer[] {
  const pods = partValue(live.cluster.pods) ?? [];
  const byName = new Map<string, { readonly pod: PodView; readonly view: ContainerView }[]>();
  for (const pod of pods) {
    for (const view of pod.containers) {
      const list = byName.get(view.name);
      if (list === undefined) byName.set(view.name, [{ pod, view }]);
      else list.push({ pod, view });
    }
  }
  const seen = new Set<string>();
  return podTemplates(resource)
    .flatMap((template) => containers(template))
    .flatMap((container) => {
      const running = byName.get(container.name) ?? [];
      // Leader and worker of a group can share a name; what is seen belongs to the first that has it.
      if (container.name === '' || running.length === 0 || seen.has(container.name)) return [];
      seen.add(container.name);
      return [{ container, running }];
    });
}

/** An amount of the file as a number; nothing where it is not written or not known. */
export function written(
  container: Container,
  where: 'requests' | 'limits',
  name: string,
): number | undefined {
  const amount = soleAmount(container[where], name);
  return amount?.quantity === undefined ? undefined : toNumber(amount.quantity);
}

/** A statement of evidence: what, its value, when and by whom it was said. */
export function evidenceOf(what: string, observed: Observed, live: LiveSnapshot, text: string): string {
  if (observed.kind === 'absent') return `${what}: ${observed.message}`;
  return `${what}: ${text}, ${agoText(observed.at, live.at)}, ${sourceTitles[observed.source.source]} (${observed.source.from})`;
}
