import { lookupMetric } from '../../kube/metric-names/lookup';
import type { OldMetric } from '../../kube/metric-names/metric';
import { metricFamilies } from '../../kube/metric-names/lookup';
import { vllm } from '../../kube/metric-names/engines';
import type { Workspace } from '../../workspace/workspace';
import type { Resource } from '../../kube/resource';
import { defineRule, type Severity } from '../rule';
import { isBefore, releaseOf, vllmReleases, type Release } from './engine-releases';
import { mentionKinds, metricMentions, type MetricMention } from './mentions';

export default defineRule({
  id: 'outdated-metric-name',
  summary: 'Metrics are read by the names that they have today',
  severity: 'warning',
  needs: 'workspace',
  kinds: mentionKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const mention of metricMentions(resource)) {
      if (mention.source === 'cloudwatch') continue;
      const flat = mention.source === 'adapter';
      const found = lookupMetric(mention.name, flat || /^(?:ray_)?vllm_/.test(mention.name));
      if (found?.state !== 'old' || isCovered(mention, found.metric, found.suffix)) continue;
      const { metric, family, suffix } = found;
      const age = family === vllm ? ageOf(workspace, resource, metric) : gone;
      if (age === undefined) continue;
      const replacement = metric.use === undefined ? undefined : spelt(mention, metric, suffix);
      const edits = replacement === undefined ? undefined : mention.rename(replacement);
      const note =
        metric.note === undefined ? '' : replacement === undefined ? `; ${metric.note}` : `, ${metric.note}`;
      report({
        at: mention.at,
        severity: age.severity,
        message: `${family.title} ${age.verb} "${mention.name}"${age.since}${replacement === undefined ? '' : `, it is "${replacement}" now`}${note}: ${consequence(mention, age)}`,
        fixes: [
          edits && {
            title: `Write ${replacement ?? ''}`,
            safe: metric.use?.same === true && age.isGone,
            edits,
          },
        ],
      });
    }
  },
});

interface Age {
  readonly verb: string;
  readonly since: string;
  readonly severity: Severity;
  readonly isGone: boolean;
}

const gone: Age = { verb: 'has no', since: ' any more', severity: 'warning', isGone: true };

/** How old the name is for the servers around; `undefined` where they still have no other. */
function ageOf(workspace: Workspace, resource: Resource, metric: OldMetric): Age | undefined {
  const removed = metric.removed === undefined ? undefined : releaseOf(metric.removed);
  const releases = vllmReleases(workspace, resource);
  const since = removed === undefined ? '' : ` since ${removed[0]}.${removed[1]}`;
  if (releases === undefined || removed === undefined)
    return { ...gone, since: since === '' ? gone.since : since };
  const first = firstRelease(metric);
  if (first !== undefined && releases.some((release) => isBefore(release, first))) return undefined;
  if (releases.every((release) => isBefore(release, removed)))
    return {
      verb: 'takes away',
      since: ` in ${removed[0]}.${removed[1]}`,
      severity: 'info',
      isGone: false,
    };
  return { ...gone, since: `${since} (the image is ${shown(releases)})` };
}

function shown(releases: readonly Release[]): string {
  return [...new Set(releases.map((release) => release.join('.')))].join(', ');
}

/** The first release that has the new name, else the one that began to call the old one old. */
function firstRelease({ use, deprecated }: OldMetric): Release | undefined {
  const current = metricFamilies.flatMap((family) => family.metrics).find(({ name }) => name === use?.name);
  const text = current?.since ?? deprecated;
  return text === undefined ? undefined : releaseOf(text);
}

/** The new name in the spelling of the old one: with its suffix, and `_` for `:` behind an adapter. */
function spelt({ name, source }: MetricMention, metric: OldMetric, suffix: string): string | undefined {
  if (metric.use === undefined) return undefined;
  // Adapters leave the end of a counter's name out.
  const isShort =
    source === 'adapter' && metric.name.endsWith('_total') && suffix === '' && !name.endsWith('_total');
  const base =
    isShort && metric.use.name.endsWith('_total')
      ? metric.use.name.slice(0, -'_total'.length)
      : metric.use.name;
  const full = base + suffix;
  if (name.includes(':') || !full.includes(':')) return full;
  return `${name.startsWith('ray_') ? 'ray_' : ''}${full.replaceAll(':', '_')}`;
}

/** The same query or list names the new series too, for servers of both ages. */
function isCovered(mention: MetricMention, metric: OldMetric, suffix: string): boolean {
  const replacement = spelt(mention, metric, suffix);
  return replacement !== undefined && mention.beside.includes(replacement);
}

function consequence({ source }: MetricMention, { isGone }: Age): string {
  if (!isGone) return 'with that release there is no value';
  switch (source) {
    case 'promql':
      return 'the query returns nothing';
    case 'relabeling':
      return 'none of its series is kept';
    default:
      return 'the autoscaler finds no value';
  }
}
