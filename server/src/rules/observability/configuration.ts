import type { Resource } from '../../kube/resource';
import { scalarText, type ScalarText } from '../../kube/scalar-text';
import { valuesKind } from '../../workspace/relevant-kinds';
import { parseFile } from '../../yaml/parse';
import { replaceScalar, type Edit } from '../../yaml/edit';
import {
  entryOf,
  isMap,
  isScalar,
  itemsIn,
  mapIn,
  scalarIn,
  textIn,
  type Entry,
  type MapNode,
  type ScalarNode,
  type YamlNode,
} from '../../yaml/node';
import { linePlace } from '../keda/place';
import type { Place } from '../rule';

/** Text inside an object that is the configuration of a program. */
export interface ConfigText {
  /** The key that holds it: `fluent-bit.conf`, `cwagentconfig.json`. */
  readonly name: string;
  readonly node: ScalarNode;
  readonly text: ScalarText;
}

/** A configuration as a tree: part of the object itself, or YAML or JSON inside a string of it. */
export interface ConfigTree {
  readonly root: MapNode;
  /** Its nodes are those of the object itself. */
  readonly own: boolean;
  /** Where a key, or a value, is shown. */
  place(at: Entry | YamlNode): Place;
  /** Puts another scalar in the place of one; `undefined` where that cannot be done. */
  replace(scalar: ScalarNode, value: string | boolean | number): readonly Edit[] | undefined;
}

const texts = new WeakMap<Resource, readonly ConfigText[]>();

/** The texts of a ConfigMap. */
export function configTexts(resource: Resource): readonly ConfigText[] {
  let known = texts.get(resource);
  if (known === undefined) {
    known =
      resource.kind === 'ConfigMap'
        ? (mapIn(resource.root, 'data')?.entries ?? []).flatMap(({ key, value }) =>
            isScalar(value) && typeof value.value === 'string'
              ? [
                  {
                    name: key.text,
                    node: value,
                    text: scalarText(resource.placed.document.text, value),
                  },
                ]
              : [],
          )
        : [];
    texts.set(resource, known);
  }
  return known;
}

/** A part of the object itself, as a tree. */
export function ownTree(resource: Resource, root: MapNode): ConfigTree {
  return {
    root,
    own: true,
    place: (at) => ('key' in at ? at : linePlace(resource, at)),
    replace: (scalar, value) => replaceScalar(resource.placed.document, scalar, value),
  };
}

/** YAML or JSON in a string. `undefined` where it is no map, or a template makes part of it. */
export function treeInText(node: ScalarNode, text: ScalarText): ConfigTree | undefined {
  const [placed] = parseFile('', text.text).documents;
  const root = placed?.document.root;
  if (placed === undefined || !isMap(root) || placed.document.problems.length > 0) return undefined;
  const { offset } = placed;
  const spanOf = (at: YamlNode): Place => {
    if (node.borrowed) return node;
    const quotes = isScalar(at) && (at.style === 'single' || at.style === 'double') ? 1 : 0;
    return text.span(offset + at.start + quotes, offset + at.end - quotes);
  };
  return {
    root,
    own: false,
    place: (at) => spanOf('key' in at ? at.key : at),
    replace: (scalar, value) => {
      const at = spanOf(scalar);
      return node.borrowed || !('start' in at)
        ? undefined
        : [{ start: at.start, end: at.end, newText: String(value) }];
    },
  };
}

function treeAt(resource: Resource, node: YamlNode | undefined): ConfigTree | undefined {
  if (isMap(node)) return ownTree(resource, node);
  if (!isScalar(node) || node.unknown || typeof node.value !== 'string' || node.text.trim() === '')
    return undefined;
  return treeInText(node, scalarText(resource.placed.document.text, node));
}

/** The values of a chart, or the configuration of an EKS add-on. */
export interface AddOn {
  /** Name of the chart or add-on: `aws-for-fluent-bit`, `amazon-cloudwatch-observability`. */
  readonly name: string;
  readonly tree: ConfigTree;
  /** Other values may come from elsewhere, so that nothing can be called missing. */
  readonly open: boolean;
}

export const addOnKinds: readonly string[] = [
  'HelmRelease',
  'Application',
  'ClusterConfig',
  'Addon',
  valuesKind,
];

const addOns = new WeakMap<Resource, readonly AddOn[]>();

/**
 * Charts and EKS add-ons with their values: Flux HelmReleases, Argo CD Applications, eksctl's `addons`, Addons of ACK and
 * Crossplane, and files of values.
 */
export function addOnsOf(resource: Resource): readonly AddOn[] {
  let known = addOns.get(resource);
  if (known === undefined) addOns.set(resource, (known = readAddOns(resource)));
  return known;
}

