import { listIn, partIn, partsIn, textAt, textOf, type Part } from '../../kube/part';
import type { Inspection } from './inspection';
import { shown } from './inspection';

/** Groups of rules are a map by their name. */
export function checkPrometheusRule(cx: Inspection, root: Part): void {
  cx.unique(
    partsIn(partIn(root, 'spec'), 'groups'),
    (group) => {
      const name = textAt(group, 'name');
      return name === undefined ? undefined : { key: name.text, at: name.node };
    },
    (key) => `Two groups of rules are called ${shown(key)}`,
  );
}

export function checkMonitor(cx: Inspection, root: Part): void {
  cx.unique(
    listIn(partIn(root, 'spec'), 'scrapeProtocols')?.items ?? [],
    (item) => {
      const text = textOf(item);
      return text === undefined ? undefined : { key: text.text, at: item };
    },
    (key) => `The protocol ${key} stands twice`,
  );
}
