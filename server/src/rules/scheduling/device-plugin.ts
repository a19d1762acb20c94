import { commandLines } from '../../kube/arguments';
import { containers, envValue } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { scalarText } from '../../kube/scalar-text';
import { areRivals } from '../../workspace/layout';
import { valuesKind } from '../../workspace/relevant-kinds';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, isScalar, itemsIn, mapIn, scalarIn, textIn, type MapNode } from '../../yaml/node';
import { addOnsOf, configTexts, ownTree, treeInText, type ConfigTree } from '../observability/configuration';
import type { Place } from '../rule';

/** A setting of NVIDIA's device plugin, with where it is written. */
export interface PluginSetting<T> {
  readonly value: T;
  readonly resource: Resource;
  readonly at: Place;
}

/** GPUs that several pods share. */
export interface SharedGpu {
  /** The name that pods ask for. */
  readonly name: string;
  readonly replicas: number | undefined;
  /** Where requests above one are refused; `undefined` where they are not. */
  readonly refuses: PluginSetting<true> | undefined;
}

/** What one object says about the device plugin. */
export interface PluginConfiguration {
  readonly resource: Resource;
  /** How MIG devices are offered: `none`, `single`, `mixed`. */
  readonly migStrategy: PluginSetting<string> | undefined;
  /** For each configuration of the object (nodes choose one by a label), what it shares. */
  readonly sharing: readonly (readonly SharedGpu[])[];
}

const telltale = /mig[-_.]?strategy|timeSlicing|\bmps\b|\bmig:|device-plugin/i;

const memo = new WeakMap<Resource, PluginConfiguration>();

function configurationOf(resource: Resource): readonly PluginConfiguration[] {
  if (resource.role === 'kustomize-patch' || !telltale.test(resource.placed.document.text)) return [];
  let known = memo.get(resource);
  if (known === undefined) memo.set(resource, (known = readConfiguration(resource)));
  return known.migStrategy !== undefined || known.sharing.length > 0 ? [known] : [];
}

/** Kinds that hold a configuration beside the operator's own object, which may be in a repository of the cluster. */
const kinds: readonly string[] = ['ConfigMap', 'HelmRelease', 'Application', valuesKind, 'DaemonSet'];

/**
 * Configurations of the device plugin for the nodes of an object: those around it, in any namespace, and else the
 * ClusterPolicies of the workspace that are no variant of another environment.
 */
export function pluginConfigurations(workspace: Workspace, from: Resource): readonly PluginConfiguration[] {
  const anywhere = { ...from, namespace: undefined };
  const policies = workspace
    .everywhere('ClusterPolicy', 'nvidia.com')
    .filter(({ scope }) => !areRivals(scope, from.scope));
  return [...kinds.flatMap((kind) => workspace.near(anywhere, kind)), ...policies].flatMap(configurationOf);
}

function readConfiguration(resource: Resource): PluginConfiguration {
  const sharing: (readonly SharedGpu[])[] = [];
  let migStrategy: PluginSetting<string> | undefined;
  const strategyIn = (tree: ConfigTree, ...path: readonly string[]): void => {
    const node = scalarIn(tree.root, ...path);
    if (node === undefined || node.unknown || node.value === null) return;
    migStrategy ??= { value: node.text, resource, at: tree.place(node) };
  };
  const readTree = (tree: ConfigTree | undefined): void => {
    if (tree === undefined || textIn(tree.root, 'version') !== 'v1') return;
    strategyIn(tree, 'flags', 'migStrategy');
    sharing.push(sharedIn(resource, tree));
  };
  const readTexts = (map: MapNode | undefined): void => {
    if (map === undefined) return;
    for (const text of textsOf(resource, map)) readTree(text);
  };
  switch (resource.kind) {
    case 'ConfigMap':
      for (const { node, text } of configTexts(resource)) readTree(treeInText(node, text));
      break;
    case 'ClusterPolicy':
      strategyIn(ownTree(resource, resource.root), 'spec', 'mig', 'strategy');
      break;
    default:
      for (const { name, tree } of addOnsOf(resource)) {
        if (/gpu-operator/.test(name)) {
          strategyIn(tree, 'mig', 'strategy');
          if (tree.own) readTexts(mapIn(tree.root, 'devicePlugin', 'config', 'data'));
        } else if (/device-plugin/.test(name)) {
          strategyIn(tree, 'migStrategy');
          if (tree.own) readTexts(mapIn(tree.root, 'config', 'map'));
        }
      }
      migStrategy ??= strategyOfPods(resource);
  }
  return { resource, migStrategy, sharing };
}

function textsOf(resource: Resource, map: MapNode): readonly ConfigTree[] {
  return map.entries.flatMap(({ value }) => {
    if (!isScalar(value) || typeof value.value !== 'string') return [];
    const tree = treeInText(value, scalarText(resource.placed.document.text, value));
    return tree === undefined ? [] : [tree];
  });
}

/** `sharing.timeSlicing` and `sharing.mps`. */
function sharedIn(resource: Resource, tree: ConfigTree): readonly SharedGpu[] {
  return (['timeSlicing', 'mps'] as const).flatMap((kind) => {
    const block = mapIn(tree.root, 'sharing', kind);
    const entry = entryOf(mapIn(tree.root, 'sharing'), kind);
    if (block === undefined || entry === undefined) return [];
    const fails = scalarIn(block, 'failRequestsGreaterThanOne');
    // MPS shares memory in equal parts, so that more than one is always refused.
    const refuses: PluginSetting<true> | undefined =
      fails?.value === true
        ? { value: true, resource, at: tree.place(fails) }
        : kind === 'mps'
          ? { value: true, resource, at: tree.place(entry) }
          : undefined;
    const renamed = textIn(block, 'renameByDefault') === 'true';
    return itemsIn(block, 'resources').flatMap((item) => {
      const name = textIn(item, 'name');
      if (name === undefined) return [];
      const replicas = Number(textIn(item, 'replicas'));
      return [
        {
          name: textIn(item, 'rename') ?? (renamed ? `${name}.shared` : name),
          replicas: Number.isInteger(replicas) ? replicas : undefined,
          refuses,
        },
      ];
    });
  });
}

/** The plugin's own pods, by variable or flag. */
function strategyOfPods(resource: Resource): PluginSetting<string> | undefined {
  for (const container of podTemplates(resource).flatMap(containers)) {
    if (container.imageText?.includes('device-plugin') !== true) continue;
    const variable = envValue(container, 'MIG_STRATEGY');
    if (variable.state === 'known') return { value: variable.text, resource, at: variable.node };
    for (const { words } of commandLines(container)) {
      for (const [index, word] of words.entries()) {
        const match = /^--mig-strategy(?:=(.+))?$/.exec(word.text);
        if (match === null) continue;
        const value = match[1] ?? words[index + 1]?.text;
        if (value !== undefined) return { value, resource, at: word.at };
      }
    }
  }
  return undefined;
}
