import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { appliedTo, changesBetween, mergePatch, withoutServersPart } from '../../server/src/live/comparison';

describe('what becomes of an object when a file is applied', () => {
  test('written fields are taken over, fields that were given up go, and what others added stays', () => {
    const live = { spec: { replicas: 5, paused: true, template: { spec: { nodeName: 'a' } }, other: 1 } };
    const last = { spec: { replicas: 2, paused: true, template: { spec: {} } } };
    const file = { spec: { replicas: 3, template: { spec: {} } } };
    assert.deepEqual(appliedTo(live, file, last), {
      spec: { replicas: 3, template: { spec: { nodeName: 'a' } }, other: 1 },
    });
  });

  test('an explicit null takes a field away', () => {
    assert.deepEqual(appliedTo({ a: 1, b: 2 }, { a: null, b: 2 }, undefined), { b: 2 });
  });

  test('items with a key are merged by it: an injected sidecar stays, a port that is given up goes', () => {
    const live = {
      containers: [
        { name: 'app', image: 'a:1', terminationMessagePath: '/dev/termination-log' },
        { name: 'injected', image: 'proxy:1' },
      ],
      ports: [{ port: 80, protocol: 'TCP' }],
    };
    const last = { containers: [{ name: 'app', image: 'a:1' }], ports: [{ port: 80 }] };
    const file = { containers: [{ name: 'app', image: 'a:2' }], ports: [{ port: 8080 }] };
    assert.deepEqual(appliedTo(live, file, last), {
      containers: [
        { name: 'app', image: 'a:2', terminationMessagePath: '/dev/termination-log' },
        { name: 'injected', image: 'proxy:1' },
      ],
      ports: [{ port: 8080 }],
    });
  });

  test('a list without keys is taken over as a whole', () => {
    assert.deepEqual(appliedTo({ args: ['a', 'b'] }, { args: ['b'] }, { args: ['a', 'b'] }), { args: ['b'] });
  });
});

describe('merge patches', () => {
  test('hold what differs and null for what goes', () => {
    assert.deepEqual(mergePatch({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: 1, e: 3 }, d: [1, 2] }), {
      a: { e: 3, c: null },
      d: [1, 2],
    });
  });

  test('of the same objects are none', () => {
    assert.equal(mergePatch({ a: [{ b: 1 }] }, { a: [{ b: 1 }] }), undefined);
  });
});

describe('changes', () => {
  test('are as deep as can be told, with the names of items and of keys with dots', () => {
    const before = {
      metadata: { labels: { 'app.kubernetes.io/name': 'a' } },
      containers: [{ name: 'x', image: '1' }, { name: 'gone' }],
      args: ['a'],
    };
    const after = {
      metadata: { labels: { 'app.kubernetes.io/name': 'b' } },
      containers: [{ name: 'x', image: '2' }, { name: 'new' }],
      args: ['a', 'b'],
    };
    assert.deepEqual(
      changesBetween(before, after).map(({ field, before: was, after: is }) => [field, was, is]),
      [
        ['metadata.labels["app.kubernetes.io/name"]', 'a', 'b'],
        ['containers[x].image', '1', '2'],
        ['containers[new]', undefined, { name: 'new' }],
        ['containers[gone]', { name: 'gone' }, undefined],
        ['args', ['a'], ['a', 'b']],
      ],
    );
  });

  test('nothing, null and an empty map are the same', () => {
    assert.deepEqual(changesBetween({ a: {}, b: null }, { c: [] }), []);
  });
});

test('what the API server keeps in an object is left out', () => {
  assert.deepEqual(
    withoutServersPart({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'a',
        uid: '1',
        resourceVersion: '2',
        generation: 3,
        creationTimestamp: 'now',
        managedFields: [],
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      },
      spec: { a: 1 },
      status: { phase: 'Running' },
    }),
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { a: 1 } },
  );
});
