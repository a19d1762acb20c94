import { parseFile } from '../yaml/parse';
import {
  entryOf,
  getIn,
  isMap,
  isNull,
  isScalar,
  itemsIn,
  mapIn,
  scalarIn,
  type MapNode,
  type ScalarNode,
  type SequenceNode,
  type Span,
  type YamlNode,
} from '../yaml/node';
import { acceleratorsOf } from './accelerators';
import {
  commandLines,
  serverArguments,
  wordSetting,
  type CommandLine,
  type ServerArguments,
  type Word,
} from './arguments';
import { containers, envOf, envValue, type Container } from './containers';
import {
  besideServers,
  engines,
  helperPrograms,
  helperScripts,
  rayServe,
  scriptVariables,
  type Engine,
  type EngineKind,
  type SettingName,
} from './engines';
import { parseImage } from './images';
import type { PodTemplate } from './pod-carriers';
import type { Resource } from './resource';
import { scalarText, type ScalarText } from './scalar-text';
import { absent, asNumber, asTokenCount, unknownSetting, valueOf, type Setting } from './settings';

export type { Engine } from './engines';

export interface ModelServer {
  readonly engine: Engine;
  /** As people call it: `vLLM`. */
  readonly title: string;
  readonly container: Container;
  /** Where it was recognised: the program, the image, or the runtime's name. */
  readonly evidence: YamlNode;
  /**
   * It cannot do without an accelerator, as its image and arguments stand, and has to ask for it here: where another
   * object brings the resources (a serving runtime's user, a resource profile), only what is known of that counts.
   */
  readonly gpuOnly: boolean;
  /** Of the program that serves; empty where the image alone was recognised. */
  readonly arguments: ServerArguments;
  /** A repository name, a path, a URL: whatever the server is told. Without the scheme `hf://`. */
  readonly model: Setting;
  readonly tensorParallel: Setting<number>;
  readonly pipelineParallel: Setting<number>;
  readonly dataParallel: Setting<number>;
  readonly dtype: Setting;
  readonly quantization: Setting;
  /** Tokens. */
  readonly maxModelLen: Setting<number>;
  readonly maxNumSeqs: Setting<number>;
  /** 0 to 1. */
  readonly gpuMemoryUtilization: Setting<number>;
  readonly kvCacheDtype: Setting;
  /** GiB per GPU. */
  readonly cpuOffloadGb: Setting<number>;
  /** GiB per GPU. */
  readonly swapSpaceGb: Setting<number>;
  readonly loadFormat: Setting;
  readonly port: Setting<number>;
  /** The port without any setting. */
  readonly defaultPort: number | undefined;
  readonly healthPath: string | undefined;
  readonly metricsPath: string | undefined;
  /** Where metrics are, when not on the port of requests. */
  readonly metricsPort: number | undefined;
}

/** The port of requests: as set, else the engine's own; nothing when it is set to something unknown. */
export function servingPort(server: ModelServer): number | undefined {
  return server.port.state === 'absent' ? server.defaultPort : valueOf(server.port);
}

const noArguments = serverArguments([], false);
const hiddenArguments = serverArguments([], true);

