import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openKube, type KubeClient, type KubeObject } from '../../server/src/sources/kube-client';
import { pods } from '../../server/src/sources/kube-kinds';
import { startMirror, type Mirror } from '../../server/src/sources/mirror';
import { systemClock, type Clock } from '../../server/src/sources/runtime';
import {
  forbid,
  startFakeApiServer,
  token,
  type FakeApiServer,
  type FakeObject,
} from './support/kube-server';
import { sendJson } from './support/loopback';
import { until } from './support/until';

const list = '/api/v1/pods';
const pod = (name: string, more: Record<string, unknown> = {}): FakeObject => ({
  metadata: { name, namespace: 'chat' },
  ...more,
});

let server: FakeApiServer;
let client: KubeClient;
let stop: AbortController;
let changes: number;

beforeEach(async () => {
  server = await startFakeApiServer();
  client = await openKube({ kubeconfig: server.kubeconfig(), env: {} });
  stop = new AbortController();
  changes = 0;
});

afterEach(async () => {
  stop.abort();
  client.close();
  await server.close();
});

/** A clock that waits a hundredth of what it is asked to, so that pauses are taken but not felt. */
const quick: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) => systemClock.wait(ms >= 5_000 ? ms : ms / 100, signal),
};

function mirrorOf(random = () => 0): Mirror<KubeObject> {
  return startMirror({
    client,
    resource: pods,
    scope: { namespace: 'chat' },
    keep: (object) => object,
    clock: quick,
    random,
    changed: () => changes++,
    signal: stop.signal,
  });
}

const names = (mirror: Mirror<KubeObject>): readonly string[] => [...(mirror.items?.keys() ?? [])].sort();
const listsAsked = (): number => server.received.filter(({ query }) => query.get('watch') === null).length;

