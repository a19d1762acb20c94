import ignore from 'ignore';
import { nearest } from '../rules/nearest';
import type { OptionSchema, RuleMeta } from '../rules/rule';
import { noUserModels, type UserModel } from '../sizing/models/types';
import type { Entry, MapNode, ScalarNode, Span, YamlNode } from '../yaml/node';
import { entryOf, isNull } from '../yaml/node';
import { parseFile } from '../yaml/parse';
import type { Bases } from './extends';
import { baseKey, extendsItems, noBases } from './extends';
import type { Finding, FindingFix, RelatedPlace } from './finding';
import { readModels } from './models-config';
import type { Loudness, PresetName, RuleLevel } from './presets';
import type { OwnRuleId } from './own-rules';
import { presetLoudness, presetNames, ruleLevels, setLoudness, severityOf } from './presets';
import { ruleMeta, ruleMetas, ruleOptions } from './registry';

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

type Matcher = (name: string) => boolean;

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

// ---------------------------------------------------------------------------------------------------------------
// Reading

const topKeys = [
  'extends',
  'preset',
  'rules',
  'overrides',
  'ignore',
  'reportUnusedSuppressions',
  'requireReason',
  'models',
] as const;
const overrideKeys = ['files', 'kinds', 'namespaces', 'names', 'containers', 'rules', 'reason'];

interface Problem {
  readonly at: Span;
  readonly message: string;
  /** Absent: the file cannot be used as it is written, `config-invalid`. */
  readonly rule?: OwnRuleId;
  readonly related?: readonly RelatedPlace[];
  readonly fix?: { readonly title: string; readonly newText: string } | undefined;
}

type Complain = (problem: Problem) => void;

/** What one file says, with what it extends. */
interface Written {
  readonly preset: PresetName | undefined;
  readonly rules: ReadonlyMap<string, RuleSetting>;
  readonly overrides: readonly Override[];
  /** Patterns in the form of `.gitignore`. */
  readonly ignore: readonly string[];
  readonly models: readonly UserModel[];
}

const nothingWritten: Written = {
  preset: undefined,
  rules: new Map(),
  overrides: [],
  ignore: [],
  models: noUserModels,
};

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
  const { written, problems } = readFileText(uri, text, bases, [uri]);
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

/**
 * @param chain the files that led here, this one last: one that is in it already would never end.
 */
function readFileText(
  uri: string,
  text: string,
  bases: Bases,
  chain: readonly string[],
): { readonly written: Written; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const file = parseFile(uri, text);
  const [first, second] = file.documents;
  const offset = first?.offset ?? 0;
  const complain: Complain = (problem) =>
    problems.push({ ...problem, at: { start: problem.at.start + offset, end: problem.at.end + offset } });
  let written = nothingWritten;
  if (first !== undefined) {
    const { document } = first;
    for (const problem of document.problems) complain({ at: problem, message: problem.message });
    if (document.root !== undefined && !isNull(document.root)) {
      if (document.root.kind === 'map') {
        const below = readExtends(uri, document.root, complain, bases, chain);
        written = [...below, readTop(document.root, complain)].reduce(merge, nothingWritten);
      } else {
        complain({
          at: document.root,
          message: `The configuration is ${describe(document.root)}; a map is read`,
        });
      }
    }
  }
  if (second !== undefined) {
    const by = second.offset - offset;
    const { root, text: rest } = second.document;
    const at = root ?? { start: 0, end: rest.trimEnd().length };
    complain({
      at: { start: at.start + by, end: at.end + by },
      message: 'Only the first document of the configuration is read',
    });
  }
  return { written, problems };
}

/** What a file extends, first to last: later ones hold over earlier ones, and the file itself over all. */
function readExtends(
  uri: string,
  root: MapNode,
  complain: Complain,
  bases: Bases,
  chain: readonly string[],
): readonly Written[] {
  readStrings(root, 'extends', complain);
  return extendsItems(root).flatMap((item) => {
    const base = bases.get(baseKey(uri, item.text));
    if (base === undefined || 'problem' in base) {
      const suggested = base?.suggestion;
      complain({
        at: item,
        message: base?.problem ?? `"${item.text}" was not read`,
        fix: suggested === undefined ? undefined : { title: `Write ${suggested}`, newText: suggested },
      });
      return [];
    }
    if (chain.includes(base.uri)) {
      const names = [...chain.slice(chain.indexOf(base.uri)), base.uri].map(fileName);
      complain({ at: item, message: `"${item.text}" extends itself: ${names.join(' -> ')}` });
      return [];
    }
    const { written, problems } = readFileText(base.uri, base.text, bases, [...chain, base.uri]);
    const [worst] = problems.filter(({ rule }) => rule === undefined);
    if (worst !== undefined) {
      complain({
        at: item,
        message: `"${item.text}" has a mistake: ${worst.message}`,
        related: [{ uri: base.uri, at: worst.at, message: worst.message }],
      });
    }
    return [written];
  });
}

