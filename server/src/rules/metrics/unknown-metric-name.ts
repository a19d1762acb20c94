import {
  containerInsightsDimensions,
  containerInsightsMetrics,
} from '../../kube/metric-names/container-insights';
import { lookupMetric } from '../../kube/metric-names/lookup';
import { triggersOf } from '../../kube/keda/read-triggers';
import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { scalarIn, textIn } from '../../yaml/node';
import { listWords } from '../placement/words';
import { defineRule, type Fix, type Report } from '../rule';
import { isBefore, releaseOf, vllmReleases } from './engine-releases';
import { mentionKinds, metricMentions, ruleExpressions, type MetricMention } from './mentions';
import { meantMetric } from './meant';

export default defineRule({
  id: 'unknown-metric-name',
  summary: 'Metrics are read by names that somebody reports',
  severity: 'warning',
  needs: 'workspace',
  kinds: mentionKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const mention of metricMentions(resource)) {
      const found =
        mention.source === 'cloudwatch'
          ? unknownInCloudWatch(mention)
          : unknownName(workspace, resource, mention);
      if (found !== undefined) report(found);
    }
    for (const found of unknownDimensions(resource)) report(found);
  },
});

function renameFix(mention: MetricMention, name: string | undefined): Fix | undefined {
  const edits = name === undefined ? undefined : mention.rename(name);
  return edits && { title: `Write ${name ?? ''}`, safe: false, edits };
}

/** Only where Prometheus itself is asked; behind an adapter, names are as somebody has configured them. */
function unknownName(workspace: Workspace, resource: Resource, mention: MetricMention): Report | undefined {
  const { name, source, at } = mention;
  // A name with more than one colon is that of a recording rule, by Prometheus's own convention.
  const isRaw = source === 'adapter' ? /^(?:vllm:|DCGM_FI_)/.test(name) : true;
  if (!isRaw || name.indexOf(':') !== name.lastIndexOf(':')) return undefined;
  if (source === 'promql' && containerInsightsMetrics.includes(name) && /gpu|neuroncore/.test(name))
    return onlyInCloudWatch(mention);
  const found = lookupMetric(name);
  if (found === undefined || found.state === 'old') return undefined;
  if (recorded(workspace).has(name)) return undefined;
  const then =
    source === 'relabeling'
      ? 'none of its series is kept'
      : source === 'adapter'
        ? 'the autoscaler finds no value'
        : 'the query returns nothing';
  switch (found.state) {
    case 'current': {
      const first = found.metric.since === undefined ? undefined : releaseOf(found.metric.since);
      const releases = first === undefined ? undefined : vllmReleases(workspace, resource);
      if (first === undefined || releases?.every((release) => isBefore(release, first)) !== true)
        return undefined;
      const older = found.family.old.find(({ use }) => use?.name === found.metric.name);
      return {
        at,
        message: `${found.family.title} has "${found.metric.name}" since ${first.join('.')}, and the image is ${releases.map((release) => release.join('.')).join(', ')}${older === undefined ? '' : `, which calls it "${older.name}"`}: ${then}`,
        fixes: [older?.use?.same === true ? renameFix(mention, older.name + found.suffix) : undefined],
      };
    }
    case 'misspelt': {
      const [only, ...others] = found.series;
      // Adapters make the counter into a rate of that name; a relabeling list is looked at sample by sample.
      if (source === 'adapter') return undefined;
      return {
        at,
        message: `"${name}" is a ${found.metric.type} of ${found.family.title}, whose series ${others.length === 0 ? `is "${only ?? ''}"` : `are ${listWords(found.series.map((each) => `"${each}"`))}`}: ${then}`,
        fixes: [others.length === 0 ? renameFix(mention, only) : undefined],
      };
    }
    case 'unknown': {
      const { family } = found;
      const meant = meantMetric(name, family);
      if (family.completeness === 'open' && meant?.sure !== true) return undefined;
      const release = family.release === undefined ? '' : ` (up to ${family.release})`;
      return {
        at,
        // A name that is like no other may be newer than the list.
        ...(family.completeness === 'grows' && meant === undefined ? { severity: 'info' as const } : {}),
        message: `${family.title}${release} reports no "${name}"${meant === undefined ? '' : `, but "${meant.name}"`}: ${then}`,
        fixes: [meant?.sure === true ? renameFix(mention, meant.name) : undefined],
      };
    }
  }
}