interface Recognised {
  readonly kind: EngineKind;
  readonly evidence: YamlNode;
  readonly arguments: ServerArguments;
  /** The model as the first word behind the program. */
  readonly positional: Word | undefined;
  /** The program could not be seen, only the image. */
  readonly hidden: boolean;
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

/** Words before a program that start it: shells' keywords and wrappers. */
const wrappers =
  /^(exec|nohup|time|then|do|else|!|if|while|sudo|env|tini|dumb-init|catatonit|gosu|su-exec|ddtrace-run|opentelemetry-instrument|stdbuf|numactl|taskset|nice|uv|run|poetry|pipenv|nsys|profile|timeout|xargs|--)$/;

/** The program of a command, its wrappers left behind. */
function programIndex(words: readonly Word[]): number {
  let index = 0;
  while (index < words.length) {
    const text = words[index]?.text ?? '';
    const afterWrapper = index > 0;
    if (
      wrappers.test(baseName(text)) ||
      (afterWrapper && (/^-/.test(text) || /^[A-Za-z_]\w*=/.test(text) || /^\d+[smh]?$/.test(text)))
    ) {
      index += 1;
    } else return index;
  }
  return 0;
}

/** Interpreters whose argument is the program. */
const interpreters = /^(python[\d.]*|pypy3?|bash|sh|dash|ash)$/;

function matchCommand(kind: EngineKind, words: readonly Word[]): { index: number; word: Word } | undefined {
  const start = programIndex(words);
  const first = words[start];
  if (first === undefined) return undefined;
  const isInterpreter = interpreters.test(baseName(first.text));
  let at = start;
  if (isInterpreter) {
    at = start + 1;
    while (at < words.length && /^-(?!m$)/.test(words[at]?.text ?? '')) at += 1;
    if (words[at]?.text === '-m') {
      const module = words[at + 1];
      return module !== undefined && kind.modules?.test(module.text) === true
        ? { index: at + 2, word: module }
        : undefined;
    }
  }
  const program = words[at];
  if (program === undefined || program.unknown) return undefined;
  for (const { name, then } of kind.programs ?? []) {
    if (!name.test(baseName(program.text))) continue;
    // A script's name alone says little; its folder must name the engine.
    if (/\\\.(py|sh)/.test(name.source) && !isInEngineFolder(kind, program.text)) continue;
    const following = then ?? [];
    if (!following.every((text, index) => words[at + 1 + index]?.text === text)) continue;
    return { index: at + 1 + following.length, word: program };
  }
  return undefined;
}

function isInEngineFolder(kind: EngineKind, path: string): boolean {
  return kind.engine === 'triton' || path.includes(kind.engine);
}

/** Certainly something else than a server: `sleep`, a download, a client. */
function isHelper(words: readonly Word[]): boolean {
  const start = programIndex(words);
  const first = words[start];
  if (first === undefined) return true;
  const program = baseName(first.text);
  if (!interpreters.test(program)) {
    if (helperPrograms.test(program) || helperScripts.test(first.text.slice(-200))) return true;
    return program === 'vllm' && !first.unknown && words[start + 1]?.text !== 'serve';
  }
  let at = start + 1;
  while (at < words.length && /^-(?![mc]$)/.test(words[at]?.text ?? '')) at += 1;
  const next = words[at];
  // An interpreter without a script waits for input; code on the command line is hardly a server.
  if (next === undefined || next.text === '-c' || next.text === '-') return true;
  if (next.text === '-m') {
    return /^(http\.server|pip|vllm\.entrypoints\.openai\.run_batch|torch\.distributed|sglang\.bench\w*|sglang_router|benchmark|dynamo\.frontend)/.test(
      words[at + 1]?.text ?? '',
    );
  }
  return helperScripts.test(next.text.slice(-200));
}

function byCommand(lines: readonly CommandLine[]): Recognised | undefined {
  for (const line of lines) {
    for (const kind of engines) {
      const match = matchCommand(kind, line.words);
      if (match === undefined) continue;
      const rest = line.words.slice(match.index);
      const args = serverArguments(rest, line.open || rest.some((word) => word.text === '--config'));
      const positional = kind.positionalModel === true ? positionalModel(kind, args) : undefined;
      return { kind, evidence: match.word.node, arguments: args, positional, hidden: false };
    }
  }
  return undefined;
}

/** `vllm serve MODEL`, also where flags come first, as far as their values can be told apart. */
function positionalModel(kind: EngineKind, args: ServerArguments): Word | undefined {
  const candidates =
    kind.engine === 'tensorrt-llm'
      ? args.positionals.filter(({ text }) => text !== 'serve')
      : args.positionals;
  if (candidates[0] !== undefined) return candidates[0];
  const last = args.words.at(-1);
  const before = args.words.at(-2);
  // `vllm serve --port 8000 org/model`: a word behind a flag with its value.
  const isLoose =
    last !== undefined && before !== undefined && !/^-/.test(last.text) && !/^--?[A-Za-z]/.test(before.text);
  return isLoose && /\//.test(last.text) ? last : undefined;
}

function byImage(container: Container, lines: readonly CommandLine[]): Recognised | undefined {
  if (container.image === undefined || container.imageText === undefined) return undefined;
  const image = parseImage(container.imageText);
  // Ray pods run Ray, whatever else is in their image; Ray Serve is recognised by its own configuration.
  if (container.template.resource.group === 'ray.io') return undefined;
  if (besideServers.test(image.name.slice(0, 200))) return undefined;
  const kind = engines.find(
    (candidate) =>
      candidate.image?.test(image.repository) === true &&
      (candidate.tag?.must === undefined || candidate.tag.must.test(image.tag ?? '')) &&
      (candidate.tag?.never === undefined || !candidate.tag.never.test(image.tag ?? '')),
  );
  if (kind === undefined) return undefined;
  const written = lines.filter((line) => line.words.length > 0);
  const [first] = written;
  if (first === undefined) {
    const open = lines.some((line) => line.open);
    return {
      kind,
      evidence: container.image,
      arguments: open ? hiddenArguments : noArguments,
      positional: undefined,
      hidden: open,
    };
  }
  if (first.entrypoint) {
    // Arguments of the image's own entrypoint. One that names a program replaces what the entrypoint would run.
    if (first.words[0] !== undefined && !/^-/.test(first.words[0].text) && isHelper(first.words))
      return undefined;
    const args = serverArguments(
      first.words,
      first.open || first.words.some((word) => word.text === '--config'),
    );
    const positional = kind.positionalModel === true ? positionalModel(kind, args) : undefined;
    return { kind, evidence: container.image, arguments: args, positional, hidden: false };
  }
  if (written.every((line) => isHelper(line.words))) return undefined;
  // Another program with the server's image: a script that starts it, most likely.
  return { kind, evidence: container.image, arguments: hiddenArguments, positional: undefined, hidden: true };
}

function environment(container: Container, names: readonly string[]): Setting {
  let open = false;
  for (const name of names) {
    const found = envValue(container, name);
    if (found.state === 'known') {
      const text = scalarText(container.template.resource.placed.document.text, found.node);
      return {
        state: 'known',
        value: found.text,
        text: found.text,
        at: text.span(0, text.text.length),
        node: found.node,
      };
    }
    if (found.state === 'unknown') {
      if (found.variable !== undefined) {
        return { state: 'unknown', at: found.variable.node, node: found.variable.value };
      }
      open = true;
    }
  }
  return open ? unknownSetting : absent;
}

type Lookup = (name: SettingName) => Setting;

/** Flags win over variables; a script's own variables count only where its flags cannot be seen. */
function lookupOf(container: Container, found: Recognised): Lookup {
  const { kind, arguments: args, positional, hidden } = found;
  return (name) => {
    if (name === 'model' && positional !== undefined) return wordSetting(positional);
    const [flag, ...aliases] = kind.flags[name] ?? [];
    const byFlag = flag === undefined ? absent : args.get(flag, aliases);
    if (byFlag.state === 'known' || (byFlag.state === 'unknown' && byFlag.at !== undefined)) return byFlag;
    const names = [...(kind.env[name] ?? []), ...(hidden ? (scriptVariables[name] ?? []) : [])];
    const byEnv = environment(container, names);
    if (byEnv.state === 'known' || (byEnv.state === 'unknown' && byEnv.at !== undefined)) return byEnv;
    // `envFrom` can set a variable that nobody would expect there; only an engine's own names make it unknown.
    return byFlag.state === 'unknown' ? byFlag : (kind.env[name]?.length ?? 0) > 0 ? byEnv : absent;
  };
}

/** Drops a scheme that only says where a repository name is looked up. */
function withoutScheme(setting: Setting): Setting {
  if (setting.state !== 'known') return setting;
  const match = /^(hf|ollama|huggingface):\/\//.exec(setting.value);
  if (match === null) return setting;
  const { length } = match[0];
  const exact = setting.at.end - setting.at.start === setting.value.length;
  return {
    ...setting,
    value: setting.value.slice(length),
    text: setting.value.slice(length),
    at: exact ? { start: setting.at.start + length, end: setting.at.end } : setting.at,
  };
}

/** Images and arguments by which an engine that wants a GPU runs without one, or on another accelerator. */
const otherDevice = /(^|[-_.:/])(cpu|tpu|neuron(x)?|inf2|trn1|hpu|gaudi|xpu|openvino|arm64-cpu)([-_.:/]|$)/;

function needsGpu(kind: EngineKind, container: Container, args: ServerArguments): boolean {
  if (kind.runsOnCpu === true) return false;
  if (container.imageText !== undefined && otherDevice.test(container.imageText)) return false;
  if (kind.engine === 'tei' && /^(cpu|.*-cpu)/.test(parseImage(container.imageText ?? '').tag ?? ''))
    return false;
  const device = args.get('device');
  if (device.state === 'known' && !/^(cuda|gpu|auto)/.test(device.value)) return false;
  const target = envValue(container, 'VLLM_TARGET_DEVICE');
  return target.state !== 'known' || target.text === 'cuda' || target.text === 'rocm';
}

function build(
  container: Container,
  kind: EngineKind,
  evidence: YamlNode,
  args: ServerArguments,
  lookup: Lookup,
  gpuOnly: boolean,
): ModelServer {
  return {
    engine: kind.engine,
    title: kind.title,
    container,
    evidence,
    gpuOnly,
    arguments: args,
    model: withoutScheme(lookup('model')),
    tensorParallel: asNumber(lookup('tensorParallel')),
    pipelineParallel: asNumber(lookup('pipelineParallel')),
    dataParallel: asNumber(lookup('dataParallel')),
    dtype: lookup('dtype'),
    quantization: lookup('quantization'),
    maxModelLen: asTokenCount(lookup('maxModelLen')),
    maxNumSeqs: asNumber(lookup('maxNumSeqs')),
    gpuMemoryUtilization: asNumber(lookup('gpuMemoryUtilization')),
    kvCacheDtype: lookup('kvCacheDtype'),
    cpuOffloadGb: asNumber(lookup('cpuOffloadGb')),
    swapSpaceGb: asNumber(lookup('swapSpaceGb')),
    loadFormat: lookup('loadFormat'),
    port: asNumber(lookup('port')),
    defaultPort: kind.port,
    healthPath: kind.health,
    metricsPath: kind.metrics,
    metricsPort: kind.metricsPort,
  };
}

function scalarSetting(container: Container, node: YamlNode | undefined): Setting {
  if (node === undefined) return absent;
  if (!isScalar(node) || node.unknown)
    return { state: 'unknown', at: node, node: isScalar(node) ? node : undefined };
  if (node.value === null) return absent;
  const text = scalarText(container.template.resource.placed.document.text, node);
  return { state: 'known', value: node.text, text: node.text, at: text.span(0, text.text.length), node };
}

function firstSet(...settings: readonly Setting[]): Setting {
  return settings.find((setting) => setting.state !== 'absent') ?? absent;
}

/** A NIM image names its model: `nim/meta/llama-3.1-8b-instruct`. */
function nimImageModel(container: Container): Setting {
  const { image, imageText } = container;
  if (image === undefined || imageText === undefined) return absent;
  const match = /(?:^|\/)nim\/([^/]+\/[^/:@]+)/.exec(imageText);
  const model = match?.[1];
  if (model === undefined || /(^|\/)(llm-nim|vllm|multi-llm)/.test(model)) return absent;
  const start = imageText.indexOf(model);
  const text = scalarText(container.template.resource.placed.document.text, image);
  return {
    state: 'known',
    value: model,
    text: model,
    at: text.span(start, start + model.length),
    node: image,
  };
}

/** `ollama pull MODEL` in the script or the start hook of the container. */
function ollamaModel(container: Container): Setting {
  const lines = [...commandLines(container), ...hookLines(container)];
  for (const { words } of lines) {
    for (let index = 0; index + 2 < words.length; index += 1) {
      const model = words[index + 2];
      if (
        baseName(words[index]?.text ?? '') === 'ollama' &&
        /^(pull|run)$/.test(words[index + 1]?.text ?? '') &&
        model !== undefined
      ) {
        return wordSetting(model);
      }
    }
  }
  return absent;
}

/** The programs of a `postStart` hook, read as if the container started them. */
function hookLines(container: Container): readonly CommandLine[] {
  const exec = mapIn(container.node, 'lifecycle', 'postStart', 'exec');
  if (exec === undefined) return [];
  const env = entryOf(container.node, 'env');
  const node: MapNode = { ...exec, entries: env === undefined ? exec.entries : [...exec.entries, env] };
  return commandLines({ ...container, node });
}

/** KServe's `model:` block: the runtime is chosen by format or name, its arguments are appended to the runtime's. */
function kserveModel(container: Container): ModelServer | undefined {
  const { node, template } = container;
  const format = scalarIn(node, 'modelFormat', 'name');
  const runtime = scalarIn(node, 'runtime');
  const key = template.implicitContainers.find((implicit) => implicit.node === node);
  const entry = template.spec.entries.find(({ value }) => value === node);
  const names = [format?.text, runtime?.text, entry?.key.text === 'model' ? undefined : entry?.key.text]
    .filter((text) => text !== undefined)
    .join(' ')
    .toLowerCase();
  const rules: readonly (readonly [RegExp, Engine])[] = [
    [/nim/, 'nim'],
    [/vllm/, 'vllm'],
    [/sglang/, 'sglang'],
    [/tgi|text-generation/, 'tgi'],
    [/tensorrt-?llm|trtllm/, 'tensorrt-llm'],
    [/triton|tensorrt/, 'triton'],
    [/huggingface/, 'kserve'],
  ];
  const engine = rules.find(([pattern]) => pattern.test(names))?.[1];
  const kind = engines.find((candidate) => candidate.engine === engine);
  if (kind === undefined || key === undefined) return undefined;
  const lines = commandLines(container);
  const words = lines.flatMap((line) => line.words);
  // The runtime brings arguments of its own.
  const args = serverArguments(words, true);
  const huggingFace = engines.find((candidate) => candidate.engine === 'kserve');
  const lookup: Lookup = (name) => {
    const flags = [...(kind.flags[name] ?? []), ...(huggingFace?.flags[name] ?? [])];
    const [flag, ...aliases] = flags;
    const byFlag = flag === undefined ? absent : args.get(flag, aliases);
    if (byFlag.state === 'known' || (byFlag.state === 'unknown' && byFlag.at !== undefined)) return byFlag;
    const byEnv = environment(container, kind.env[name] ?? []);
    if (byEnv.state === 'known') return byEnv;
    if (name === 'model') {
      const uri = firstSet(
        scalarSetting(container, entryOf(node, 'storageUri')?.value),
        scalarSetting(container, getIn(node, 'storage', 'path')),
      );
      // A NIM names its model by the runtime; the storage is only its cache.
      if (kind.engine === 'nim') return withoutPrefix(scalarSetting(container, format), /^nvidia-nim-/);
      if (uri.state !== 'absent') return uri;
    }
    return unknownSetting;
  };
  const evidence = runtime ?? format ?? node;
  return build(container, kind, evidence, args, lookup, acceleratorsOf(container).length > 0);
}

function withoutPrefix(setting: Setting, prefix: RegExp): Setting {
  if (setting.state !== 'known') return setting;
  const length = prefix.exec(setting.value)?.[0].length ?? 0;
  const value = setting.value.slice(length);
  return { ...setting, value, text: value, at: { start: setting.at.start + length, end: setting.at.end } };
}

/**
 * An `LLMInferenceService`: the `main` container is vLLM from the operator's configuration; model and parallelism are
 * fields of the object, arguments come on top of those that the configuration brings.
 */
function llmInferenceService(container: Container): ModelServer | undefined {
  const { template } = container;
  const { root } = template.resource;
  const kind = engines.find((candidate) => candidate.engine === 'vllm');
  const uri = scalarIn(root, 'spec', 'model', 'uri');
  if (container.name !== 'main' || kind === undefined || uri === undefined) return undefined;
  const lines = [...commandLines(container), ...variableLines(container, 'VLLM_ADDITIONAL_ARGS')];
  const args = serverArguments(
    lines.flatMap((line) => line.words),
    true,
  );
  const parallelism =
    template.part === 'prefill' ? ['spec', 'prefill', 'parallelism'] : ['spec', 'parallelism'];
  const fields: Readonly<Partial<Record<SettingName, string>>> = {
    tensorParallel: 'tensor',
    pipelineParallel: 'pipeline',
    dataParallel: 'data',
  };
  const lookup: Lookup = (name) => {
    if (name === 'model') return scalarSetting(container, uri);
    const field = fields[name];
    const [flag, ...aliases] = kind.flags[name] ?? [];
    const written =
      field === undefined ? absent : scalarSetting(container, getIn(root, ...parallelism, field));
    return written.state !== 'absent' || flag === undefined ? written : args.get(flag, aliases);
  };
  return build(container, kind, uri, args, lookup, acceleratorsOf(container).length > 0);
}

/** Arguments in a variable that the operator's script hands to the server, split as its shell does. */
function variableLines(container: Container, name: string): readonly CommandLine[] {
  const value = envOf(container).findLast((variable) => variable.name === name)?.value;
  if (value === undefined) return [];
  const place = { start: value.start, end: value.start, borrowed: true };
  const word = (text: string): ScalarNode => ({
    ...place,
    kind: 'scalar',
    value: text,
    text,
    style: 'plain',
    unknown: false,
  });
  const list = (...items: readonly ScalarNode[]): SequenceNode => ({
    ...place,
    kind: 'sequence',
    items,
    flow: true,
    open: false,
  });
  const entries = [
    { key: word('command'), value: list(word('sh'), word('-c')) },
    { key: word('args'), value: list(value) },
  ];
  return commandLines({ ...container, node: { ...container.node, entries } });
}

/** The operator's configuration brings the command, for an image of vLLM or one that is not known. */
function isOperatorsCommand(container: Container): boolean {
  if (container.name !== 'main' || !isNull(entryOf(container.node, 'command')?.value)) return false;
  return (
    container.image === undefined ||
    byImage(container, [])?.kind.engine === 'vllm' ||
    container.imageText === undefined
  );
}

/** A KubeAI `Model`: engine, url and arguments are its own fields. */
function kubeAiModel(container: Container): ModelServer | undefined {
  const { node } = container;
  const engineNode = scalarIn(node, 'engine');
  const byName: Readonly<Record<string, Engine>> = {
    vllm: 'vllm',
    ollama: 'ollama',
    infinity: 'tei',
  };
  const engine = byName[(engineNode?.text ?? '').toLowerCase()];
  const kind = engines.find((candidate) => candidate.engine === engine);
  if (kind === undefined || engineNode === undefined) return undefined;
  const words = commandLines(container).flatMap((line) => line.words);
  const args = serverArguments(words, false);
  const found: Recognised = {
    kind,
    evidence: engineNode,
    arguments: args,
    positional: undefined,
    hidden: false,
  };
  const settings = lookupOf(container, found);
  const lookup: Lookup = (name) =>
    name === 'model' ? scalarSetting(container, entryOf(node, 'url')?.value) : settings(name);
  const profile = scalarIn(node, 'resourceProfile');
  const gpuOnly =
    kind.engine === 'vllm' &&
    profile !== undefined &&
    !profile.unknown &&
    !/^(cpu|google-tpu)/.test(profile.text);
  return build(container, kind, engineNode, args, lookup, gpuOnly);
}

/** A YAML document in a string; positions of its nodes are its own, see {@link spanInServeConfig}. */
export interface ServeConfig {
  readonly node: ScalarNode;
  readonly text: ScalarText;
  readonly root: YamlNode | undefined;
  readonly offset: number;
}

const serveConfigs = new WeakMap<Resource, ServeConfig | null>();

/** The Ray Serve configuration of a RayService, which is YAML in a string. */
export function serveConfigOf(resource: Resource): ServeConfig | undefined {
  const known = serveConfigs.get(resource);
  if (known !== undefined) return known ?? undefined;
  const node = scalarIn(resource.root, 'spec', 'serveConfigV2');
  let config: ServeConfig | null = null;
  if (node !== undefined && node.value !== null) {
    const text = scalarText(resource.placed.document.text, node);
    const [placed] = parseFile('', text.text).documents;
    if (placed !== undefined) config = { node, text, root: placed.document.root, offset: placed.offset };
  }
  serveConfigs.set(resource, config);
  return config ?? undefined;
}

/** Where a node of a Ray Serve configuration stands in the document of its RayService, without quotes. */
export function spanInServeConfig(config: ServeConfig, node: YamlNode): Span {
  const quotes = isScalar(node) && (node.style === 'single' || node.style === 'double') ? 1 : 0;
  return config.text.span(config.offset + node.start + quotes, config.offset + node.end - quotes);
}

function nested(config: ServeConfig, node: YamlNode | undefined): Setting {
  if (node === undefined) return absent;
  const at = spanInServeConfig(config, node);
  if (!isScalar(node) || node.unknown || /^\$\w+|\$\{/.test(node.text)) {
    return { state: 'unknown', at, node: config.node };
  }
  return node.value === null
    ? absent
    : { state: 'known', value: node.text, text: node.text, at, node: config.node };
}

/** Ray Serve's LLM application on a worker of a RayService. */
function rayServeServer(container: Container): ModelServer | undefined {
  const { template } = container;
  if (template.resource.kind !== 'RayService' || !runsReplicas(template)) return undefined;
  const config = serveConfigOf(template.resource);
  if (config === undefined) return undefined;
  const applications = itemsIn(config.root, 'applications');
  const llms = applications
    .flatMap((application) => itemsIn(application, 'args', 'llm_configs'))
    .filter(isMap);
  const [llm] = llms;
  const image = container.imageText === undefined ? '' : parseImage(container.imageText).repository;
  const isLlm =
    llm !== undefined ||
    applications.some((application) =>
      /ray\.serve\.llm/.test(scalarIn(application, 'import_path')?.text ?? ''),
    );
  const isVllm =
    /(^|[-_./])(vllm|ray-llm)/.test(image) ||
    applications.some((application) => /vllm/i.test(scalarIn(application, 'import_path')?.text ?? ''));
  if (!isLlm && !isVllm) return undefined;
  const [application] = applications;
  const lookup: Lookup = (name) => {
    // Several models on one cluster share nothing; what holds for one says nothing about the pods.
    if (llms.length > 1) return unknownSetting;
    const flags = (rayServe.flags[name] ?? []).map((flag) => flag.replaceAll('-', '_'));
    if (name === 'port') return absent;
    if (llm !== undefined) {
      if (name === 'model') {
        const source = getIn(llm, 'model_loading_config', 'model_source');
        const uri = isMap(source) ? entryOf(source, 'bucket_uri')?.value : source;
        return firstSet(nested(config, uri), nested(config, getIn(llm, 'model_loading_config', 'model_id')));
      }
      return firstSet(...flags.map((flag) => nested(config, getIn(llm, 'engine_kwargs', flag))));
    }
    const variables = getIn(application, 'runtime_env', 'env_vars');
    const names = scriptVariables[name] ?? [];
    const own = firstSet(
      ...flags.map((flag) => nested(config, getIn(application, 'args', flag))),
      ...names.map((variable) => nested(config, getIn(variables, variable))),
    );
    // The application's code decides what is not said here.
    return own.state === 'absent' ? unknownSetting : own;
  };
  return build(
    container,
    rayServe,
    config.node,
    llm === undefined ? hiddenArguments : noArguments,
    lookup,
    false,
  );
}

/** Replicas run where the accelerators are: on workers, on a head only when it has some itself or is alone. */
function runsReplicas(template: PodTemplate): boolean {
  if (template.part === 'worker') return true;
  return containers(template).some((container) => acceleratorsOf(container).length > 0);
}

const memo = new WeakMap<Container, ModelServer | null>();

/**
 * The model server that a container runs, if it is one. Recognised by its program, else by its image; never by an image
 * whose program is plainly another (`sleep`, a download, a benchmark), and never in an init container.
 */
export function modelServerOf(container: Container): ModelServer | undefined {
  const known = memo.get(container);
  if (known !== undefined) return known ?? undefined;
  const server = recognise(container);
  memo.set(container, server ?? null);
  return server;
}

function recognise(container: Container): ModelServer | undefined {
  if (container.kind === 'init' || container.kind === 'ephemeral') return undefined;
  const { template } = container;
  const { group, kind: resourceKind } = template.resource;
  if (group === 'kubeai.org' && resourceKind === 'Model') return kubeAiModel(container);
  if (group === 'ray.io') {
    const server = rayServeServer(container);
    if (server !== undefined) return server;
  }
  if (
    group === 'serving.kserve.io' &&
    resourceKind === 'LLMInferenceService' &&
    isOperatorsCommand(container)
  ) {
    return llmInferenceService(container);
  }
  const isImplicit = template.implicitContainers.some((implicit) => implicit.node === container.node);
  if (group === 'serving.kserve.io' && isImplicit && container.image === undefined)
    return kserveModel(container);
  const lines = commandLines(container);
  const found = byCommand(lines) ?? byImage(container, lines);
  if (found === undefined) return undefined;
  const settings = lookupOf(container, found);
  const lookup: Lookup = (name) => {
    const setting = settings(name);
    if (name !== 'model' || setting.state === 'known') return setting;
    const other =
      found.kind.engine === 'nim'
        ? nimImageModel(container)
        : found.kind.engine === 'ollama'
          ? ollamaModel(container)
          : absent;
    return other.state === 'absent' ? setting : other;
  };
  const gpuOnly =
    needsGpu(found.kind, container, found.arguments) &&
    (!template.resourcesElsewhere || acceleratorsOf(container).length > 0);
  return build(container, found.kind, found.evidence, found.arguments, lookup, gpuOnly);
}

/** Every model server of a pod. */
export function modelServers(template: PodTemplate): readonly ModelServer[] {
  return containers(template).flatMap((container) => modelServerOf(container) ?? []);
}
