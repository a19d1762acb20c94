import { serveConfigOf, spanInServeConfig, type ServeConfig } from '../../kube/model-server';
import type { Resource } from '../../kube/resource';
import {
  entryOf,
  getIn,
  isMap,
  isScalar,
  itemsIn,
  textIn,
  type MapNode,
  type YamlNode,
} from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { gpuText } from './servings';

export default defineRule({
  id: 'ray-actor-takes-engine-gpu',
  summary: 'A Ray Serve replica must leave the GPUs to the workers of its engine',
  severity: 'error',
  needs: 'document',
  kinds: ['RayService'],
  fixable: 'suggest',
  check(resource, { report }) {
    const config = serveConfigOf(resource);
    if (config === undefined) return;
    for (const application of itemsIn(config.root, 'applications').filter(isMap)) {
      for (const { name, options, tensor } of deploymentsOf(application)) {
        const entry = entryOf(options, 'num_gpus');
        const gpus = numberOf(entry?.value);
        if (options === undefined || entry === undefined || gpus === undefined || gpus <= 0 || tensor <= 1)
          continue;
        report({
          at: spanInServeConfig(config, entry.value),
          message: `${name} reserves ${gpuText(gpus)} for the replica's own actor, and its engine starts ${tensor} workers with a GPU each (tensor parallel ${tensor}); the workers find too few left, and the replica stays pending or fails`,
          fixes: [remove(resource, config, options, entry.key, entry.value)],
        });
      }
    }
  },
});

interface Deployment {
  /** For messages. */
  readonly name: string;
  readonly options: MapNode | undefined;
  /** Tensor parallel of the engine; 1 where it is not known. */
  readonly tensor: number;
}

function numberOf(node: YamlNode | undefined): number | undefined {
  if (!isScalar(node) || node.unknown) return undefined;
  const value = Number(node.text);
  return node.text.trim() === '' || Number.isNaN(value) ? undefined : value;
}

function mapAt(node: YamlNode | undefined, ...path: readonly string[]): MapNode | undefined {
  const found = getIn(node, ...path);
  return isMap(found) ? found : undefined;
}

/** Workers in one process of the actor, which take its GPUs and not others. */
function runsInActor(kwargs: YamlNode | undefined): boolean {
  return ['mp', 'uni'].includes(
    textIn(kwargs, 'distributed_executor_backend') ?? textIn(kwargs, 'distributed-executor-backend') ?? '',
  );
}

function tensorOf(kwargs: YamlNode | undefined): number | undefined {
  for (const key of ['tensor_parallel_size', 'tensor-parallel-size']) {
    const value = numberOf(getIn(kwargs, key));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Variables by which applications are told their tensor parallel, in public examples. */
const variables = /^(VLLM_)?(TENSOR_PARALLEL(ISM|_SIZE|_DEGREE)?|TP_SIZE|TP)$/;

function tensorOfVariables(application: MapNode, deployment: MapNode): number | undefined {
  for (const holder of [mapAt(deployment, 'ray_actor_options'), deployment, application]) {
    for (const { key, value } of mapAt(holder, 'runtime_env', 'env_vars')?.entries ?? []) {
      const number = variables.test(key.text) ? numberOf(value) : undefined;
      if (number !== undefined) return number;
    }
  }
  return undefined;
}

function deploymentsOf(application: MapNode): readonly Deployment[] {
  const found: Deployment[] = [];
  for (const llm of itemsIn(application, 'args', 'llm_configs').filter(isMap)) {
    const kwargs = getIn(llm, 'engine_kwargs');
    if (runsInActor(kwargs)) continue;
    found.push({
      name: `The model "${textIn(llm, 'model_loading_config', 'model_id') ?? ''}"`,
      options: mapAt(llm, 'deployment_config', 'ray_actor_options'),
      tensor: tensorOf(kwargs) ?? 1,
    });
  }
  for (const deployment of itemsIn(application, 'deployments').filter(isMap)) {
    const config = getIn(deployment, 'user_config');
    const args = getIn(application, 'args');
    if ([config, args].some((kwargs) => runsInActor(kwargs) || runsInActor(getIn(kwargs, 'engine_kwargs'))))
      continue;
    const tensor =
      tensorOf(config) ??
      tensorOf(getIn(config, 'engine_kwargs')) ??
      tensorOf(args) ??
      tensorOf(getIn(args, 'engine_kwargs')) ??
      tensorOfVariables(application, deployment);
    found.push({
      name: `Deployment "${textIn(deployment, 'name') ?? ''}"`,
      options: mapAt(deployment, 'ray_actor_options'),
      tensor: tensor ?? 1,
    });
  }
  return found;
}

/** Takes the whole line out of the string; only where the entry stands alone on it and others are left. */
function remove(
  resource: Resource,
  config: ServeConfig,
  options: MapNode,
  key: YamlNode,
  value: YamlNode,
): Fix | undefined {
  const { text } = resource.placed.document;
  const { node } = config;
  if (node.borrowed || node.style !== 'literal') return undefined;
  const from = spanInServeConfig(config, key).start;
  const to = spanInServeConfig(config, value).end;
  const title = 'Remove num_gpus';
  if (options.flow) {
    // With the comma behind or before it.
    const after = /^["']?\s*,\s*/.exec(text.slice(to));
    const before = /,\s*$/.exec(text.slice(0, from));
    if (after !== null)
      return { title, safe: false, edits: [{ start: from, end: to + after[0].length, newText: '' }] };
    const start = before === null ? from : from - before[0].length;
    return { title, safe: false, edits: [{ start, end: to, newText: '' }] };
  }
  if (options.entries.length === 1) return undefined;
  const start = text.lastIndexOf('\n', from) + 1;
  const newline = text.indexOf('\n', to);
  const end = newline < 0 ? text.length : newline + 1;
  if (text.slice(start, from).trim() !== '' || !/^["']?\s*(#.*)?\r?\n?$/.test(text.slice(to, end)))
    return undefined;
  return { title, safe: false, edits: [{ start, end, newText: '' }] };
}
