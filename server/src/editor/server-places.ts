import { acceleratorKind } from '../kube/accelerators';
import { envOf } from '../kube/containers';
import { engines, type SettingName } from '../kube/engines';
import type { ModelServer } from '../kube/model-server';
import type { Resource } from '../kube/resource';
import type { Setting } from '../kube/settings';
import { serversOf } from '../rules/model/servings';
import type { Entry, Span } from '../yaml/node';
import { holds } from './place';

/** What a part of a manifest has to do with the memory of a model server. */
export type ServerTopic = 'model' | 'gpus' | 'length' | 'memory' | 'option';

/** A place that says something about one model server. */
export interface ServerPlace {
  readonly server: ModelServer;
  readonly topic: ServerTopic;
  /** Relative to the document: of an argument the flag with its value, of a variable its item in the list. */
  readonly at: Span;
  /** Of a resource amount. */
  readonly entry?: Entry;
}

const topics: Readonly<Partial<Record<SettingName, ServerTopic>>> = {
  model: 'model',
  tensorParallel: 'gpus',
  pipelineParallel: 'gpus',
  dataParallel: 'gpus',
  maxModelLen: 'length',
  maxNumSeqs: 'option',
  dtype: 'option',
  quantization: 'option',
  gpuMemoryUtilization: 'option',
  kvCacheDtype: 'option',
  cpuOffloadGb: 'memory',
  swapSpaceGb: 'memory',
  loadFormat: 'memory',
};

const named = Object.entries(topics) as readonly [keyof typeof topics & keyof ModelServer, ServerTopic][];

function bareFlag(text: string): string {
  const equals = text.indexOf('=');
  return (equals < 0 ? text : text.slice(0, equals)).replace(/^-+/, '').replaceAll('_', '-');
}

/** The flags of a server's engine, without dashes in front, by what they set. */
function topicOfFlag(server: ModelServer, text: string): ServerTopic | undefined {
  const flag = bareFlag(text);
  for (const kind of engines) {
    if (kind.engine !== server.engine) continue;
    for (const [name, topic] of named) {
      if (kind.flags[name]?.some((known) => bareFlag(known) === flag) === true) return topic;
    }
  }
  return undefined;
}

/** Every place of an object that says something about its model servers, the model's own first. */
export function serverPlaces(resource: Resource): readonly ServerPlace[] {
  return serversOf(resource).flatMap(placesOf);
}

function placesOf(server: ModelServer): readonly ServerPlace[] {
  const { container } = server;
  const places: ServerPlace[] = [];
  for (const [name, topic] of named) {
    const setting = server[name] as Setting<unknown>;
    if (setting.state === 'absent' || setting.at === undefined) continue;
    const { node } = setting;
    const variable = node === undefined ? undefined : envOf(container).find(({ value }) => value === node);
    const item = variable?.node.kind === 'map' ? variable.node : undefined;
    // A variable that holds the value takes its whole item; a script is only pointed at where the value stands.
    places.push({ server, topic, at: item ?? setting.at });
  }
  const { words } = server.arguments;
  words.forEach((word, index) => {
    const topic = /^--?[A-Za-z]/.test(word.text) ? topicOfFlag(server, word.text) : undefined;
    if (topic === undefined) return;
    places.push({ server, topic, at: word.at });
    const next = words[index + 1];
    if (next !== undefined && !word.text.includes('=') && !/^--?[A-Za-z]/.test(next.text))
      places.push({ server, topic, at: next.at });
  });
  for (const { name, entry } of [...container.limits, ...container.requests]) {
    const topic =
      name === 'memory' ? 'memory' : acceleratorKind(name) === undefined ? undefined : ('gpus' as const);
    if (topic === undefined || entry.key.borrowed) continue;
    const at = { start: entry.key.start, end: Math.max(entry.key.end, entry.value.end) };
    places.push({ server, topic, at, entry });
  }
  return places;
}

/** The smallest such place that holds an offset of the object's document. */
export function serverPlaceAt(resource: Resource, offset: number): ServerPlace | undefined {
  let best: ServerPlace | undefined;
  for (const place of serverPlaces(resource)) {
    if (!holds(place.at, offset)) continue;
    if (best === undefined || place.at.end - place.at.start < best.at.end - best.at.start) best = place;
  }
  return best;
}
