import type { Resource } from '../../kube/resource';
import { selects } from '../../kube/selectors';
import type { Workspace } from '../../workspace/workspace';
import { podCarrierKinds, podTemplates } from '../../kube/pod-carriers';
import { entryOf, mapIn, scalarIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { isNamedByOverlay } from '../overlays';
import { defineRule, type Report } from '../rule';
import { listWords } from '../placement/words';
import {
  aroundIn,
  endpointPorts,
  looksInto,
  monitorKinds,
  monitorSelects,
  objectLabels,
  podPortNames,
  prometheusServers,
  servicePortNames,
} from './scraping';

export default defineRule({
  id: 'servicemonitor-not-selected',
  summary: 'A ServiceMonitor is selected by Prometheus, and scrapes a port that is there',
  severity: 'info',
  needs: 'workspace',
  kinds: monitorKinds,
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.group !== 'monitoring.coreos.com' || resource.role !== 'resource') return;
    const found = [unselected(workspace, resource), ...missingPorts(workspace, resource)];
    for (const each of found) if (each !== undefined) report(each);
  },
});

/** Every Prometheus of the workspace asks for labels that the monitor does not have. */
function unselected(workspace: Workspace, monitor: Resource): Report | undefined {
  const servers = prometheusServers(workspace, monitor);
  const [first] = servers;
  const labels = objectLabels(monitor);
  if (first === undefined) return undefined;
  for (const { selector } of servers) {
    if (selector === undefined || selects(selector, labels) !== 'no') return undefined;
    if (selector.terms.some(({ key }) => isNamedByOverlay(workspace, monitor, key))) return undefined;
  }
  const wanted = first.selector?.terms
    .map(({ key, values }) => (values?.length === 1 ? `${key}=${values[0] ?? ''}` : key))
    .join(', ');
  const metadata = mapIn(monitor.root, 'metadata');
  const at = entryOf(metadata, 'labels') ?? scalarIn(metadata, 'name') ?? scalarIn(monitor.root, 'kind');
  return at === undefined
    ? undefined
    : {
        at,
        message: `${titleOf(first.resource)} selects only monitors with ${wanted ?? 'other labels'}, which ${titleOf(monitor)} does not have: nothing is scraped`,
        related: [{ resource: first.resource, at: first.at, message: 'What Prometheus selects' }],
      };
}

/** Ports that none of the selected Services, or pods, have. */
function missingPorts(workspace: Workspace, monitor: Resource): readonly Report[] {
  const targets: { readonly resource: Resource; readonly names: readonly string[] }[] = [];
  if (monitor.kind === 'PodMonitor') {
    for (const kind of podCarrierKinds) {
      for (const resource of aroundIn(workspace, monitor, kind)) {
        if (!looksInto(monitor, resource.namespace)) continue;
        for (const template of podTemplates(resource)) {
          const match = monitorSelects(monitor, template.labels);
          if (match === 'no') continue;
          const names = podPortNames(template);
          if (match === 'unknown' || names === undefined || template.operatorOwned) return [];
          targets.push({ resource, names });
        }
      }
    }
  } else {
    for (const service of aroundIn(workspace, monitor, 'Service')) {
      if (!looksInto(monitor, service.namespace)) continue;
      const match = monitorSelects(monitor, objectLabels(service));
      if (match === 'no') continue;
      const names = servicePortNames(service);
      if (match === 'unknown' || names === undefined) return [];
      targets.push({ resource: service, names });
    }
  }
  const [first] = targets;
  if (first === undefined) return [];
  return endpointPorts(monitor)
    .filter((port) => targets.every(({ names }) => !names.includes(port.text)))
    .map((port) => ({
      at: port,
      message: `${titleOf(first.resource)} has no port named "${port.text}"${first.names.length === 0 ? '' : ` (it has ${listWords(first.names.map((name) => `"${name}"`))})`}: nothing is scraped`,
      related: targets.slice(0, 3).map(({ resource }) => ({
        resource,
        at:
          entryOf(mapIn(resource.root, 'spec'), 'ports') ??
          scalarIn(resource.root, 'metadata', 'name') ??
          resource.root,
        message: 'Selected by the monitor',
      })),
    }));
}
