import { envOf, type EnvVar } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import type { Resource } from '../../kube/resource';
import { nameKeyOf } from '../../workspace/objects';
import type { Workspace } from '../../workspace/workspace';
import {
  entryOf,
  getIn,
  isMap,
  isNull,
  itemsIn,
  mapIn,
  scalarIn,
  textIn,
  type ScalarNode,
  type YamlNode,
} from '../../yaml/node';

/** A ConfigMap's value that a server is told as its model. */
interface Configured {
  readonly map: Resource;
  readonly value: string;
}

const memo = new WeakMap<ModelServer, { readonly map: Resource; readonly server: ModelServer }>();

/**
 * The server with the model that a ConfigMap of the workspace names, where its arguments or environment leave that to
 * one; else the server as it is. The model then stands where the manifest refers to it.
 */
export function withConfiguredModel(workspace: Workspace, server: ModelServer): ModelServer {
  const { model } = server;
  if (model.state !== 'unknown' || model.at === undefined) return server;
  const found = configuredModel(workspace, server);
  if (found === undefined) return server;
  const known = memo.get(server);
  if (known?.map === found.map) return known.server;
  const { at } = model;
  // An edit of what is written here would not change the model.
  const node: ScalarNode = {
    kind: 'scalar',
    value: found.value,
    text: found.value,
    style: 'plain',
    unknown: false,
    borrowed: true,
    start: at.start,
    end: at.end,
  };
  const resolved: ModelServer = {
    ...server,
    model: { state: 'known', value: found.value, text: found.value, at, node },
  };
  memo.set(server, { map: found.map, server: resolved });
  return resolved;
}

function configuredModel(workspace: Workspace, server: ModelServer): Configured | undefined {
  const { container, model } = server;
  if (model.state !== 'unknown' || model.at === undefined) return undefined;
  const { start, end } = model.at;
  const { resource } = container.template;
  const variables = envOf(container);
  // The variable itself, or a reference to one in an argument.
  const variable = variables.findLast(({ node }) => node.start === start && node.end === end);
  if (variable !== undefined) return ofVariable(workspace, resource, variable);
  const text = resource.placed.document.text.slice(start, end);
  const match = /^\$(?:\((\w+)\)|\{(\w+)\}|(\w+))$/.exec(text);
  const name = match?.[1] ?? match?.[2] ?? match?.[3];
  if (name === undefined) return undefined;
  const named = variables.findLast((each) => each.name === name);
  return named === undefined ? ofSource(workspace, server, name) : ofVariable(workspace, resource, named);
}

function ofVariable(workspace: Workspace, from: Resource, { node }: EnvVar): Configured | undefined {
  const reference = mapIn(node, 'valueFrom', 'configMapKeyRef');
  return valueIn(workspace, from, entryOf(reference, 'name')?.value, textIn(reference, 'key'));
}

/** `envFrom` with one source; another one may have the variable too, and would win or lose by its place. */
function ofSource(workspace: Workspace, { container }: ModelServer, name: string): Configured | undefined {
  const [source, ...others] = itemsIn(container.node, 'envFrom');
  if (!isMap(source) || others.length > 0) return undefined;
  const prefix = scalarIn(source, 'prefix');
  const before = isNull(prefix) ? '' : (prefix?.text ?? '');
  if (!name.startsWith(before)) return undefined;
  const map = getIn(source, 'configMapRef', 'name');
  return valueIn(workspace, container.template.resource, map, name.slice(before.length));
}

function valueIn(
  workspace: Workspace,
  from: Resource,
  name: YamlNode | undefined,
  key: string | undefined,
): Configured | undefined {
  const nameKey = nameKeyOf(from.placed.document, name);
  if (nameKey === undefined || key === undefined) return undefined;
  const found = workspace.lookup('ConfigMap', from.namespace, nameKey, from.scope, from.uri);
  if (found.state !== 'found') return undefined;
  const value = textIn(found.resource.root, 'data', key)?.trim();
  return value === undefined || value === '' || /\s/.test(value) ? undefined : { map: found.resource, value };
}
