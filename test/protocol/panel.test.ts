import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import type { CodeLens } from 'vscode-languageserver-protocol/node';
import { CodeLensRefreshRequest, CodeLensRequest } from 'vscode-languageserver-protocol/node';
import type { LiveReader, LiveSources, LiveTarget } from '../../server/src/lsp/live-reader';
import type { LiveSnapshot, SourceStatus } from '../../server/src/live/snapshot';
import type { Want } from '../../server/src/live/want';
import type {
  PanelBaseline,
  PanelContexts,
  PanelSession,
  PanelStatus,
  PanelText,
} from '../../server/src/protocol/panel';
import {
  panelBaselineRequest,
  panelContextsRequest,
  panelNamespacesRequest,
  panelRefreshNotification,
  panelSessionNotification,
  panelStateNotification,
  panelTextRequest,
} from '../../server/src/protocol/panel';
import { defaultSettings } from '../../server/src/protocol/settings';
import { SourceError } from '../../server/src/sources/failure';
import { fixtureNow, liveFixture } from '../support/live';
import type { TestClient } from './support/client';
import { pullingClient, start, uriOf } from './support/client';

/** The session of the live panel, with a cluster that a test plays. */

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
          args: [--port, "9000"]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: chat-hpa
  namespace: llm
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: chat }
  maxReplicas: 3
---
apiVersion: v1
kind: Service
metadata:
  name: chat
spec:
  selector: { app: chat }
