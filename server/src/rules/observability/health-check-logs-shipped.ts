import type { Resource } from '../../kube/resource';
import { entryOf, itemsIn, mapIn, isScalar } from '../../yaml/node';
import { defineRule, type Place } from '../rule';
import { addOnsOf, collectorTrees, fluentSections } from './configuration';

/** Paths and agents of health checks, in whatever a filter calls them. */
const healthChecks = /health|readyz|livez|\bready\b|\blive\b|kube-probe|ping/i;

export default defineRule({
  id: 'health-check-logs-shipped',
  summary: 'Logs of health checks are dropped before they are shipped',
  severity: 'info',
  needs: 'document',
  kinds: ['ConfigMap', 'OpenTelemetryCollector', 'HelmRelease', 'Application'],
  fixable: 'none',
  check(resource, { report }) {
    const { text } = resource.placed.document;
    if (!/fluent|filelog/i.test(text) && !/\[(?:INPUT|OUTPUT)\]|pipeline\s*:/i.test(text)) return;
    // Other values may bring the filter.
    if (addOnsOf(resource).some(({ open }) => open)) return;
    const at = ofFluentBit(resource) ?? ofCollector(resource);
    if (at === undefined) return;
    report({
      at,
      message:
        'No filter drops the log lines of health checks: with probes every few seconds they are most of what a quiet model server writes, and are shipped and paid for',
    });
  },
});

/** Files of containers, of which any may be a server's. */
const containerLogs = /\/var\/log\/(?:containers|pods)/;

function ofFluentBit(resource: Resource): Place | undefined {
  const sections = fluentSections(resource);
  const reads = sections.some(
    ({ kind, settings }) =>
      kind === 'input' &&
      /^tail$/i.test(settings.get('name')?.value ?? '') &&
      containerLogs.test(settings.get('path')?.value ?? ''),
  );
  const output = sections.find(
    ({ kind, settings }) =>
      kind === 'output' && !/^(?:null|stdout|exit|counter)$/i.test(settings.get('name')?.value ?? ''),
  );
  if (!reads || output === undefined) return undefined;
  // The health check of Fluent Bit itself is none.
  const filters = sections.filter(({ kind }) => kind === 'filter');
  const drops = filters.some(({ settings }) =>
    [...settings].some(
      ([key, { value }]) =>
        (/^(?:exclude|regex|logical_op|call|script|rule)/.test(key) && healthChecks.test(value)) ||
        /^(?:script|code)$/.test(key),
    ),
  );
  // A Lua script may do it anywhere.
  return drops ? undefined : output.settings.get('name')?.at;
}

function ofCollector(resource: Resource): Place | undefined {
  for (const tree of collectorTrees(resource)) {
    const receivers = mapIn(tree.root, 'receivers')?.entries ?? [];
    const filelog = receivers.find(
      ({ key, value }) =>
        /^filelog(?:\/|$)/.test(key.text) &&
        itemsIn(value, 'include').some((item) => isScalar(item) && containerLogs.test(item.text)),
    );
    if (filelog === undefined) continue;
    const processors = entryOf(tree.root, 'processors');
    const filters = (mapIn(tree.root, 'processors')?.entries ?? []).filter(({ key }) =>
      /^(?:filter|transform|logdedup|tail_sampling)(?:\/|$)/.test(key.text),
    );
    // What a filter says is its own language; that there is one is enough.
    if (filters.length > 0 || processors?.value.kind === 'scalar') continue;
    if (
      itemsIn(filelog.value, 'operators').some(
        (item) => entryOf(item, 'type') !== undefined && isFilter(item),
      )
    )
      continue;
    return tree.place(filelog);
  }
  return undefined;
}

function isFilter(item: Parameters<typeof entryOf>[0]): boolean {
  const type = entryOf(item, 'type')?.value;
  return isScalar(type) && (type.text === 'filter' || type.text === 'router');
}
