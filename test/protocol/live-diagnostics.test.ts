import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LiveReader, LiveSources } from '../../server/src/lsp/live-reader';
import type { LiveSnapshot } from '../../server/src/live/snapshot';
import type { PanelSession } from '../../server/src/protocol/panel';
import { panelSessionNotification } from '../../server/src/protocol/panel';
import containerOomKilled from '../../server/src/rules/live/container-oom-killed';
import podsWithoutNode from '../../server/src/rules/live/pods-without-node';
import { fixtureNow, liveFixture } from '../support/live';
import { pullingClient, start, uriOf } from './support/client';

/** What a cluster says, on the lines of the manifest: it comes with the panel's reads, follows them, and goes with it. */

const chat = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  selector:
    matchLabels: { app: chat }
  template:
    metadata:
      labels: { app: chat }
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.21.0
          resources:
            limits:
              memory: 32Gi
              nvidia.com/gpu: 1
`;

const object = { kind: 'Deployment', name: 'chat' };

function cluster(...pods: readonly object[]): LiveSnapshot {
  return liveFixture(JSON.stringify({ object, cluster: { pods } }), 'test');
}

const healthy = cluster({
  name: 'chat-0',
  containers: [{ name: 'vllm', limits: { memory: 32 * 1024 ** 3 } }],
});
const killed = cluster({
  name: 'chat-0',
  ready: false,
  containers: [
    {
      name: 'vllm',
      restarts: 3,
      limits: { memory: 32 * 1024 ** 3 },
      state: { kind: 'waiting', reason: 'CrashLoopBackOff', message: '' },
      lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: 'now-2m' },
    },
  ],
});

/** A cluster that a test changes; watches hear of it at once. */
function fakeCluster(first: LiveSnapshot): { readonly sources: LiveSources; say(next: LiveSnapshot): void } {
  let current = first;
  const listeners = new Set<() => void>();
  const reader: LiveReader = {
    namespace: async () => 'default',
    read: async (want) => ({ ...current, want }),
    watch: (_, changed, signal) => {
      listeners.add(changed);
      signal.addEventListener('abort', () => listeners.delete(changed));
    },
    namespaces: async () => [],
    log: async () => '',
    object: async () => undefined,
    dispose: async () => undefined,
  };
  return {
    sources: {
      contexts: async () => ({ contexts: [], files: [] }),
      connect: () => reader,
      now: () => fixtureNow,
    },
    say(next) {
      current = next;
      for (const changed of [...listeners]) changed();
    },
  };
}

describe('what the cluster says about a manifest', () => {
  test('stands on its line within a read, changes with the cluster, and goes when nobody looks', async () => {
    const { sources, say } = fakeCluster(healthy);
    const { client, clock } = await start({
      capabilities: pullingClient,
      files: { '/ws/chat.yaml': chat },
      rules: [containerOomKilled, podsWithoutNode],
      live: sources,
    });
    await client.ready();
    const uri = uriOf('/ws/chat.yaml');
    await client.open(uri, chat);
    assert.deepEqual((await client.pull(uri)).items, [], 'nothing is connected');

    const session = (more: Partial<PanelSession>): Promise<void> =>
      client.connection.sendNotification(panelSessionNotification, {
        connection: { kind: 'cluster', context: 'test' },
        focus: { uri, line: 3, character: 8 },
        range: '1h',
        visible: true,
        baselines: {},
        ...more,
      });
    const messages = async (): Promise<readonly string[]> =>
      (await client.pull(uri)).items.map(({ message, range }) => `${range.start.line}: ${message}`);
    const found = async (
      what: string,
      holds: (found: readonly string[]) => boolean,
    ): Promise<readonly string[]> => {
      for (let turn = 0; turn < 200; turn++) {
        await clock.advance(100);
        const now = await messages();
        if (holds(now)) return now;
      }
      return assert.fail(`${what}: ${(await messages()).join('; ')}`);
    };

    await session({});
    say(killed);
    const [first] = await found('the OOM kill', (list) => list.length === 1);
    assert.match(
      first ?? '',
      /^16: Container "vllm" was OOMKilled in 1 pod \(3 restarts\) at its memory limit of 32 GiB/,
    );

    say(healthy);
    await found('all is well again', (list) => list.length === 0);

    say(killed);
    await found('killed again', (list) => list.length === 1);
    await session({ visible: false });
    await found('nobody looks', (list) => list.length === 0);
    await client.stop();
  });
});
