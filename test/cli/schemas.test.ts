import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { forbid, startFakeApiServer, token, type FakeApiServer } from '../sources/support/kube-server';
import { sendJson } from '../sources/support/loopback';
import { folder, plimsoll } from './host';

/** What a real API server cannot be made to answer; the rest is in `test/cluster/schemas.test.ts`. */

let server: FakeApiServer;

beforeEach(async () => {
  server = await startFakeApiServer();
});

afterEach(() => server.close());

const deployment = {
  type: 'object',
  properties: { kind: {}, metadata: {} },
  'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'Deployment' }],
};

test('without the right nothing is written, and the old ones stay', async (context) => {
  server.fault = (_, response) => forbid(response);
  const root = folder(context, { '.plimsoll/schemas/made-from.json': '{"date":"2026-01-01","kinds":[]}' });
  const { code, stderr } = await plimsoll(root, ['schemas', '--kubeconfig', server.kubeconfig()]);
  assert.equal(code, 2);
  assert.match(stderr, /403 Forbidden: cannot get the list of \/openapi\/v3/);
  assert.ok(!stderr.includes(token), 'the token is not told');
  assert.ok(existsSync(join(root, '.plimsoll/schemas/made-from.json')), 'the old ones');
});

test('an answer that is no list, or lists next to nothing, is told', async (context) => {
  const root = folder(context, {});
  server.fault = (_, response) => {
    sendJson(response, 200, ['nonsense']);
    return true;
  };
  const nonsense = await plimsoll(root, ['schemas', '--kubeconfig', server.kubeconfig()]);
  assert.equal(nonsense.code, 2);
  assert.match(nonsense.stderr, /the answer is not a list of OpenAPI documents/);
  server.fault = (_, response) => {
    sendJson(response, 200, { paths: {} });
    return true;
  };
  const empty = await plimsoll(root, ['schemas', '--kubeconfig', server.kubeconfig()]);
  assert.equal(empty.code, 2);
  assert.match(empty.stderr, /publishes no Deployment/);
  assert.ok(!existsSync(join(root, '.plimsoll')), 'nothing is written');
});

test('one version that fails does not keep the others away; other servers are not asked', async (context) => {
  const root = folder(context, {});
  server.fault = (request, response) => {
    if (request.path === '/openapi/v3')
      sendJson(response, 200, {
        paths: {
          'apis/apps/v1': { serverRelativeURL: '/openapi/v3/apis/apps/v1?hash=1' },
          'apis/broken.io/v1': { serverRelativeURL: '/openapi/v3/apis/broken.io/v1?hash=2' },
          'apis/foreign.io/v1': { serverRelativeURL: 'https://elsewhere.example.com/openapi' },
        },
      });
    else if (request.path === '/openapi/v3/apis/apps/v1')
      sendJson(response, 200, { components: { schemas: { 'io.k8s.api.apps.v1.Deployment': deployment } } });
    else sendJson(response, 500, { message: 'broken' });
    return true;
  };
  const { code, stdout, stderr } = await plimsoll(root, ['schemas', '--kubeconfig', server.kubeconfig()]);
  assert.equal(code, 0);
  assert.match(stdout, /^1 kinds of 1 API versions/);
  assert.match(stderr, /broken\.io\/v1 is left out: .*500/);
  assert.ok(
    server.received.every(({ path }) => path.startsWith('/openapi/v3')),
    'nothing else is asked',
  );
});