const recordedNames = new WeakMap<Workspace, ReadonlySet<string>>();

/** Names that recording rules of the workspace make. */
function recorded(workspace: Workspace): ReadonlySet<string> {
  let names = recordedNames.get(workspace);
  if (names === undefined) {
    const rules = workspace.everywhere('PrometheusRule', 'monitoring.coreos.com');
    names = new Set(rules.flatMap(ruleExpressions).flatMap(({ record }) => record ?? []));
    recordedNames.set(workspace, names);
  }
  return names;
}

/** What DCGM exporter and Neuron monitor call it. */
const elsewhere: readonly (readonly [RegExp, string])[] = [
  [/gpu_utilization$/, 'DCGM_FI_DEV_GPU_UTIL'],
  [/gpu_memory_used$/, 'DCGM_FI_DEV_FB_USED, in MiB'],
  [/gpu_memory_(?:utilization|total)$/, 'DCGM_FI_DEV_FB_USED and DCGM_FI_DEV_FB_FREE, in MiB'],
  [/gpu_power_draw$/, 'DCGM_FI_DEV_POWER_USAGE'],
  [/gpu_temperature$/, 'DCGM_FI_DEV_GPU_TEMP'],
  [/gpu_tensor_core_utilization$/, 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE'],
  [/neuroncore_utilization$/, 'neuroncore_utilization_ratio'],
];

function onlyInCloudWatch({ name, at }: MetricMention): Report {
  const other = elsewhere.find(([pattern]) => pattern.test(name))?.[1];
  return {
    at,
    message: `"${name}" is in CloudWatch (Container Insights) only${other === undefined ? '' : `, Prometheus has ${other}`}: the query returns nothing`,
  };
}

function unknownInCloudWatch(mention: MetricMention): Report | undefined {
  const { name, at } = mention;
  if (containerInsightsMetrics.includes(name)) return undefined;
  const byDcgm = elsewhere.find(([, other]) => other.split(/[ ,]/)[0] === name)?.[0];
  const meant =
    byDcgm === undefined
      ? meantMetric(name, { metrics: containerInsightsMetrics.map((each) => ({ name: each })) })
      : undefined;
  const dcgmName =
    byDcgm === undefined
      ? undefined
      : containerInsightsMetrics.find((each) => each.startsWith('container_') && byDcgm.test(each));
  const suggestion = meant?.name ?? dcgmName;
  return {
    at,
    message: `Container Insights publishes no "${name}"${suggestion === undefined ? '' : `, but "${suggestion}"`}: CloudWatch has no data, and KEDA takes that as 0`,
    fixes: [meant?.sure === true ? renameFix(mention, meant.name) : undefined],
  };
}

/** CloudWatch keeps each set of dimensions by itself: a set that nobody publishes has no data. */
function unknownDimensions(resource: Resource): readonly Report[] {
  if (resource.kind !== 'ScaledObject' && resource.kind !== 'ScaledJob') return [];
  return triggersOf(resource).flatMap(({ type, metadataNode }): readonly Report[] => {
    if (type !== 'aws-cloudwatch' || textIn(metadataNode, 'namespace') !== 'ContainerInsights') return [];
    const metric = textIn(metadataNode, 'metricName');
    const node = scalarIn(metadataNode, 'dimensionName');
    const published = metric === undefined ? undefined : containerInsightsDimensions(metric);
    if (metric === undefined || node === undefined || node.unknown || published === undefined) return [];
    const names = node.text.split(';').map((name) => name.trim());
    const written = [...names].sort().join(' ');
    if (published.includes(written)) return [];
    const sets = published.map((set) => set.split(' ').join(';'));
    return [
      {
        at: node,
        message: `Container Insights does not publish ${metric} by ${names.join(';')}, only by ${listWords(sets, 'or')}: CloudWatch has no data, and KEDA takes that as 0`,
      },
    ];
  });
}
