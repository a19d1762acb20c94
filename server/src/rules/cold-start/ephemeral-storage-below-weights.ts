import type { ResourceAmount } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import { formatBytes, quantityOf, toMemoryQuantity, toNumber } from '../../kube/quantity';
import type { Resource } from '../../kube/resource';
import { valueOf } from '../../kube/settings';
import { GiB, type Range } from '../../sizing/models/range';
import { replaceScalar } from '../../yaml/edit';
import { entryOf, textIn, type ScalarNode } from '../../yaml/node';
import { serversOf } from '../model/servings';
import { amountText, containerField, containerTitle, scalarLike, soleAmount } from '../resources/wording';
import { defineRule, type Fix } from '../rule';
import { downloadBytes, weightStore } from './weights';
import { sizeLimitOf, type Mounted } from './volumes';

/** Logs, compiled kernels and temporary files beside the weights. */
const beside = 5 * GiB;

/** Sizes of checkpoints are known to a few percent. */
const tolerance = 0.97;

export default defineRule({
  id: 'ephemeral-storage-below-weights',
  summary: 'Ephemeral storage must hold the weights that a pod downloads',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, models }) {
    for (const server of serversOf(resource)) {
      const store = weightStore(server);
      const { container } = server;
      const name = valueOf(server.model);
      if (name === undefined || store.kept !== 'no' || store.origin.kind === 'copied') continue;
      const bytes = downloadBytes(server, models);
      if (bytes === undefined) continue;
      // Where the cache is somewhere below the root of the container, or on an emptyDir.
      const found = tooSmall(server, store.mount, bytes);
      if (found === undefined) continue;
      const wanted = toMemoryQuantity(bytes.expected + (found.isMemory ? 1 * GiB : beside));
      report({
        at: found.at,
        message: `${containerTitle(container)} downloads ${formatBytes(bytes.expected)} of weights of ${name}, but ${found.what}; ${found.then}`,
        fixes: [raise(resource, [found.at, ...found.also], wanted)],
        ...containerField(container),
      });
    }
  },
});

interface TooSmall {
  readonly at: ScalarNode;
  readonly what: string;
  readonly then: string;
  readonly isMemory: boolean;
  /** Amounts that are too small as well. */
  readonly also: readonly ScalarNode[];
}

const evicted = 'the kubelet evicts the pod when it is exceeded, and the next one starts over';

function tooSmall(server: ModelServer, mount: Mounted | undefined, bytes: Range): TooSmall | undefined {
  const least = bytes.low * tolerance;
  const { container } = server;
  const limit = sizeLimitOf(mount?.volume);
  const quantity = quantityOf(limit);
  const isMemory = textIn(mount?.volume, 'emptyDir', 'medium') === 'Memory';
  if (limit !== undefined && quantity !== undefined && toNumber(quantity) < least) {
    const then = isMemory ? 'the download fails for want of space' : evicted;
    return {
      at: limit,
      what: `the volume "${mount?.name ?? ''}" is limited to ${limit.text}`,
      then,
      isMemory,
      also: [],
    };
  }
  // Another kind of volume is not charged to the container.
  if (isMemory || (mount !== undefined && entryOf(mount.volume, 'ephemeral') !== undefined)) return undefined;
  const byAmount = (amount: ResourceAmount | undefined): ScalarNode | undefined => {
    if (amount?.quantity === undefined || amount.entry.value.kind !== 'scalar') return undefined;
    return toNumber(amount.quantity) < least ? amount.entry.value : undefined;
  };
  const most = soleAmount(container.limits, 'ephemeral-storage');
  const asked = soleAmount(container.requests, 'ephemeral-storage');
  const limited = byAmount(most);
  const requested = byAmount(asked);
  if (limited !== undefined && most !== undefined) {
    return {
      at: limited,
      what: `its ephemeral storage is limited to ${amountText(most)}`,
      then: evicted,
      isMemory,
      also: requested === undefined ? [] : [requested],
    };
  }
  return requested === undefined || asked === undefined
    ? undefined
    : {
        at: requested,
        what: `it requests ${amountText(asked)} of ephemeral storage`,
        then: 'a node without that much free may be chosen, and the pod is evicted when its disk is full',
        isMemory,
        also: [],
      };
}

function raise(resource: Resource, places: readonly ScalarNode[], wanted: string): Fix | undefined {
  const edits = places.map((at) => replaceScalar(resource.placed.document, at, scalarLike(at, wanted)));
  if (edits.includes(undefined)) return undefined;
  return { title: `Raise it to ${wanted}`, safe: false, edits: edits.flatMap((edit) => edit ?? []) };
}