function fileName(uri: string): string {
  const name = uri.slice(uri.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A severity alone keeps the options that were given below it, as in other linters. */
function merge(below: Written, above: Written): Written {
  const rules = new Map(below.rules);
  for (const [id, { level, options }] of above.rules) {
    const known = rules.get(id);
    rules.set(id, { level: level ?? known?.level, options: { ...known?.options, ...options } });
  }
  return {
    preset: above.preset ?? below.preset,
    rules,
    overrides: [...below.overrides, ...above.overrides],
    ignore: [...below.ignore, ...above.ignore],
    // The first of a name is the one that is found.
    models: below.models.length === 0 ? above.models : [...above.models, ...below.models],
  };
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

function readTop(root: MapNode, complain: Complain): Written {
  checkKeys(root, topKeys, 'key', complain);
  const overrides: Override[] = [];
  const list = valueOf(root, 'overrides');
  if (list !== undefined) {
    if (list.kind !== 'sequence') {
      complain({ at: list, message: `"overrides" is ${describe(list)}; a list of maps is read` });
    } else {
      for (const item of list.items) {
        if (item.kind === 'map') overrides.push(readOverride(item, complain));
        else complain({ at: item, message: `An item of "overrides" is ${describe(item)}; a map is read` });
      }
    }
  }
  return {
    preset: readPreset(root, complain),
    // What is said about the rule itself, with its id, is more exact.
    rules: new Map([...readSwitches(root, complain), ...readRules(root, complain, false)]),
    overrides,
    ignore: readStrings(root, 'ignore', complain) ?? [],
    models: readModels(valueOf(root, 'models'), complain),
  };
}

/** Switches of other linters that are rules here: `true` is loud enough to fail a run. */
const switches: readonly { readonly key: (typeof topKeys)[number]; readonly rule: OwnRuleId }[] = [
  { key: 'reportUnusedSuppressions', rule: 'unused-suppression' },
  { key: 'requireReason', rule: 'suppression-without-reason' },
];

function readSwitches(root: MapNode, complain: Complain): readonly (readonly [string, RuleSetting])[] {
  return switches.flatMap(({ key, rule }) => {
    const node = valueOf(root, key);
    if (node === undefined) return [];
    const level =
      node.kind !== 'scalar'
        ? undefined
        : typeof node.value === 'boolean'
          ? node.value
            ? 'warning'
            : 'off'
          : ruleLevels.find((name) => name === node.text);
    if (level === undefined) {
      complain({
        at: node,
        message: `"${key}" is ${describe(node)}; it is true, false, or one of ${ruleLevels.join(', ')}`,
      });
      return [];
    }
    return [[rule, { level, options: {} }] as const];
  });
}

function readPreset(root: MapNode, complain: Complain): PresetName | undefined {
  const node = valueOf(root, 'preset');
  if (node === undefined) return undefined;
  const text = node.kind === 'scalar' ? node.text : undefined;
  const preset = presetNames.find((name) => name === text);
  if (preset === undefined) {
    complain({
      at: node,
      message: `"preset" is ${describe(node)}; it is one of ${presetNames.join(', ')}`,
      fix: suggestion(text, presetNames),
    });
  }
  return preset;
}

function readOverride(map: MapNode, complain: Complain): Override {
  checkKeys(map, overrideKeys, 'key of an override', complain);
  const files = readStrings(map, 'files', complain);
  const containers = readNames(map, 'containers', complain);
  const rules = readRules(map, complain, containers !== undefined);
  const reason = valueOf(map, 'reason');
  if (reason !== undefined && reason.kind !== 'scalar') {
    complain({ at: reason, message: `"reason" is ${describe(reason)}; a text is read` });
  }
  if (entryOf(map, 'rules') === undefined) {
    complain({
      at: map.entries[0]?.key ?? map,
      message: 'This override has no "rules", so it changes nothing',
    });
  }
  const off = [...rules].filter(([, { level }]) => level === 'off').map(([id]) => id);
  if (off.length > 0 && reason === undefined) {
    complain({
      at: entryOf(map, 'rules')?.key ?? map,
      rule: 'suppression-without-reason',
      message: `This override turns ${off.length === 1 ? (off[0] ?? '') : `${off.length} rules`} off and gives no "reason"`,
    });
  }
  return {
    files: files === undefined ? undefined : pathMatcher(files),
    kinds: readNames(map, 'kinds', complain),
    namespaces: readNames(map, 'namespaces', complain),
    names: readNames(map, 'names', complain),
    containers,
    rules,
    reason: reason?.kind === 'scalar' ? reason.text : undefined,
  };
}

function readRules(
  parent: MapNode,
  complain: Complain,
  byContainer: boolean,
): ReadonlyMap<string, RuleSetting> {
  const rules = new Map<string, RuleSetting>();
  const node = valueOf(parent, 'rules');
  if (node === undefined) return rules;
  if (node.kind !== 'map') {
    complain({ at: node, message: `"rules" is ${describe(node)}; a map of rule ids is read` });
    return rules;
  }
  for (const { key, value } of node.entries) {
    if (ruleMeta(key.text) === undefined) {
      const ids = ruleMetas.map(({ id }) => id);
      complain(unknownKey('rule', key, node, ids));
      continue;
    }
    const setting = readSetting(key, value, complain, byContainer);
    if (setting !== undefined) rules.set(key.text, setting);
  }
  return rules;
}

function readSetting(
  key: ScalarNode,
  value: YamlNode,
  complain: Complain,
  byContainer: boolean,
): RuleSetting | undefined {
  if (value.kind !== 'map') {
    const level = readLevel(key, value, complain);
    return level === undefined ? undefined : { level, options: {} };
  }
  let level: RuleLevel | undefined;
  const options: Record<string, unknown> = {};
  const metas: Readonly<Record<string, { readonly schema: OptionSchema }>> = ruleOptions(key.text);
  for (const entry of value.entries) {
    const name = entry.key.text;
    if (name === 'severity') {
      level = readLevel(entry.key, entry.value, complain);
      continue;
    }
    const meta = Object.hasOwn(metas, name) ? metas[name] : undefined;
    if (meta === undefined) {
      const names = ['severity', ...Object.keys(metas)];
      complain(unknownKey(`option of ${key.text}`, entry.key, value, names));
    } else if (byContainer) {
      complain({
        at: entry.key,
        message:
          'An override with "containers" can change the severity only; options hold for whole resources',
      });
    } else {
      const before = { count: 0 };
      const read = readOption(`"${name}"`, entry, entry.value, meta.schema, (problem) => {
        before.count++;
        complain(problem);
      });
      if (before.count === 0) options[name] = read;
    }
  }
  return { level, options };
}

function readLevel(key: ScalarNode, value: YamlNode, complain: Complain): RuleLevel | undefined {
  const text = value.kind === 'scalar' ? value.text : undefined;
  const level = ruleLevels.find((name) => name === text);
  if (level === undefined) {
    const shown = isNull(value) ? 'empty' : describe(value);
    complain({
      at: isNull(value) ? key : value,
      message: `The severity of "${key.text}" is ${shown}; it is one of ${ruleLevels.join(', ')}`,
      fix: isNull(value) ? undefined : levelSuggestion(text),
    });
  }
  return level;
}

/** Other linters say `warn`, `false` and `disabled`; the words are near enough to know what is meant. */
const otherWords: Readonly<Record<string, RuleLevel>> = {
  warn: 'warning',
  err: 'error',
  information: 'info',
  note: 'info',
  false: 'off',
  no: 'off',
  none: 'off',
  ignore: 'off',
  disabled: 'off',
};

function levelSuggestion(text: string | undefined): Problem['fix'] {
  const known = text === undefined ? undefined : otherWords[text.toLowerCase()];
  return known === undefined ? suggestion(text, ruleLevels) : { title: `Write ${known}`, newText: known };
}

function readOption(
  what: string,
  entry: Entry,
  node: YamlNode,
  schema: OptionSchema,
  complain: Complain,
): unknown {
  const wrong = (wanted: string): undefined => {
    const empty = isNull(node);
    complain({
      at: empty ? entry.key : node,
      message: `${what} is ${empty ? 'empty' : describe(node)}; ${wanted}`,
    });
    return undefined;
  };
  switch (schema.type) {
    case 'boolean':
      return node.kind === 'scalar' && typeof node.value === 'boolean'
        ? node.value
        : wrong('it is true or false');
    case 'integer':
    case 'number': {
      const { minimum = -Infinity, maximum = Infinity } = schema;
      const value = node.kind === 'scalar' ? node.value : undefined;
      if (typeof value !== 'number' || (schema.type === 'integer' && !Number.isInteger(value))) {
        return wrong(schema.type === 'integer' ? 'it is a whole number' : 'it is a number');
      }
      if (value < minimum) return wrong(`it is at least ${minimum}`);
      if (value > maximum) return wrong(`it is at most ${maximum}`);
      return value;
    }
    case 'string': {
      if (node.kind !== 'scalar' || typeof node.value !== 'string')
        return wrong('it is a text, in quotes if need be');
      if (schema.enum !== undefined && !schema.enum.includes(node.value)) {
        return wrong(`it is one of ${schema.enum.join(', ')}`);
      }
      if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(node.value)) {
        return wrong(`it has the form ${schema.pattern}`);
      }
      return node.value;
    }
    case 'array':
      if (node.kind !== 'sequence') return wrong('it is a list');
      return node.items.map((item, index) =>
        readOption(`${what}[${index}]`, entry, item, schema.items, complain),
      );
    case 'object': {
      if (node.kind !== 'map') return wrong('it is a map');
      const read = new Map<string, unknown>();
      for (const inner of node.entries) {
        const name = inner.key.text;
        read.set(name, readOption(`"${name}"`, inner, inner.value, schema.additionalProperties, complain));
      }
      return Object.fromEntries(read);
    }
  }
}

/** A list of texts, or one text alone. */
function readStrings(parent: MapNode, key: string, complain: Complain): readonly string[] | undefined {
  const node = valueOf(parent, key);
  if (node === undefined) return undefined;
  const read: string[] = [];
  for (const item of node.kind === 'sequence' ? node.items : [node]) {
    if (item.kind === 'scalar' && !isNull(item)) read.push(item.text);
    else complain({ at: item, message: `"${key}" holds ${describe(item)}; texts are read` });
  }
  return read;
}

function readNames(parent: MapNode, key: string, complain: Complain): Matcher | undefined {
  const names = readStrings(parent, key, complain);
  return names === undefined ? undefined : nameMatcher(names);
}

/** Names in which `*` stands for any characters. */
function nameMatcher(names: readonly string[]): Matcher {
  const exact = new Set(names.filter((name) => !name.includes('*')));
  const patterns = names
    .filter((name) => name.includes('*'))
    .map((name) => name.split(/\*+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
    .map((parts) => new RegExp(`^${parts.join('[^]*')}$`));
  return (name) => exact.has(name) || patterns.some((pattern) => pattern.test(name));
}

/** Patterns in the form of `.gitignore`, which people know and which excludes folders as well as files. */
function pathMatcher(patterns: readonly string[]): (relativePath: string) => boolean {
  const matcher = ignore({ ignorecase: false, allowRelativePaths: true }).add([...patterns]);
  return (path) => matcher.ignores(path);
}

/** The value of a key that says something; one without a value counts as not written. */
function valueOf(map: MapNode, key: string): YamlNode | undefined {
  const value = entryOf(map, key)?.value;
  return value === undefined || isNull(value) ? undefined : value;
}

function checkKeys(map: MapNode, known: readonly string[], what: string, complain: Complain): void {
  for (const { key } of map.entries) {
    if (!known.includes(key.text)) complain(unknownKey(what, key, map, known));
  }
}

/** A key that nobody reads; a fix that would write a key twice is not offered. */
function unknownKey(what: string, key: ScalarNode, map: MapNode, known: readonly string[]): Problem {
  const { message, fix } = unknownWord(what, key.text, known);
  return {
    at: key,
    message,
    fix: fix === undefined || entryOf(map, fix.newText) !== undefined ? undefined : fix,
  };
}

function unknownWord(what: string, word: string, known: readonly string[]): Pick<Problem, 'message' | 'fix'> {
  const near = nearest(word, known);
  const list = known.length <= 8 ? `; known are ${known.join(', ')}` : '';
  return {
    message: `Unknown ${what} "${word}"${near === undefined ? list : `; did you mean "${near}"?`}`,
    fix: near === undefined ? undefined : { title: `Write ${near}`, newText: near },
  };
}

function suggestion(word: string | undefined, known: readonly string[]): Problem['fix'] {
  const near = word === undefined ? undefined : nearest(word, known);
  return near === undefined ? undefined : { title: `Write ${near}`, newText: near };
}

function describe(node: YamlNode): string {
  switch (node.kind) {
    case 'map':
      return 'a map';
    case 'sequence':
      return 'a list';
    case 'scalar':
      return isNull(node) ? 'empty' : `"${node.text}"`;
  }
}