describe('a list that is watched', () => {
  test('has what is listed, in pages, then what is added, changed and deleted', async () => {
    for (let index = 0; index < 1201; index++) server.put(list, pod(`p${index}`));
    const mirror = mirrorOf();
    await mirror.settled;
    assert.equal(mirror.items?.size, 1201);
    assert.equal(listsAsked(), 3);
    await until('it watches', () => server.watches === 1);
    server.put(list, pod('new'));
    server.put(list, pod('p0', { status: { phase: 'Failed' } }));
    server.remove(list, pod('p1'));
    await until('the changes arrived', () => mirror.items?.has('chat/p1') === false);
    assert.equal(mirror.items?.has('chat/new'), true);
    assert.deepEqual(mirror.items?.get('chat/p0')?.['status'], { phase: 'Failed' });
    assert.ok(changes >= 4);
  });

  test('goes on from the last bookmark when the server ends the watch', async () => {
    server.put(list, pod('a'));
    const mirror = mirrorOf();
    await mirror.settled;
    await until('it watches', () => server.watches === 1);
    for (let index = 0; index < 5; index++) server.bookmark(list);
    server.endWatches(list, 'end');
    await until(
      'it watches again',
      () => server.received.filter(({ query }) => query.get('watch') === 'true').length === 2,
    );
    assert.equal(listsAsked(), 1, 'nothing is listed again');
    const last = server.received.at(-1);
    assert.equal(last?.query.get('allowWatchBookmarks'), 'true');
    assert.equal(last?.query.get('resourceVersion'), '106');
  });

  test('lists anew after a 410 inside the watch, and drops what is gone', async () => {
    server.put(list, pod('a'));
    server.put(list, pod('b'));
    const mirror = mirrorOf();
    await mirror.settled;
    await until('it watches', () => server.watches === 1);
    // What happens while nobody is told.
    server.fault = ({ query }, response) => {
      if (query.get('watch') !== 'true') return false;
      sendJson(response, 410, { kind: 'Status', code: 410, reason: 'Gone', message: 'too old' });
      return true;
    };
    server.endWatches(list, 'gone');
    server.remove(list, pod('b'));
    await until('b is gone', () => mirror.items?.has('chat/b') === false);
    server.fault = () => false;
    await until('it watches', () => server.watches === 1);
    assert.deepEqual(names(mirror), ['chat/a']);
  });

  test('keeps what it knows when the connection is reset, says so, and comes back', async () => {
    server.put(list, pod('a'));
    const mirror = mirrorOf();
    await mirror.settled;
    await until('it watches', () => server.watches === 1);
    server.fault = (_, response) => {
      response.destroy();
      return true;
    };
    server.endWatches(list, 'reset');
    const error = await until('the error is told', () => mirror.error);
    assert.equal(error.kind, 'unreachable');
    assert.deepEqual(names(mirror), ['chat/a']);
    server.fault = () => false;
    server.put(list, pod('b'));
    await until('b is there', () => mirror.items?.has('chat/b') === true);
    assert.equal(mirror.error, undefined);
  });

  test('half a line at the end of a connection is not taken for an event', async () => {
    server.put(list, pod('a'));
    let watched = 0;
    server.fault = ({ query }, response) => {
      if (query.get('watch') !== 'true' || watched++ > 0) return false;
      response.writeHead(200);
      response.write(
        `${JSON.stringify({ type: 'ADDED', object: { ...pod('b'), metadata: { name: 'b', namespace: 'chat', resourceVersion: '5' } } })}\n{"type":"ADDED","obj`,
      );
      setImmediate(() => response.destroy());
      return true;
    };
    const mirror = mirrorOf();
    await until('it watches again', () => server.watches === 1);
    assert.deepEqual(names(mirror), ['chat/a', 'chat/b']);
  });

  test('a denied list is told at once, and is not asked for in a loop', async () => {
    server.fault = (_, response) => forbid(response);
    const mirror = mirrorOf();
    await mirror.settled;
    assert.equal(mirror.items, undefined);
    assert.deepEqual(mirror.error?.missing, {
      kind: 'rbac',
      apiGroups: [''],
      resources: ['pods'],
      verbs: ['list', 'watch'],
      namespace: 'chat',
    });
    assert.equal(server.received.length, 1);
  });

  test('a list without a watch stays, with the right that is missing', async () => {
    server.put(list, pod('a'));
    server.fault = ({ query }, response) => query.get('watch') === 'true' && forbid(response);
    const mirror = mirrorOf();
    const error = await until('the error is told', () => mirror.error);
    assert.deepEqual(names(mirror), ['chat/a']);
    assert.deepEqual(error.missing?.kind === 'rbac' ? error.missing.verbs : [], ['watch']);
    assert.equal(server.received.length, 2);
  });

  test('pauses grow, and hold chance', async () => {
    const asked: number[] = [];
    server.fault = (_, response) => {
      response.destroy();
      return true;
    };
    const clock: Clock = {
      now: () => Date.now(),
      wait: (ms, signal) => {
        if (ms < 20_000 || ms > 20_000) asked.push(ms);
        return systemClock.wait(ms === 20_000 ? ms : 1, signal);
      },
    };
    startMirror({
      client,
      resource: pods,
      scope: { namespace: 'chat' },
      keep: (object) => object,
      clock,
      random: () => 0.5,
      changed: () => undefined,
      signal: stop.signal,
    });
    await until('it has tried often', () => asked.length >= 9);
    assert.deepEqual(asked.slice(0, 9), [375, 750, 1500, 3000, 6000, 12_000, 22_500, 22_500, 22_500]);
  });

  test('a connection that is silent for minutes is taken for dead, and made anew', async () => {
    server.put(list, pod('a'));
    const impatient: Clock = {
      now: () => Date.now(),
      wait: (ms, signal) => systemClock.wait(ms === 150_000 ? 30 : ms, signal),
    };
    const silent = await openKube({ kubeconfig: server.kubeconfig(), env: {}, clock: impatient });
    const mirror = startMirror({
      client: silent,
      resource: pods,
      scope: { namespace: 'chat' },
      keep: (object) => object,
      clock: quick,
      random: () => 0,
      changed: () => undefined,
      signal: stop.signal,
    });
    await mirror.settled;
    const watched = (): number => server.received.filter(({ query }) => query.get('watch') === 'true').length;
    await until('it watches again', () => watched() >= 2);
    assert.ok(server.watches <= 1, 'the dead connection is closed');
    assert.deepEqual(names(mirror), ['chat/a']);
    stop.abort();
    silent.close();
  });

  test('ends when nobody wants it any more', async () => {
    server.put(list, pod('a'));
    const mirror = mirrorOf();
    await mirror.settled;
    await until('it watches', () => server.watches === 1);
    stop.abort();
    await until('the watch is closed', () => server.watches === 0);
    const asked = server.received.length;
    server.put(list, pod('late'));
    assert.deepEqual(names(mirror), ['chat/a']);
    assert.equal(server.received.length, asked);
  });
});

test('the token goes to the server and into no error', async () => {
  server.fault = ({ headers }, response) => {
    assert.equal(headers['authorization'], `Bearer ${token}`);
    sendJson(response, 500, { kind: 'Status', message: `no such thing: Bearer ${token} ${token}` });
    return true;
  };
  await assert.rejects(
    client.list(pods, { namespace: 'chat' }, { limit: 1 }, stop.signal),
    (error: Error) => {
      assert.doesNotMatch(`${error.message} ${error.stack ?? ''}`, new RegExp(token));
      assert.match(error.message, /list pods in namespace chat: 500/);
      return true;
    },
  );
});
