import { thresholdsWith } from '../live/thresholds';
import { metricIds } from '../live/vocabulary';
import type { CloudWatchMetricSettings, LiveSettings, LiveSourceSettings } from '../protocol/settings';
import { defaultSettings } from '../protocol/settings';
import { isFields } from './params';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The settings `plimsoll.live.*`. What cannot be used falls back to its default and is told in `problems`. Values are
 * not quoted there: a URL can carry a password.
 */
export function parseLiveSettings(value: unknown, problems: string[]): LiveSettings {
  const defaults = defaultSettings.live;
  const live = group({ live: value }, 'live', problems);
  const { thresholds, ...others } = live;
  const limits = group({ thresholds }, 'live.thresholds', problems);
  const checked = thresholdsWith(limits);
  for (const problem of checked.problems) problems.push(`Setting "plimsoll.live.thresholds": ${problem}`);
  const codeLens = group(others, 'live.codeLens', problems);
  return {
    refreshSeconds: read(
      others,
      'live.refreshSeconds',
      defaults.refreshSeconds,
      'a number from 5 to 3600',
      (given): given is number => typeof given === 'number' && given >= 5 && given <= 3600,
      problems,
    ),
    codeLens: {
      enable: read(
        codeLens,
        'live.codeLens.enable',
        defaults.codeLens.enable,
        'true or false',
        isBoolean,
        problems,
      ),
    },
    thresholds: Object.fromEntries(
      Object.entries(checked.thresholds).filter(([name]) => limits[name] !== undefined),
    ),
    spotPriceFactor: read(
      others,
      'live.spotPriceFactor',
      defaults.spotPriceFactor,
      'a number from 0 to 1',
      (given): given is number => typeof given === 'number' && given >= 0 && given <= 1,
      problems,
    ),
    allocationLabels: read(
      others,
      'live.allocationLabels',
      defaults.allocationLabels,
      'a list of texts',
      isTexts,
      problems,
    ),
    ...parseSources(others, problems),
  };
}

/** The sources beside the cluster, from the settings or as a client sends them. */
export function parseSources(live: Fields, problems: string[]): LiveSourceSettings {
  const defaults = defaultSettings.live;
  const prometheus = group(live, 'live.prometheus', problems);
  const cloudwatch = group(live, 'live.cloudwatch', problems);
  const aws = group(live, 'live.aws', problems);
  const text = (from: Fields, name: string): string => read(from, name, '', 'a text', isText, problems);
  const metrics: Record<string, CloudWatchMetricSettings> = {};
  for (const [id, metric] of Object.entries(group(cloudwatch, 'live.cloudwatch.metrics', problems))) {
    if (!metricIds.some((each) => each === id))
      problems.push(
        `Setting "plimsoll.live.cloudwatch.metrics" names "${id}", which is no metric of the panel`,
      );
    else if (!isMetric(metric))
      problems.push(`Setting "plimsoll.live.cloudwatch.metrics": "${id}" needs the texts "name" and "stat"`);
    else metrics[id] = metric;
  }
  return {
    prometheus: {
      url: read(
        prometheus,
        'live.prometheus.url',
        defaults.prometheus.url,
        'an http or https URL',
        isHttpUrl,
        problems,
      ),
      service: read(
        prometheus,
        'live.prometheus.service',
        defaults.prometheus.service,
        'of the form NAMESPACE/SERVICE:PORT',
        isService,
        problems,
      ),
      ampWorkspace: read(
        prometheus,
        'live.prometheus.ampWorkspace',
        defaults.prometheus.ampWorkspace,
        'the id of a workspace, ws-...',
        (given): given is string => isText(given) && /^(ws-[A-Za-z0-9-]+)?$/.test(given),
        problems,
      ),
      tenant: text(prometheus, 'live.prometheus.tenant'),
    },
    cloudwatch: {
      enable: read(
        cloudwatch,
        'live.cloudwatch.enable',
        defaults.cloudwatch.enable,
        'true or false',
        isBoolean,
        problems,
      ),
      namespace: text(cloudwatch, 'live.cloudwatch.namespace'),
      dimensions: read(
        cloudwatch,
        'live.cloudwatch.dimensions',
        defaults.cloudwatch.dimensions,
        'an object of texts',
        (given): given is Readonly<Record<string, string>> =>
          isFields(given) && Object.values(given).every(isText),
        problems,
      ),
      metrics,
      logGroups: read(
        cloudwatch,
        'live.cloudwatch.logGroups',
        defaults.cloudwatch.logGroups,
        'a list of texts',
        isTexts,
        problems,
      ),
    },
    aws: { region: text(aws, 'live.aws.region'), profile: text(aws, 'live.aws.profile') },
  };
}

function group(from: Fields, name: string, problems: string[]): Fields {
  return read(from, name, {}, 'an object', isFields, problems);
}

function read<T>(
  from: Fields,
  name: string,
  fallback: T,
  wanted: string,
  accepts: (value: unknown) => value is T,
  problems: string[],
): T {
  const given = from[name.slice(name.lastIndexOf('.') + 1)];
  if (given === undefined || given === null) return fallback;
  if (accepts(given)) return given;
  problems.push(`Setting "plimsoll.${name}" is not ${wanted}; ${JSON.stringify(fallback)} is used`);
  return fallback;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isService(value: unknown): value is string {
  return isText(value) && /^([a-z0-9-]+\/[a-z0-9-]+:[a-z0-9-]+)?$/.test(value);
}

/** No user and password: what is in the settings is in the repository. */
function isHttpUrl(value: unknown): value is string {
  if (value === '') return true;
  if (!isText(value) || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function isMetric(value: unknown): value is CloudWatchMetricSettings {
  if (!isFields(value) || !isText(value['name']) || !isText(value['stat'])) return false;
  const { factor, isCount } = value;
  return (
    (factor === undefined || typeof factor === 'number') && (isCount === undefined || isBoolean(isCount))
  );
}