function readAddOns(resource: Resource): readonly AddOn[] {
  const { root, kind } = resource;
  const make = (name: string | undefined, node: YamlNode | undefined, open: boolean): readonly AddOn[] => {
    const tree = treeAt(resource, node);
    return name === undefined || tree === undefined ? [] : [{ name, tree, open: open || tree.root.open }];
  };
  switch (kind) {
    case 'HelmRelease': {
      const spec = mapIn(root, 'spec');
      const name =
        textIn(spec, 'chart', 'spec', 'chart') ??
        textIn(spec, 'chartRef', 'name') ??
        textIn(spec, 'releaseName');
      return make(name, entryOf(spec, 'values')?.value, entryOf(spec, 'valuesFrom') !== undefined);
    }
    case 'Application': {
      const spec = mapIn(root, 'spec');
      const sources = [mapIn(spec, 'source'), ...itemsIn(spec, 'sources')];
      return sources.flatMap((source) => {
        const helm = mapIn(source, 'helm');
        const open =
          entryOf(helm, 'valueFiles') !== undefined ||
          entryOf(helm, 'fileParameters') !== undefined ||
          entryOf(helm, 'parameters') !== undefined;
        const values = entryOf(helm, 'valuesObject') ?? entryOf(helm, 'values');
        return make(textIn(source, 'chart'), values?.value, open);
      });
    }
    case 'ClusterConfig':
      return itemsIn(root, 'addons').flatMap((addon) =>
        make(textIn(addon, 'name'), entryOf(addon, 'configurationValues')?.value, false),
      );
    case 'Addon': {
      const spec = mapIn(root, 'spec');
      const provider = mapIn(spec, 'forProvider') ?? spec;
      return make(
        textIn(provider, 'name') ?? textIn(provider, 'addonName'),
        entryOf(provider, 'configurationValues')?.value,
        false,
      );
    }
    case valuesKind:
      // What a file of values leaves out, the chart or another file says.
      return make(chartOf(root), root, true);
    default:
      return [];
  }
}

/** The chart that a file of values is for, by its keys. */
function chartOf(root: MapNode): string | undefined {
  const has = (...keys: readonly string[]): boolean => keys.some((key) => entryOf(root, key) !== undefined);
  if (has('cloudWatchLogs')) return 'aws-for-fluent-bit';
  if (has('driver', 'toolkit', 'devicePlugin', 'mig', 'operator', 'gfd')) return 'gpu-operator';
  if (has('containerLogs') || (has('dcgmExporter') && has('agent', 'agents', 'manager', 'clusterName')))
    return 'amazon-cloudwatch-observability';
  if (has('migStrategy')) return 'nvidia-device-plugin';
  return has('dcgmExporter') ? 'gpu-operator' : 'other';
}

/** The configuration of an OpenTelemetry collector, from its own object, or a ConfigMap or chart that holds one. */
export function collectorTrees(resource: Resource): readonly ConfigTree[] {
  const found: (ConfigTree | undefined)[] = [];
  if (resource.kind === 'OpenTelemetryCollector' || resource.kind === 'AmazonCloudWatchAgent') {
    const spec = mapIn(resource.root, 'spec');
    const key = resource.kind === 'AmazonCloudWatchAgent' ? 'otelConfig' : 'config';
    found.push(treeAt(resource, entryOf(spec, key)?.value));
  }
  for (const { node, text } of configTexts(resource)) {
    if (/^\s*receivers\s*:/m.test(text.text) && /^\s*service\s*:/m.test(text.text))
      found.push(treeInText(node, text));
  }
  for (const { name, tree } of addOnsOf(resource)) {
    const config = mapIn(tree.root, 'config');
    if (config !== undefined && /otel|opentelemetry|collector|adot/i.test(name))
      found.push({ ...tree, root: config });
  }
  return found.flatMap((tree) => (tree === undefined ? [] : [tree]));
}

/** The configuration of the CloudWatch agent: the map with `agent`, `logs` and `metrics`. */
export function cloudWatchAgentTrees(resource: Resource): readonly ConfigTree[] {
  const found: (ConfigTree | undefined)[] = [];
  if (resource.kind === 'AmazonCloudWatchAgent')
    found.push(treeAt(resource, entryOf(mapIn(resource.root, 'spec'), 'config')?.value));
  for (const { node, text } of configTexts(resource)) {
    if (/"metrics_collected"/.test(text.text)) found.push(treeInText(node, text));
  }
  for (const { name, tree } of addOnsOf(resource)) {
    if (!/cloudwatch/i.test(name)) continue;
    const { root } = tree;
    for (const config of [
      mapIn(root, 'agent', 'config'),
      mapIn(root, 'agent', 'defaultConfig'),
      ...itemsIn(root, 'agents').map((agent) => mapIn(agent, 'config')),
    ]) {
      if (config !== undefined) found.push({ ...tree, root: config });
    }
  }
  return found.flatMap((tree) => (tree === undefined ? [] : [tree]));
}

