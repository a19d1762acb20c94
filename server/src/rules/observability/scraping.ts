import { portsOf, runningContainers } from '../../kube/containers';
import type { PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { labelsOf, readSelector, selects, type Labels, type LabelSelector } from '../../kube/selectors';
import type { Truth } from '../../kube/truth';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, getIn, isScalar, itemsIn, mapIn, scalarIn, textIn, type ScalarNode } from '../../yaml/node';
import type { Place } from '../rule';
import { addOnsOf } from './configuration';

export const monitorKinds: readonly string[] = ['ServiceMonitor', 'PodMonitor'];

/** The labels of an object itself. */
export function objectLabels(resource: Resource): Labels {
  return labelsOf(getIn(resource.root, 'metadata', 'labels'), resource.role === 'kustomize-patch');
}

/** Whether a monitor looks into the namespace of an object. Without a choice it is its own. */
export function looksInto(monitor: Resource, namespace: string | undefined): boolean {
  const selector = mapIn(monitor.root, 'spec', 'namespaceSelector');
  if (selector !== undefined) {
    if (textIn(selector, 'any') === 'true') return true;
    const names = itemsIn(selector, 'matchNames').flatMap((item) => (isScalar(item) ? [item] : []));
    if (names.length > 0)
      return namespace === undefined || names.some(({ text, unknown }) => unknown || text === namespace);
  }
  return namespace === undefined || monitor.namespace === undefined || monitor.namespace === namespace;
}

/** Whether a monitor's selector takes an object with these labels. */
export function monitorSelects(monitor: Resource, labels: Labels): Truth {
  const selector = readSelector(getIn(monitor.root, 'spec', 'selector'));
  return selector === undefined ? 'unknown' : selects(selector, labels);
}

/** Objects of a kind around another, whatever their namespace. */
export function aroundIn(workspace: Workspace, from: Resource, kind: string): readonly Resource[] {
  return workspace.near({ ...from, namespace: undefined }, kind);
}

/** The ports that a monitor scrapes, by name. */
export function endpointPorts(monitor: Resource): readonly ScalarNode[] {
  const list = monitor.kind === 'PodMonitor' ? 'podMetricsEndpoints' : 'endpoints';
  return itemsIn(monitor.root, 'spec', list).flatMap((endpoint) => {
    const port = scalarIn(endpoint, 'port');
    return port === undefined || port.unknown || port.value === null ? [] : [port];
  });
}

/** Names of the ports of a Service; `undefined` where a template can add some. */
export function servicePortNames(service: Resource): readonly string[] | undefined {
  const ports = entryOf(mapIn(service.root, 'spec'), 'ports')?.value;
  if (ports?.kind !== 'sequence' || ports.open) return undefined;
  const names = ports.items.map((item) => scalarIn(item, 'name'));
  if (names.some((name) => name?.unknown === true)) return undefined;
  return names.flatMap((name) => (name === undefined || name.value === null ? [] : [name.text]));
}

/** Names of the ports of a pod; `undefined` where a template can add some. */
export function podPortNames(template: PodTemplate): readonly string[] | undefined {
  const names: string[] = [];
  for (const container of runningContainers(template)) {
    if (container.node.open) return undefined;
    const list = entryOf(container.node, 'ports')?.value;
    if (list?.kind === 'sequence' && list.open) return undefined;
    for (const { name, nameNode } of portsOf(container)) {
      if (nameNode?.unknown === true) return undefined;
      if (name !== undefined) names.push(name);
    }
  }
  return names;
}

/** Annotations by which a scraper that discovers pods and Services finds them. */
export function hasScrapeAnnotation(annotations: Labels): boolean {
  return (
    annotations.open ||
    [...annotations.values.keys()].some((key) =>
      /prometheus\.io\/(?:scrape|port)|k8s\.grafana\.com\/scrape|ad\.datadoghq\.com|dynatrace\.com\/scrape|victoriametrics/i.test(
        key,
      ),
    )
  );
}

/** A Prometheus that the operator runs, with the monitors that it takes. */
export interface PrometheusServer {
  readonly resource: Resource;
  readonly at: Place;
  /** `undefined` when it takes all, or that is only known later. */
  readonly selector: LabelSelector | undefined;
}

/** Every Prometheus of the workspace, and those of the chart kube-prometheus-stack around a monitor. */
export function prometheusServers(workspace: Workspace, monitor: Resource): readonly PrometheusServer[] {
  const key = monitor.kind === 'PodMonitor' ? 'podMonitorSelector' : 'serviceMonitorSelector';
  const own = workspace
    .everywhere('Prometheus', 'monitoring.coreos.com')
    .filter(({ role }) => role === 'resource')
    .map((resource): PrometheusServer => {
      const spec = mapIn(resource.root, 'spec');
      return {
        resource,
        at: entryOf(spec, key) ?? entryOf(resource.root, 'spec') ?? resource.root,
        selector: readSelector(getIn(spec, key)),
      };
    });
  const charts = ['HelmRelease', 'Application'].flatMap((kind) => aroundIn(workspace, monitor, kind));
  return [...own, ...charts.flatMap((resource) => ofStack(resource, key) ?? [])];
}

const stack = 'kube-prometheus-stack';

/**
 * The chart's Prometheus takes what carries the name of the release, unless its values say otherwise
 * (`serviceMonitorSelectorNilUsesHelmValues`, on by default).
 */
function ofStack(resource: Resource, key: string): PrometheusServer | undefined {
  if (!resource.placed.document.text.includes(stack) || resource.role === 'kustomize-patch') return undefined;
  const spec = mapIn(resource.root, 'spec');
  const source = [mapIn(spec, 'source'), ...itemsIn(spec, 'sources')].find(
    (each) => textIn(each, 'chart') === stack,
  );
  const isRelease = resource.kind === 'HelmRelease' && textIn(spec, 'chart', 'spec', 'chart') === stack;
  if (!isRelease && source === undefined) return undefined;
  const at = scalarIn(resource.root, 'metadata', 'name') ?? resource.root;
  const unknown: PrometheusServer = { resource, at, selector: undefined };
  const [addOn] = addOnsOf(resource).filter(({ name }) => name === stack);
  const hasValues =
    entryOf(spec, 'values') !== undefined ||
    entryOf(spec, 'valuesFrom') !== undefined ||
    entryOf(mapIn(source, 'helm'), 'values') !== undefined ||
    entryOf(mapIn(source, 'helm'), 'valuesObject') !== undefined ||
    entryOf(mapIn(source, 'helm'), 'valueFiles') !== undefined ||
    entryOf(mapIn(source, 'helm'), 'parameters') !== undefined;
  if (hasValues && (addOn === undefined || addOn.open)) return unknown;
  const settings = mapIn(addOn?.tree.root, 'prometheus', 'prometheusSpec');
  if (textIn(settings, `${key}NilUsesHelmValues`) === 'false') return unknown;
  const written = mapIn(settings, key);
  if (written !== undefined && written.entries.length > 0)
    return { resource, at, selector: readSelector(written) };
  const name = isRelease
    ? (textIn(spec, 'releaseName') ??
      (entryOf(spec, 'targetNamespace') === undefined ? resource.name : undefined))
    : (textIn(source, 'helm', 'releaseName') ?? resource.name);
  return name === undefined
    ? unknown
    : {
        resource,
        at,
        selector: { terms: [{ key: 'release', operator: 'In', values: [name] }], open: false, empty: false },
      };
}
