import ignore from 'ignore';
import { nearest } from '../rules/nearest';
import type { OptionSchema } from '../rules/rule';
import { noUserModels, type UserModel } from '../sizing/models/types';
import type { Entry, MapNode, ScalarNode, Span, YamlNode } from '../yaml/node';
import { entryOf, isNull } from '../yaml/node';
import { parseFile } from '../yaml/parse';
import type { Matcher, Override, RuleSetting } from './config';
import type { Bases } from './extends';
import { baseKey, extendsItems } from './extends';
import type { RelatedPlace } from './finding';
import { readModels } from './models-config';
import type { OwnRuleId } from './own-rules';
import type { PresetName, RuleLevel } from './presets';
import { presetNames, ruleLevels } from './presets';
import { ruleMeta, ruleMetas, ruleOptions } from './registry';

/** What a `.plimsoll.yaml` says, word for word, with the place of each mistake. What holds where is in `config.ts`. */

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

/** Something in a file that cannot be used, on its place in the text. */
export interface Problem {
  readonly at: Span;
  readonly message: string;
  /** Absent: the file cannot be used as it is written, `config-invalid`. */
  readonly rule?: OwnRuleId;
  readonly related?: readonly RelatedPlace[];
  readonly fix?: { readonly title: string; readonly newText: string } | undefined;
}

type Complain = (problem: Problem) => void;

/** What one file says, with what it extends. */
export interface Written {
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
 * Reads one file with what it extends. It never fails: what cannot be used is left out and is a problem.
 *
 * @param chain the files that led here, this one last: one that is in it already would never end.
 */
export function readConfigText(
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
    const { written, problems } = readConfigText(base.uri, base.text, bases, [...chain, base.uri]);
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

/**
 * Patterns in the form of `.gitignore`, which people know and which excludes folders as well as files. There a leading
 * `./` matches nothing; here it means what it does in a shell.
 */
export function pathMatcher(patterns: readonly string[]): (relativePath: string) => boolean {
  const rooted = patterns.map((pattern) => pattern.replace(/^(!?)\.\//, '$1/'));
  const matcher = ignore({ ignorecase: false, allowRelativePaths: true }).add(rooted);
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