/** `[OUTPUT]` of a Fluent Bit configuration. */
export interface FluentSection {
  /** Lower case: `input`, `filter`, `output`. */
  readonly kind: string;
  /** By key in lower case. */
  readonly settings: ReadonlyMap<string, FluentSetting>;
}

export interface FluentSetting {
  readonly value: string;
  readonly at: Place;
  /** A line of the same indentation behind this one. */
  insertAfter(line: string): readonly Edit[] | undefined;
}

/** Fluent Bit's configuration in its own format (`[OUTPUT]`) or as YAML (`pipeline.outputs`). */
export function fluentSections(resource: Resource): readonly FluentSection[] {
  const known = sections.get(resource);
  if (known !== undefined) return known;
  const found = configTexts(resource).flatMap((config) => readFluent(resource, config));
  for (const { name, tree } of addOnsOf(resource)) {
    // Only text of the object itself can be pointed into.
    if (!tree.own || !/fluent-?bit|cloudwatch/i.test(name)) continue;
    for (const { key, value } of textsIn(tree.root)) {
      const text = scalarText(resource.placed.document.text, value);
      found.push(...readFluent(resource, { name: key, node: value, text }));
    }
  }
  sections.set(resource, found);
  return found;
}

const sections = new WeakMap<Resource, readonly FluentSection[]>();

/** Texts below a map that hold sections of Fluent Bit. */
function textsIn(node: YamlNode, name = ''): readonly { readonly key: string; readonly value: ScalarNode }[] {
  switch (node.kind) {
    case 'map':
      return node.entries.flatMap(({ key, value }) => textsIn(value, key.text));
    case 'sequence':
      return node.items.flatMap((item) => textsIn(item, name));
    case 'scalar':
      return typeof node.value === 'string' && /\[(?:OUTPUT|INPUT|FILTER)\]/i.test(node.text)
        ? [{ key: name, value: node }]
        : [];
  }
}

function readFluent(resource: Resource, config: ConfigText): readonly FluentSection[] {
  const { text } = config.text;
  if (/^\s*\[(?:OUTPUT|INPUT|FILTER)\]/im.test(text)) return readClassic(resource, config);
  return /^\s*pipeline\s*:/m.test(text) ? readPipeline(config) : [];
}

function readClassic(resource: Resource, { node, text }: ConfigText): readonly FluentSection[] {
  const found: { kind: string; settings: Map<string, FluentSetting> }[] = [];
  const source = resource.placed.document.text;
  let start = 0;
  for (const line of text.text.split('\n')) {
    const from = start;
    start += line.length + 1;
    const head = /^\s*\[(\w+)\]/.exec(line);
    if (head !== null) {
      found.push({ kind: (head[1] ?? '').toLowerCase(), settings: new Map() });
      continue;
    }
    const setting = /^(\s*)([A-Za-z][\w.-]*)\s+(.*?)\s*$/.exec(line);
    const section = found.at(-1);
    if (setting === null || section === undefined) continue;
    const [, , key = '', value = ''] = setting;
    const at = from + line.lastIndexOf(value);
    const place = node.borrowed ? node : text.span(at, at + value.length);
    section.settings.set(key.toLowerCase(), {
      value,
      at: place,
      insertAfter: (added) => {
        if (node.borrowed || node.style !== 'literal') return undefined;
        const end = text.span(from, from + line.length).end;
        const lineStart = source.lastIndexOf('\n', end - 1) + 1;
        const indent = /^[ \t]*/.exec(source.slice(lineStart))?.[0] ?? '';
        const newline = source.includes('\r\n') ? '\r\n' : '\n';
        return [{ start: end, end, newText: `${newline}${indent}${added}` }];
      },
    });
  }
  return found;
}

function readPipeline({ node, text }: ConfigText): readonly FluentSection[] {
  const tree = treeInText(node, text);
  if (tree === undefined) return [];
  return (['inputs', 'filters', 'outputs'] as const).flatMap((list) =>
    itemsIn(tree.root, 'pipeline', list).flatMap((item) => {
      if (!isMap(item)) return [];
      const settings = item.entries.flatMap(({ key, value }) =>
        isScalar(value)
          ? [
              [
                key.text.toLowerCase(),
                { value: value.text, at: tree.place(value), insertAfter: () => undefined },
              ] as const,
            ]
          : [],
      );
      return [{ kind: list.slice(0, -1), settings: new Map<string, FluentSetting>(settings) }];
    }),
  );
}

/** Fluent Bit and its plugins read many words as true. */
export function isOn(text: string | undefined): boolean {
  return text !== undefined && /^(?:true|on|yes|1)$/i.test(text);
}

/** The text of a scalar in a tree, when it is known. */
export function settingIn(root: YamlNode | undefined, ...path: readonly string[]): string | undefined {
  const found = scalarIn(root, ...path);
  return found === undefined || found.unknown || found.value === null ? undefined : found.text;
}
