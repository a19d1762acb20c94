import type { RuleMeta } from '../rules/rule';
import { noUserModels, type UserModel } from '../sizing/models/types';
import type { Problem } from './config-reader';
import { pathMatcher, readConfigText } from './config-reader';
import type { Bases } from './extends';
import { noBases } from './extends';
import type { Finding, FindingFix } from './finding';
import type { Loudness, PresetName, RuleLevel } from './presets';
import { presetLoudness, setLoudness, severityOf } from './presets';
import { ruleMeta, ruleOptions } from './registry';

/** The name of the configuration file; the nearest one above a manifest applies to it, with what it extends. */
export const configFileName = '.plimsoll.yaml';

/** What is said about one rule: a level, options, or both. */
export interface RuleSetting {
  readonly level: RuleLevel | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Settings for some places. All conditions must hold; one that is absent holds everywhere. */
export interface Override {
  readonly files: ((relativePath: string) => boolean) | undefined;
  readonly kinds: Matcher | undefined;
  readonly namespaces: Matcher | undefined;
  readonly names: Matcher | undefined;
  readonly containers: Matcher | undefined;
  readonly rules: ReadonlyMap<string, RuleSetting>;
  /** Why, for the list of accepted findings. */
  readonly reason: string | undefined;
}

/** Whether a name is one of those that an override is about. */
export type Matcher = (name: string) => boolean;

/** Everything that decides which rules run on a file, and how loudly. Immutable. */
export interface Config {
  /** The file that it was read from; absent for the defaults. */
  readonly uri: string | undefined;
  /** The directory, with a slash at its end, that patterns are relative to. */
  readonly base: string;
  readonly preset: PresetName;
  readonly rules: ReadonlyMap<string, RuleSetting>;
  readonly overrides: readonly Override[];
  readonly ignores: (relativePath: string) => boolean;
  /** Models that the file describes. */
  readonly models: readonly UserModel[];
}

/** Settings that come from elsewhere than a file: the editor's settings, the command line. */
export interface Layer {
  readonly preset?: PresetName;
  readonly rules?: Readonly<Record<string, RuleLevel>>;
}

export interface Layers {
  /** Holds where the configuration file says nothing. */
  readonly defaults?: Layer;
  /** Holds whatever the configuration file says. */
  readonly forced?: Layer;
}

/** Which configuration applies where, and what is wrong with the configuration files. */
export interface Configuration {
  configFor(uri: string): Config;
  /** By the URI of the configuration file; a file without a problem has no entry. */
  readonly problems: ReadonlyMap<string, readonly Finding[]>;
}

/**
 * The configuration of a workspace.
 *
 * @param files text of every configuration file, by URI; reading them is the caller's job.
 * @param bases what they extend (`gatherBases`); reading that is the caller's job too.
 */
export function configurationOf(
  files: ReadonlyMap<string, string>,
  layers: Layers = {},
  bases: Bases = noBases,
): Configuration {
  const problems = new Map<string, readonly Finding[]>();
  const byDirectory = new Map<string, Config>();
  for (const [uri, text] of files) {
    const parsed = parseConfig(uri, text, directoryOf(uri), layers, bases);
    if (parsed.problems.length > 0) problems.set(uri, parsed.problems);
    byDirectory.set(directoryOf(uri), parsed.config);
  }
  const fallback = defaultConfig(layers);
  const find = (directory: string): Config => {
    const known = byDirectory.get(directory);
    if (known !== undefined) return known;
    const parent = directoryOf(directory.slice(0, -1));
    const found = parent === '' || parent === directory ? fallback : find(parent);
    byDirectory.set(directory, found);
    return found;
  };
  return { configFor: (uri) => find(directoryOf(uri)), problems };
}

/** One configuration file for everything, wherever it lies (`--config`); its patterns are relative to `base`. */
export function singleConfiguration(
  uri: string,
  text: string,
  base: string,
  layers: Layers = {},
  bases: Bases = noBases,
): Configuration {
  const { config, problems } = parseConfig(uri, text, base.endsWith('/') ? base : `${base}/`, layers, bases);
  return { configFor: () => config, problems: new Map(problems.length > 0 ? [[uri, problems]] : []) };
}

/** Everything up to and including the last slash. */
function directoryOf(uri: string): string {
  return uri.slice(0, uri.lastIndexOf('/') + 1);
}

/** The path of a file below a directory, decoded; `undefined` when it is not below. */
function relativePath(base: string, uri: string): string | undefined {
  if (!uri.startsWith(base) || uri.length === base.length) return undefined;
  const rest = uri.slice(base.length);
  try {
    return decodeURIComponent(rest);
  } catch {
    return rest;
  }
}

/** True when the configuration excludes the file: no rule runs on it. */
export function isIgnored(config: Config, uri: string): boolean {
  const path = relativePath(config.base, uri);
  return path !== undefined && config.ignores(path);
}

function layerRules(layer: Layer | undefined): [string, RuleSetting][] {
  return Object.entries(layer?.rules ?? {}).map(([id, level]) => [id, { level, options: {} }]);
}

export function defaultConfig(layers: Layers = {}): Config {
  return {
    uri: undefined,
    base: '',
    preset: layers.forced?.preset ?? layers.defaults?.preset ?? 'recommended',
    rules: new Map([...layerRules(layers.defaults), ...layerRules(layers.forced)]),
    overrides: [],
    ignores: () => false,
    models: noUserModels,
  };
}

/**
 * Reads a configuration file. It never fails: what cannot be used is left out and reported on its place.
 *
 * @param base the folder that patterns are relative to, also those of files that it extends: whoever shares a
 * configuration does not know where the manifests are.
 */
export function parseConfig(
  uri: string,
  text: string,
  base: string,
  layers: Layers = {},
  bases: Bases = noBases,
): { readonly config: Config; readonly problems: readonly Finding[] } {
  const { written, problems } = readConfigText(uri, text, bases, [uri]);
  const ignored = written.ignore.length === 0 ? undefined : pathMatcher(written.ignore);
  const config: Config = {
    uri,
    base,
    preset: layers.forced?.preset ?? written.preset ?? layers.defaults?.preset ?? 'recommended',
    rules: new Map([...layerRules(layers.defaults), ...written.rules, ...layerRules(layers.forced)]),
    overrides: written.overrides,
    ignores: ignored ?? (() => false),
    models: written.models,
  };
  return { config, problems: problemFindings(config, uri, problems) };
}

function problemFindings(config: Config, uri: string, found: readonly Problem[]): readonly Finding[] {
  const effective = effectiveConfig(config, { uri });
  return found
    .flatMap(({ at, message, fix, related, rule = 'config-invalid' }): Finding[] => {
      const meta = ruleMeta(rule);
      if (meta === undefined) return [];
      const severity = severityOf(effective.decide(meta).loudness, undefined);
      if (severity === 'off') return [];
      const span = { start: at.start, end: at.end };
      const fixes: FindingFix[] =
        fix === undefined
          ? []
          : [{ title: fix.title, safe: false, edits: [{ ...span, newText: fix.newText }] }];
      return [{ rule, severity, uri, at: span, message, related: related ?? [], fixes }];
    })
    .sort((a, b) => a.at.start - b.at.start);
}

// ---------------------------------------------------------------------------------------------------------------
// What holds for one resource

/** What identifies a resource for `overrides`. */
export interface ConfigPlace {
  readonly uri: string;
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** The decision about one rule in one place. */
export interface Decision {
  readonly loudness: Loudness;
  /** An override turned it off here: what it finds is accepted, and listed as such. */
  readonly accepted: { readonly reason: string | undefined } | undefined;
}

/** What a configuration says in one place. The same object for all places where the same overrides hold. */
export interface Effective {
  decide(rule: RuleMeta, container?: string): Decision;
  /** False when nothing that the rule could report here would be said or listed. */
  mayRun(rule: RuleMeta): boolean;
  options(rule: RuleMeta): Readonly<Record<string, unknown>>;
  readonly models: readonly UserModel[];
}

const effectives = new WeakMap<Config, Map<string, Effective>>();

export function effectiveConfig(config: Config, place: ConfigPlace): Effective {
  let known = effectives.get(config);
  if (known === undefined) effectives.set(config, (known = new Map<string, Effective>()));
  const path = config.overrides.length === 0 ? undefined : relativePath(config.base, place.uri);
  const holds = config.overrides.filter((override) => holdsAt(override, path, place));
  const key = holds.length === 0 ? '' : holds.map((override) => config.overrides.indexOf(override)).join();
  let effective = known.get(key);
  if (effective === undefined) known.set(key, (effective = makeEffective(config, holds)));
  return effective;
}

function holdsAt(override: Override, path: string | undefined, place: ConfigPlace): boolean {
  const matches = (matcher: Matcher | undefined, value: string | undefined): boolean =>
    matcher === undefined || (value !== undefined && matcher(value));
  return (
    matches(override.files, path) &&
    matches(override.kinds, place.kind) &&
    matches(override.namespaces, place.namespace) &&
    matches(override.names, place.name)
  );
}

function makeEffective(config: Config, overrides: readonly Override[]): Effective {
  const withoutContainer = new Map<string, Decision>();
  const optionsOf = new Map<string, Readonly<Record<string, unknown>>>();
  const decideAfresh = (rule: RuleMeta, container: string | undefined): Decision => {
    const level = config.rules.get(rule.id)?.level;
    let loudness = level === undefined ? presetLoudness(config.preset, rule) : setLoudness(level);
    let accepted: Decision['accepted'];
    for (const override of overrides) {
      const wanted = override.rules.get(rule.id)?.level;
      if (wanted === undefined) continue;
      if (override.containers !== undefined && (container === undefined || !override.containers(container)))
        continue;
      if (wanted === 'off') {
        accepted = { reason: override.reason };
      } else {
        loudness = setLoudness(wanted);
        accepted = undefined;
      }
    }
    return { loudness, accepted };
  };
  const decide = (rule: RuleMeta, container?: string): Decision => {
    if (container !== undefined && overrides.some((override) => override.containers !== undefined)) {
      return decideAfresh(rule, container);
    }
    let decision = withoutContainer.get(rule.id);
    if (decision === undefined) withoutContainer.set(rule.id, (decision = decideAfresh(rule, undefined)));
    return decision;
  };
  return {
    decide,
    models: config.models,
    mayRun: (rule) =>
      decide(rule).loudness.kind !== 'off' ||
      overrides.some((override) => {
        const level = override.containers === undefined ? undefined : override.rules.get(rule.id)?.level;
        return level !== undefined && level !== 'off';
      }),
    options(rule) {
      let options = optionsOf.get(rule.id);
      if (options === undefined) {
        const defaults: Record<string, unknown> = {};
        const metas: Readonly<Record<string, { readonly default: unknown }>> = ruleOptions(rule.id);
        for (const [name, meta] of Object.entries(metas)) defaults[name] = meta.default;
        options = Object.assign(
          defaults,
          config.rules.get(rule.id)?.options,
          ...overrides.map((override) => override.rules.get(rule.id)?.options),
        ) as Readonly<Record<string, unknown>>;
        optionsOf.set(rule.id, options);
      }
      return options;
    },
  };
}
