import type { Config } from '../engine/config';
import type { Finding } from '../engine/finding';
import { readinessOf } from '../engine/readiness/readiness';
import type { Resource } from '../kube/resource';
import { evaluateAlarms } from '../live/alarms';
import type { Baseline } from '../live/baseline';
import { workloadCost } from '../live/cost';
import { countText, listed } from '../live/format';
import { recentFailures } from '../live/pods';
import type { Instant } from '../live/reading';
import type { LiveSnapshot } from '../live/snapshot';
import { defaultThresholds } from '../live/thresholds';
import type { Thresholds } from '../live/thresholds';
import { triage } from '../live/triage';
import { limitOf } from '../live/verdict/condition';
import { verdictOf } from '../live/verdict/verdict';
import type { MetricId } from '../live/vocabulary';
import { ranges } from '../live/want';
import type { Workspace } from '../workspace/workspace';
import { chartGroups } from './charts';
import type { ChartOptions } from './charts';
import { judgeContext } from './context';
import { markdownOf } from './markdown';
import { markersOf } from './markers';
import type { OverviewView, PanelModel, PanelTitle, VerdictView } from './model';
import { isAbout, placesOf } from './places';
import type { Places } from './places';
import { placementsOf } from './placements';
import { podsSection } from './pods-section';
import { nodePrices } from './prices';
import { scalingSection } from './scaling';
import type { Scaling } from '../rules/live/scaling-facts';
import {
  alarmsSection,
  baselineSection,
  controlPlaneSection,
  costSection,
  findingsSection,
  logsSection,
  type LogsQueryOption,
  readinessSection,
  triageSection,
} from './sections';
import { stateRank } from './shown';
import { sourceViews } from './sources-view';
import { overviewTiles, tilesOf } from './tiles';
import type { TileContext } from './tiles';
import { verdictView } from './verdict-view';

export interface PanelOptions {
  /** The object under the cursor. */
  readonly resource?: Resource | undefined;
  /** For the readiness checklist; without it that tab says that it is not there. */
  readonly configFor?: (uri: string) => Config;
  readonly baseline?: Baseline | undefined;
  readonly thresholds?: Thresholds;
  readonly spotPriceFactor?: number;
  readonly logsQueries?: readonly LogsQueryOption[];
}

/** How far back a killed container is triaged, beside those that still crash: the range, and at least an hour. */
const triageWindow = 3_600_000;

/**
 * Everything that the panel shows, of what the files say, what the linter found, and what the sources said. A pure
 * function: the same arguments give the same model.
 *
 * @param findings of the whole workspace or of the file; the panel picks those that are about its objects
 */
export function buildPanelModel(
  workspace: Workspace,
  findings: readonly Finding[],
  live: LiveSnapshot,
  now: Instant,
  options: PanelOptions = {},
): PanelModel {
  const { resource, baseline, thresholds = defaultThresholds, spotPriceFactor } = options;
  const places = placesOf(workspace, resource, findings);
  const { workload } = places;
  const { context, scaling } = judgeContext(live, now, {
    thresholds,
    workload,
    ...(baseline === undefined ? {} : { baseline }),
  });
  const { readings } = context;
  const [failing] = recentFailures(readings.pods ?? [], now, triageWindow);
  const verdict = verdictView(verdictOf(context), places, now, failing?.container.name);
  const cost = workloadCost(readings, nodePrices(spotPriceFactor === undefined ? {} : { spotPriceFactor }));
  const { duration } = ranges[live.want.range];
  const window = { from: now - duration, to: now };
  const vram = limitOf('vramRisk', context);
  const tiles: TileContext = {
    readings,
    now,
    thresholds,
    vramLimit: vram.value,
    baseline,
    scaling,
    cost,
  };
  const about = [resource, workload].filter((object) => object !== undefined);
  const own = findings.filter((finding) => about.some((object) => isAbout(finding, object)));
  const model: Omit<PanelModel, 'markdown'> = {
    at: now,
    title: titleOf(live, places),
    range: live.want.range,
    window,
    refresh: live.refresh,
    verdict,
    tiles: tilesOf(tiles),
    charts: chartGroups(readings, now, {
      thresholds,
      vramLimit: vram,
      baseline,
      targets: targetsOf(scaling),
    }),
    markers: markersOf(readings, window.from, window.to),
    scaling: scalingSection(readings, scaling, placementsOf(readings), places, now),
    pods: podsSection(readings, places, now),
    alarms: alarmsSection(evaluateAlarms(context), live.alarms, now),
    cost: costSection(cost, readings, now),
    controlPlane: controlPlaneSection(readings, now),
    triage: triageSection(triage(readings, now, Math.max(triageWindow, duration)), readings, places, now),
    logs: logsSection(readings, options.logsQueries ?? [], now),
    baseline: baselineSection(baseline, readings, thresholds, now),
    readiness: readinessSection(
      workload === undefined || options.configFor === undefined
        ? undefined
        : readinessOf(workspace, options.configFor, workload),
    ),
    findings: findingsSection(own),
    overview: overviewOf(tiles, verdict),
    sources: sourceViews(live.sources, now),
  };
  return { ...model, markdown: markdownOf(model) };
}

function titleOf({ want, context }: LiveSnapshot, { object }: Places): PanelTitle {
  const { kind, name, namespace } = want.object;
  const parts = [
    context.demo ? 'demo' : `context ${context.name}`,
    context.account === undefined ? undefined : `account ${context.account}`,
    context.region,
    context.serverVersion,
  ].filter((part) => part !== undefined);
  return {
    text: `${kind} ${name}`,
    kind,
    name,
    namespace,
    context: parts.join(', '),
    demo: context.demo,
    ...(object === undefined ? {} : { place: object }),
  };
}

/** Metrics of autoscalers that the charts show too, by their names in engines and exporters. */
const knownTargets: readonly { readonly name: RegExp; readonly metric: MetricId }[] = [
  { name: /num_requests_waiting|num_queue_reqs|queue_size/, metric: 'queue.waiting' },
  { name: /num_requests_running|num_running_reqs/, metric: 'queue.running' },
  { name: /(kv|gpu)_cache_usage|token_usage/, metric: 'kv-cache.usage' },
];

function targetsOf(scaling: Scaling): ChartOptions['targets'] {
  if (scaling.kind !== 'known') return [];
  return scaling.spec.metrics.flatMap((metric) => {
    if (!('metric' in metric)) return [];
    const known = knownTargets.find(({ name }) => name.test(metric.metric));
    const amount = metric.target.type === 'Value' ? metric.target.value : metric.target.averageValue;
    if (known === undefined) return [];
    // What counts a pod is drawn for all of them: that is what the line shows.
    const replicas =
      metric.target.type === 'AverageValue' && known.metric !== 'kv-cache.usage'
        ? scaling.status.currentReplicas
        : 1;
    const value = (Number(amount) / 1000) * Math.max(1, replicas);
    return [
      {
        metric: known.metric,
        value,
        label: replicas > 1 ? `target for ${countText(replicas)} pods` : 'target',
      },
    ];
  });
}

function overviewOf(context: TileContext, verdict: VerdictView): OverviewView {
  const tiles = overviewTiles(context);
  const good = tiles.filter(({ state }) => stateRank[state] >= stateRank.good).map(({ title }) => title);
  return {
    tiles,
    sentences: [
      `${verdict.word}: ${verdict.sentence}${verdict.since === undefined ? '' : `, ${verdict.since}`}`,
      ...verdict.also.map(({ word, sentence }) => `${word}: ${sentence}`),
      ...(good.length === 0 ? [] : [`As usual: ${listed(good)}`]),
    ],
  };
}
