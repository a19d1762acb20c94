import type { UserModel } from '../../sizing/models/types';
import { envValue } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import { formatBytes, toMemoryQuantity, toNumber } from '../../kube/quantity';
import { asNumber, valueOf, type Setting } from '../../kube/settings';
import { engineOf, servingOf } from '../../sizing/from-manifest';
import { atLeast, generationOf, type Engine } from '../../sizing/memory/engines';
import { hostMemoryForLoad } from '../../sizing/memory/host';
import { exactly, GiB } from '../../sizing/models/range';
import { estimate } from '../../sizing/memory/estimate';
import { hasRoomFor } from '../placement/room';
import { podShare } from '../sizing/served-model';
import { amountText, containerField, containerTitle } from '../resources/wording';
import { defineRule, type Place } from '../rule';
import { memoryLimit, setMemory } from './memory-amounts';
import { serversOf } from './servings';

export default defineRule({
  id: 'host-memory-pinned-by-offload',
  summary: 'Memory that a server pins for offloading must fit its memory limit',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, models }) {
    for (const server of serversOf(resource)) {
      const { container } = server;
      const limit = memoryLimit(container);
      if (limit?.quantity === undefined) continue;
      const workers = Math.max(1, podShare(server)?.workers ?? 1);
      const pinned = pinnedBy(server, workers, models);
      const largest = pinned.toSorted((a, b) => b.bytes - a.bytes)[0];
      if (largest === undefined) continue;
      const beside = processesOf(server, workers);
      const terms = [...pinned, ...beside];
      const need = terms.reduce((sum, { bytes }) => sum + bytes, 0);
      const has = toNumber(limit.quantity);
      if (has >= need) continue;
      const wanted = toMemoryQuantity(need);
      const sum = terms.map(({ label, bytes }) => `${formatBytes(bytes)} for ${label}`).join(' + ');
      report({
        at: largest.at,
        message: `${containerTitle(container)} has a memory limit of ${amountText(limit)}, but needs ${formatBytes(need)} of memory that cannot be reclaimed: ${sum}; it is OOMKilled when it fills them`,
        related: [{ resource, at: limit.entry.value, message: `The limit is ${amountText(limit)}` }],
        fixes: [
          hasRoomFor(container, 'memory', need)
            ? setMemory(
                resource,
                container,
                ['limits', 'requests'],
                wanted,
                `Raise ${container.requests.some(({ name }) => name === 'memory') ? 'memory limit and request' : 'the memory limit'} to ${wanted}`,
              )
            : undefined,
        ],
        evidence: ['2 GiB for each GPU worker and 2 GiB for the server: Python, CUDA and the engine'],
        ...containerField(container),
      });
    }
  },
});

interface Term {
  readonly label: string;
  readonly bytes: number;
}

interface Pinned extends Term {
  readonly at: Place;
}

/** Python, CUDA and the engine, which every server needs. */
function processesOf(server: ModelServer, workers: number): readonly Term[] {
  const { terms } = hostMemoryForLoad({
    weights: exactly(0),
    quantization: 'bf16',
    loader: 'dummy',
    engine: engineOf(server),
    workers,
    gpusPerCopy: workers,
    swapBytesPerGpu: 0,
  });
  return terms
    .map(({ label, bytes }) => ({ label: label === 'server' ? 'the server' : label, bytes: bytes.expected }))
    .filter(({ bytes }) => bytes > 0);
}

/** What the arguments and variables pin, each with its place. */
function pinnedBy(server: ModelServer, workers: number, models: readonly UserModel[]): readonly Pinned[] {
  const found: Pinned[] = [];
  const times = workers > 1 ? ` x ${workers} workers` : '';
  const add = (setting: Setting<number>, name: string, perWorker: boolean, most = () => Infinity): void => {
    const value = valueOf(setting);
    if (setting.state !== 'known' || value === undefined || !(value > 0)) return;
    const bytes = Math.min(value * GiB, most()) * (perWorker ? workers : 1);
    found.push({ label: `${name} ${value}${perWorker ? times : ''}`, bytes, at: setting.at });
  };
  const { arguments: args } = server;
  add(server.cpuOffloadGb, '--cpu-offload-gb', true, () => weightsPerGpu(server, models));
  if (pinsSwap(engineOf(server))) add(server.swapSpaceGb, '--swap-space', true);
  // The size is that of all ranks together; with LMCache it is a server of its own that holds it.
  if (valueOf(args.get('kv-offloading-backend')) !== 'lmcache') {
    add(asNumber(args.get('kv-offloading-size')), '--kv-offloading-size', false);
  }
  if (server.engine === 'sglang') add(asNumber(args.get('hicache-size')), '--hicache-size', true);
  const cache = envValue(server.container, 'LMCACHE_MAX_LOCAL_CPU_SIZE');
  const isOff = envValue(server.container, 'LMCACHE_LOCAL_CPU');
  if (cache.state === 'known' && !(isOff.state === 'known' && /^(false|0)$/i.test(isOff.text))) {
    const value = Number(cache.text);
    if (value > 0) {
      found.push({
        label: `LMCACHE_MAX_LOCAL_CPU_SIZE ${cache.text}${times}`,
        bytes: value * GiB * workers,
        at: cache.node,
      });
    }
  }
  return found;
}

/** No more can be offloaded than there is; without a limit where the model is not known. */
function weightsPerGpu(server: ModelServer, userModels: readonly UserModel[]): number {
  const config = servingOf(server, { userModels })?.config;
  if (config === undefined) return Infinity;
  const { cpuOffloadBytes: _, ...whole } = config;
  return estimate(whole).weights.perGpu.expected;
}

/** vLLM V0 pins its swap space; V1 takes the flag and does nothing with it. */
function pinsSwap(engine: Engine): boolean {
  if (engine.kind !== 'vllm') return false;
  return engine.version === undefined
    ? engine.generation !== 'V1'
    : !atLeast(engine, 0, 11) && (generationOf(engine) === 'V0' || engine.generation === 'V0');
}
