import { isServing } from '../../kube/ai-workload';
import { modelServers, type ModelServer } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { labelsOf } from '../../kube/selectors';
import type { Index } from '../../workspace/indexes';
import type { Workspace } from '../../workspace/workspace';
import { getIn } from '../../yaml/node';
import { placeOf } from '../probes/place';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { hasScrapeAnnotation, looksInto, aroundIn, monitorSelects, objectLabels } from './scraping';

export default defineRule({
  id: 'metrics-not-scraped',
  summary: 'The metrics of a model server are collected',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role !== 'resource') return;
    for (const template of podTemplates(resource)) {
      // Operators scrape, or label for it, in their own ways.
      if (template.operatorOwned || !isServing(resource, template)) continue;
      const server = modelServers(template).find(hasMetrics);
      if (server === undefined || isScraped(workspace, resource, template)) continue;
      if (mayBePatched(workspace, resource, 'prometheus.io')) continue;
      const { container, metricsPath } = server;
      report({
        at: placeOf(container),
        message: `${containerTitle(container)} (${server.title}) reports its queue and cache at ${metricsPath ?? '/metrics'}, and no ServiceMonitor, PodMonitor or scrape annotation here selects it: nobody sees it saturate, and nothing can scale on it`,
        ...containerField(container),
      });
    }
  },
});

function hasMetrics({ metricsPath, engine, arguments: { get } }: ModelServer): boolean {
  if (metricsPath === undefined) return false;
  // These report only when they are told to.
  if (engine === 'sglang') return get('enable-metrics').state === 'known';
  return engine !== 'llama.cpp' || get('metrics').state === 'known';
}

/** Other ways of finding what to scrape: a collector, an agent, a scrape configuration. */
const collectors: Index<Resource> = {
  read: ({ resources }, add) => {
    for (const resource of resources) {
      const { kind, placed } = resource;
      const { text } = placed.document;
      const collects =
        kind === 'OpenTelemetryCollector' ||
        kind === 'AmazonCloudWatchAgent' ||
        (kind === 'ConfigMap' && /kubernetes_sd_configs|scrape_configs|prometheus_config/.test(text)) ||
        ((kind === 'HelmRelease' || kind === 'Application') &&
          /additionalScrapeConfigs|scrape_configs|additionalPodMonitors|additionalServiceMonitors|prometheus/i.test(
            text,
          ));
      if (collects) add(resource.scope, resource);
    }
  },
  uriOf: ({ uri }) => uri,
};

function isScraped(workspace: Workspace, resource: Resource, template: PodTemplate): boolean {
  if (hasScrapeAnnotation(template.annotations)) return true;
  for (const monitor of aroundIn(workspace, resource, 'PodMonitor')) {
    if (looksInto(monitor, resource.namespace) && monitorSelects(monitor, template.labels) !== 'no')
      return true;
  }
  const { services } = workspace.references(resource);
  const monitors = aroundIn(workspace, resource, 'ServiceMonitor');
  for (const { resource: service } of services) {
    if (hasScrapeAnnotation(labelsOf(getIn(service.root, 'metadata', 'annotations')))) return true;
    const labels = objectLabels(service);
    if (
      monitors.some(
        (monitor) => looksInto(monitor, service.namespace) && monitorSelects(monitor, labels) !== 'no',
      )
    )
      return true;
  }
  return workspace.around(resource).some((scope) => workspace.index(collectors).get(scope).length > 0);
}