`;

const uri = uriOf('/ws/chat.yaml');
const { prometheus, cloudwatch, aws } = defaultSettings.live;

function snapshotOf(want: Want, ready: number): LiveSnapshot {
  const { kind, name, namespace } = want.object;
  const pods = Array.from({ length: ready }, (_, index) => ({ name: `chat-${index}` }));
  const measurements = [
    {
      metric: 'queue.waiting',
      subject: { kind: 'workload' },
      value: ready * 10,
    },
  ];
  const text = JSON.stringify({ object: { kind, name, namespace }, cluster: { pods }, measurements });
  const sources: readonly SourceStatus[] = [{ source: 'cloudwatch', state: 'ok', problems: [] }];
  return { ...liveFixture(text, 'test'), want, sources, refresh: 15_000 };
}

/** A read that waits for its answer. */
interface Asked {
  readonly want: Want;
  resolve(snapshot: LiveSnapshot): void;
  reject(error: Error): void;
  progress(snapshot: LiveSnapshot): void;
}

interface Played {
  readonly sources: LiveSources;
  readonly targets: LiveTarget[];
  readonly reads: Want[];
  /** Ends the read that is on its way. */
  answer(ready: number): void;
  /** Ends the query of the logs that is on its way. */
  answerQuery(ready: number): void;
  progress(ready: number): void;
  fail(error: Error): void;
  /** What watches heard of. */
  change(): void;
  readonly watching: number;
  readonly disposed: number;
}

function play(): Played {
  const targets: LiveTarget[] = [];
  const reads: Want[] = [];
  const listeners = new Set<() => void>();
  let disposed = 0;
  let pending: Asked | undefined;
  let query: Asked | undefined;
  const reader: LiveReader = {
    namespace: async () => 'default',
    read: (want, signal, progress) =>
      new Promise((resolve, reject) => {
        reads.push(want);
        const asked = { want, resolve, reject, progress };
        if (want.logsQuery === undefined) pending = asked;
        else query = asked;
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
    watch: (_, changed, signal) => {
      listeners.add(changed);
      signal.addEventListener('abort', () => listeners.delete(changed));
    },
    namespaces: async () => ['default', 'llm'],
    log: async ({ name }, container) => {
      if (name === 'gone') {
        throw new SourceError('denied', '403 Forbidden: cannot get pods/log in namespace llm', {
          kind: 'rbac',
          apiGroups: [''],
          resources: ['pods/log'],
          verbs: ['get'],
          namespace: 'llm',
        });
      }
      return `line of ${name} ${container ?? ''}\n`;
    },
    object: async (ref) => ({ apiVersion: ref.apiVersion, kind: ref.kind, metadata: { name: ref.name } }),
    dispose: async () => void (disposed += 1),
  };
  return {
    targets,
    reads,
    sources: {
      now: () => fixtureNow,
      contexts: async () => ({ contexts: [], files: ['~/.kube/config'], problem: 'there is no kubeconfig' }),
      connect: (target) => {
        targets.push(target);
        return reader;
      },
    },
    answer: (ready) => {
      assert.ok(pending !== undefined, 'something is being read');
      pending.resolve(snapshotOf(pending.want, ready));
    },
    answerQuery: (ready) => query?.resolve(snapshotOf(query.want, ready)),
    progress: (ready) => pending?.progress(snapshotOf(pending.want, ready)),
    fail: (error) => pending?.reject(error),
    change: () => {
      for (const listener of listeners) listener();
    },
    get watching() {
      return listeners.size;
    },
    get disposed() {
      return disposed;
    },
  };
}

interface Opened {
  readonly client: TestClient;
  readonly clock: { advance(milliseconds: number): void };
  readonly states: PanelStatus[];
  readonly lensRefreshes: { count: number };
  session(part?: Partial<PanelSession>): Promise<void>;
  /** Until the newest state is such a one. */
  state<K extends PanelStatus['state']['kind']>(
    kind: K,
    holds?: (state: Extract<PanelStatus['state'], { kind: K }>) => boolean,
  ): Promise<Extract<PanelStatus['state'], { kind: K }>>;
}

async function open(played: Played, sealKey?: Buffer): Promise<Opened> {
  const { client, clock } = await start({
    capabilities: {
      ...pullingClient,
      workspace: { ...pullingClient.workspace, codeLens: { refreshSupport: true } },
    },
    initializationOptions: { openRuleDocumentation: true },
    files: { '/ws/chat.yaml': chat },
    rules: [],
    live: played.sources,
    ...(sealKey === undefined ? {} : { sealKey }),
  });
  await client.ready();
  await client.open(uri, chat);
  const states: PanelStatus[] = [];
  const lensRefreshes = { count: 0 };
  client.connection.onNotification(panelStateNotification, (status: PanelStatus) => void states.push(status));
  client.connection.onRequest(CodeLensRefreshRequest.type, () => void (lensRefreshes.count += 1));
  const base: PanelSession = {
    connection: { kind: 'cluster', context: 'test', sources: { prometheus, cloudwatch, aws } },
    focus: { uri, line: 3, character: 8 },
    range: '1h',
    visible: true,
    baselines: {},
  };
  return {
    client,
    clock,
    states,
    lensRefreshes,
    session: (part = {}) =>
      client.connection.sendNotification(panelSessionNotification, { ...base, ...part }),
    state: async (kind, holds = () => true) => {
      type Wanted = Extract<PanelStatus['state'], { kind: typeof kind }>;
      const found = await until(`state ${kind}`, () => {
        const last = states.at(-1)?.state;
        return last?.kind === kind && holds(last as Wanted) ? last : undefined;
      });
      return found as Wanted;
    },
  };
}

async function until<T>(what: string, condition: () => T | undefined | false): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = condition();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited 20 s: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets everything that is on its way arrive. */
async function settle(client: TestClient): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await client.connection.sendRequest<PanelContexts>(panelContextsRequest);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the session of the panel', () => {
  test('contacts nobody before the client says where to', async () => {
    const played = play();
    const { client, session } = await open(played);
    const contexts = await client.connection.sendRequest<PanelContexts>(panelContextsRequest);
    assert.equal(contexts.problem, 'there is no kubeconfig');
    await client.connection.sendNotification(panelSessionNotification, {
      focus: { uri, line: 3, character: 8 },
      range: '1h',
      visible: true,
      baselines: {},
    });
    await settle(client);
    assert.deepEqual([played.targets, played.reads], [[], []]);
    await session();
    await until('a read', () => played.reads.length === 1);
    await client.stop();
  });

  test('reads what the cursor is on: first a title, then models', async () => {
    const played = play();
    const { client, session, state, states } = await open(played);
    await session();
    assert.equal((await state('loading')).title, 'Deployment chat');
    await until('a read', () => played.reads.length === 1);
    const [want] = played.reads;
    assert.deepEqual(want?.object, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'default',
      name: 'chat',
    });
    assert.deepEqual([want?.engine, want?.metricsPort, want?.range], ['vllm', 9000, '1h']);
    // What is known before all sources have answered is shown at once.
    played.progress(1);
    assert.match((await state('model', ({ reading }) => reading)).model.title.text, /Deployment chat/);
    played.answer(2);
    const { model } = await state('model', ({ reading }) => !reading);
    assert.equal(model.title.place?.uri, uri);
    assert.equal(states.at(-1)?.baselineKey, 'test|default|Deployment|chat');
    await client.stop();
  });

  test('follows the cursor: another object is another question; a place between keeps the old one', async () => {
    const played = play();
    const { client, session, state } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(1);
    await state('model');
    await session({ focus: { uri, line: 18, character: 8 } });
    assert.equal((await state('loading')).title, 'HorizontalPodAutoscaler chat-hpa');
    await until('a read', () => played.reads.length === 2);
    assert.deepEqual([played.reads[1]?.object.namespace, played.reads[1]?.workload?.name], ['llm', 'chat']);
    played.answer(1);
    await state('model', ({ model }) => model.title.kind === 'HorizontalPodAutoscaler');
    await session({ focus: { uri: uriOf('/ws/other.yaml'), line: 0, character: 0 } });
    await settle(client);
    assert.equal((await state('model')).model.title.kind, 'HorizontalPodAutoscaler');
    // A Service is about the first workload of its file.
    await session({ focus: { uri, line: 28, character: 8 } });
    assert.equal((await state('loading')).title, 'Deployment chat');
    await client.stop();
  });

  test('a cursor on nothing says what to do', async () => {
    const played = play();
    const { client, session, state } = await open(played);
    await session({ focus: { uri: uriOf('/ws/other.yaml'), line: 0, character: 0 } });
    const { empty } = await state('waiting');
    assert.match(empty.why, /no object that the panel follows/);
    assert.match(empty.whatToDo, /Deployment/);
    assert.deepEqual(played.reads, []);
    await client.stop();
  });

  test('reads again after the refresh, at once when something changes, and not while nobody looks', async () => {
    const played = play();
    const { client, clock, session, state } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(1);
    await state('model', ({ reading }) => !reading);
    await settle(client);
    clock.advance(14_000);
    await settle(client);
    assert.equal(played.reads.length, 1);
    clock.advance(1_500);
    await until('the next read', () => played.reads.length === 2);
    // A change that comes while it is being read is not lost.
    played.change();
    played.answer(2);
    await until('a read for the change', () => played.reads.length === 3);
    played.answer(2);
    await settle(client);
    assert.equal(played.watching, 1);
    await session({ visible: false });
    await settle(client);
    assert.equal(played.watching, 0, 'nothing is watched');
    clock.advance(600_000);
    played.change();
    await settle(client);
    assert.equal(played.reads.length, 3, 'nothing is read');
    await session({ visible: true });
    await until('a read', () => played.reads.length === 4);
    assert.equal((await state('model')).model.title.name, 'chat', 'what is known is shown at once');
    await client.stop();
  });

  test('another range keeps what is known until the answer is there', async () => {
    const played = play();
    const { client, session, state, states } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(1);
    await state('model', ({ reading }) => !reading);
    const before = states.length;
    await session({ range: '6h' });
    await until('a read', () => played.reads.at(-1)?.range === '6h');
    played.answer(1);
    await state('model', ({ model }) => model.range === '6h');
    assert.ok(states.slice(before).every((each) => each.state.kind === 'model'));
    await client.stop();
  });

  test('a query of the logs runs when it is asked for, once, and keeps nothing else waiting', async () => {
    const played = play();
    const { client, clock, session, state } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(1);
    await state('model', ({ reading }) => !reading);
    await client.connection.sendNotification(panelRefreshNotification, { logsQuery: 'slow-requests' });
    await until('the query', () => played.reads.length === 2);
    await state('model', ({ reading }) => reading);
    await settle(client);
    clock.advance(20_000);
    await until('a read', () => played.reads.length === 3);
    played.answer(2);
    await settle(client);
    assert.equal((await state('model')).reading, true, 'the query still runs');
    played.answerQuery(2);
    await state('model', ({ reading }) => !reading);
    assert.deepEqual(
      played.reads.map(({ logsQuery }) => logsQuery),
      [undefined, 'slow-requests', undefined],
    );
    await client.stop();
  });

  test('a query of the logs can be taken back, and nothing else with it', async () => {
    const played = play();
    const { client, session, state } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(1);
    const actionOf = async (reading: boolean): Promise<string | undefined> => {
      const { model } = await state('model', (each) => each.reading === reading);
      assert.ok(model.logs.kind === 'shown', 'the queries are shown');
      return model.logs.value.queries.find(({ id }) => id === 'slow-requests')?.run.intent.kind;
    };
    assert.equal(await actionOf(false), 'run-logs-query');
    await client.connection.sendNotification(panelRefreshNotification, { logsQuery: 'slow-requests' });
    await until('the query', () => played.reads.length === 2);
    assert.equal(await actionOf(true), 'cancel-logs-query');
    // Asked for twice, it runs once.
    await client.connection.sendNotification(panelRefreshNotification, { logsQuery: 'slow-requests' });
    await client.connection.sendNotification(panelRefreshNotification, { cancelLogsQuery: 'slow-requests' });
    assert.equal(await actionOf(false), 'run-logs-query');
    assert.equal(played.reads.length, 2);
    assert.equal(played.watching, 1, 'the panel still follows the cluster');
    assert.doesNotMatch(JSON.stringify(client.logs), /aborted|cancelled/, 'no failure is told');
    await client.stop();
  });

  test('a mistake of ours is told, and tried again', async () => {
    const played = play();
    const { client, clock, session, state } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.fail(new TypeError('x is not a function'));
    assert.match((await state('waiting')).empty.why, /failed inside Plimsoll/);
    await settle(client);
    clock.advance(20_000);
    await until('the next read', () => played.reads.length === 2);
    played.answer(1);
    await state('model');
    await client.stop();
  });

  test('another place to read from ends the old connection', async () => {
    const played = play();
    const { client, session, states } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    await session({ connection: { kind: 'demo' } });
    await until('the demo', () => played.targets.length === 2);
    await until('disposed', () => played.disposed === 1);
    await client.connection.sendNotification(panelSessionNotification, {
      range: '1h',
      visible: false,
      baselines: {},
    });
    await until('disposed', () => played.disposed === 2);
    const seen = states.length;
    await settle(client);
    assert.equal(states.length, seen);
    await client.stop();
  });

  test('a token comes sealed, and is in no message and no log', async () => {
    const key = randomBytes(32);
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const text = Buffer.concat([cipher.update('planted-secret'), cipher.final()]);
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    const played = play();
    const { client, session, states } = await open(played, key);
    const connection = {
      kind: 'cluster',
      context: 'test',
      sources: { prometheus, cloudwatch, aws },
    } as const;
    await session({ connection: { ...connection, prometheusToken: { sealed } } });
    await until('a target', () => played.targets.length === 1);
    const [target] = played.targets;
    assert.equal(target?.kind === 'cluster' && target.prometheusToken, 'planted-secret');
    // One that was sealed with another key is none.
    await session({
      connection: { ...connection, prometheusToken: { sealed: `${sealed.slice(0, -8)}AAAAAAA=` } },
    });
    await until('a target', () => played.targets.length === 2);
    assert.equal(played.targets[1]?.kind === 'cluster' && 'prometheusToken' in played.targets[1], false);
    assert.doesNotMatch(JSON.stringify([states, client.logs, client.messages]), /planted-secret/);
    await client.stop();
  });

  test('logs and objects are texts; what is denied says what to grant', async () => {
    const played = play();
    const { client, session } = await open(played);
    const ask = (what: object) => client.connection.sendRequest<PanelText>(panelTextRequest, what);
    const log = {
      kind: 'open-log',
      pod: { namespace: 'llm', name: 'chat-0' },
      container: 'vllm',
      previous: true,
    };
    assert.deepEqual(await ask(log), { kind: 'problem', message: 'no cluster is connected' });
    await session();
    await until('a target', () => played.targets.length === 1);
    assert.deepEqual(await ask(log), {
      kind: 'text',
      text: 'line of chat-0 vllm\n',
      language: 'log',
      title: 'chat-0-vllm-previous.log',
    });
    const denied = await ask({ ...log, pod: { namespace: 'llm', name: 'gone' } });
    assert.ok(denied.kind === 'problem');
    assert.match(denied.remedy ?? '', /Grant get on pods\/log in .*namespace llm/);
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'llm', name: 'chat' };
    const shown = await ask({ kind: 'open-live-object', object });
    assert.ok(shown.kind === 'text');
    assert.equal(shown.text, 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: chat\n');
    assert.deepEqual(await client.connection.sendRequest(panelNamespacesRequest), {
      namespaces: ['default', 'llm'],
    });
    await assert.rejects(ask({ kind: 'open-secret' }), /no text of the panel/);
    await client.stop();
  });

  test('a window is saved as the baseline, and comes back with the session', async () => {
    const played = play();
    const { client, session, state } = await open(played);
    const ask = () => client.connection.sendRequest<PanelBaseline>(panelBaselineRequest);
    assert.match(JSON.stringify(await ask()), /nothing yet/);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(2);
    const { model } = await state('model', ({ reading }) => !reading);
    assert.equal(model.baseline.kind, 'empty');
    const saved = await ask();
    assert.ok('key' in saved, JSON.stringify(saved));
    await session({ baselines: { [saved.key]: saved.baseline } });
    await state('model', ({ model: next }) => next.baseline.kind === 'shown');
    await client.stop();
  });

  test('sessions that make no sense are refused, and the one before stays', async () => {
    const played = play();
    const { client, session, state } = await open(played);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(1);
    await state('model');
    for (const nonsense of [null, 7, {}, { range: '2y' }, { range: '1h', connection: { kind: 'ftp' } }]) {
      await client.connection.sendNotification(panelSessionNotification, nonsense);
    }
    await client.connection.sendNotification(panelSessionNotification, {
      range: '1h',
      focus: { uri, line: -1, character: 0 },
    });
    await settle(client);
    assert.equal(played.targets.length, 1);
    assert.ok(client.logs.some((each) => each.includes('Ignored plimsoll/panel/session')));
    await client.stop();
  });
});

describe('the line above the workload', () => {
  const lenses = (client: TestClient) =>
    client.connection.sendRequest(CodeLensRequest.type, { textDocument: { uri } }) as Promise<CodeLens[]>;

  test('is there while the panel is open, opens it, and is asked for again when it reads differently', async () => {
    const played = play();
    const { client, session, state, lensRefreshes } = await open(played);
    assert.deepEqual(await lenses(client), []);
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(2);
    await state('model', ({ reading }) => !reading);
    const [lens, ...others] = await lenses(client);
    assert.deepEqual(others, []);
    assert.match(lens?.command?.title ?? '', /queue 20/);
    assert.deepEqual([lens?.command?.command, lens?.range.start.line], ['plimsoll.openLivePanel', 1]);
    await until('a refresh', () => lensRefreshes.count > 0);
    const before = lensRefreshes.count;
    played.change();
    await until('a read', () => played.reads.length === 2);
    played.answer(2);
    await settle(client);
    assert.equal(lensRefreshes.count, before, 'it reads the same');
    played.change();
    await until('a read', () => played.reads.length === 3);
    played.answer(3);
    await until('a refresh', () => lensRefreshes.count > before);
    await client.connection.sendNotification(panelSessionNotification, {
      range: '1h',
      visible: false,
      baselines: {},
    });
    await settle(client);
    assert.deepEqual(await lenses(client), []);
    await client.stop();
  });

  test('is off where the setting says so', async () => {
    const played = play();
    const { client, session, state } = await open(played);
    client.settings['file:///ws'] = { live: { codeLens: { enable: false } } };
    await client.settingsChanged();
    await session();
    await until('a read', () => played.reads.length === 1);
    played.answer(2);
    await state('model', ({ reading }) => !reading);
    assert.deepEqual(await lenses(client), []);
    await client.stop();
  });
});
