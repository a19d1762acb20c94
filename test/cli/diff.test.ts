import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { forbid, startFakeApiServer, token, type FakeApiServer } from '../sources/support/kube-server';
import { sendJson } from '../sources/support/loopback';
import { folder, plimsoll, type CliResult } from './host';

/** What a real API server cannot be made to answer; the rest is in `test/cluster/diff.test.ts`. */

const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: flags }\ndata: { a: "1" }\n';

let server: FakeApiServer;

beforeEach(async () => {
  server = await startFakeApiServer();
});

afterEach(() => server.close());

function diff(cwd: string, more: readonly string[] = []): Promise<CliResult> {
  return plimsoll(cwd, ['diff', '--kubeconfig', server.kubeconfig(), ...more]);
}

const kinds = { resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] };

test('a document that is not well-formed is told, be its kind one of ours or not', async (context) => {
  server.fault = (request, response) => {
    if (request.path !== '/api/v1') return false;
    sendJson(response, 200, kinds);
    return true;
  };
  const broken = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w\n';
  const { code, stderr } = await diff(folder(context, { 'app.yaml': `${manifest}---\n${broken}` }));
  assert.equal(code, 2);
  assert.match(stderr, /plimsoll: app\.yaml:\d+: the document is not well-formed YAML and left out/);
});

describe('an API server that', () => {
  test('refuses everything is told by name, and nothing of the token', async (context) => {
    server.fault = (_, response) => forbid(response);
    const { code, stdout, stderr } = await diff(folder(context, { 'app.yaml': manifest }));
    assert.equal(code, 2);
    assert.match(stdout, /app\.yaml:3 ConfigMap .*: not compared\n {2}403 Forbidden/);
    assert.ok(!`${stdout}${stderr}`.includes(token), 'the token is not told');
  });

  test('is not there is told once, with where it was looked for', async (context) => {
    const two = `${manifest}---\n${manifest.replace('flags', 'more')}`;
    const kubeconfig = readFileSync(server.kubeconfig(), 'utf8');
    await server.close();
    const cwd = folder(context, { 'app.yaml': two, 'kube/config': kubeconfig });
    const { code, stdout, stderr } = await plimsoll(cwd, [
      'diff',
      'app.yaml',
      '--kubeconfig',
      join(cwd, 'kube/config'),
    ]);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      /^plimsoll: get the kinds of v1: the connection was refused \(127\.0\.0\.1:\d+\)\n$/,
    );
  });

  test('answers nonsense to a dry run is told so', async (context) => {
    server.fault = (request, response) => {
      if (request.path === '/api/v1') sendJson(response, 200, kinds);
      else if (request.method === 'PATCH') sendJson(response, 200, ['not an object']);
      else return false;
      return true;
    };
    const { code, stdout } = await diff(folder(context, { 'app.yaml': manifest }));
    assert.equal(code, 2);
    assert.match(stdout, /the answer is not a Kubernetes object/);
  });

  test('quotes the whole object in its refusal: only the fault is told', async (context) => {
    server.put('/api/v1/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'flags', namespace: 'default' },
      data: { a: 'planted-value' },
    });
    server.fault = (request, response) => {
      if (request.path === '/api/v1') sendJson(response, 200, kinds);
      else if (request.method === 'PATCH')
        sendJson(response, 422, {
          kind: 'Status',
          message: 'invalid: patch: Invalid value: "{planted-value}": strict decoding error',
          details: {
            causes: [
              {
                field: 'patch',
                message:
                  'Invalid value: "{\\"a\\":\\"planted-value\\"}": strict decoding error: unknown field "dta"',
              },
            ],
          },
        });
      else return false;
      return true;
    };
    const { code, stdout } = await diff(folder(context, { 'app.yaml': manifest }), ['-n', 'default']);
    assert.equal(code, 1);
    assert.match(stdout, /app\.yaml:2:7 error dta: unknown field "dta"/);
    assert.doesNotMatch(stdout, /planted-value/);
  });
});

test('nothing is sent that changes anything, and Secrets are not asked about', async (context) => {
  server.fault = (request, response) => {
    if (request.path === '/api/v1')
      sendJson(response, 200, {
        resources: [...kinds.resources, { name: 'secrets', kind: 'Secret', namespaced: true }],
      });
    else if (request.method === 'PATCH')
      sendJson(response, 200, { metadata: { name: 'flags' }, data: { a: '1' } });
    else return false;
    return true;
  };
  const secret = '---\napiVersion: v1\nkind: Secret\nmetadata: { name: s }\n';
  const { code, stdout } = await diff(folder(context, { 'app.yaml': `${manifest}${secret}` }));
  assert.equal(code, 1);
  assert.match(stdout, /app\.yaml:7 left out: Secrets are never read/);
  assert.ok(
    server.received.every(({ path }) => !path.includes('secrets')),
    'no Secret is read',
  );
  for (const { method, query } of server.received) {
    if (method !== 'GET') assert.equal(query.get('dryRun'), 'All');
  }
});

test('without a cluster it is said what is missing', async (context) => {
  const root = folder(context, { 'app.yaml': manifest });
  const { code, stderr } = await plimsoll(root, ['diff', '--kubeconfig', `${root}/nowhere`]);
  assert.equal(code, 2);
  assert.match(stderr, /^plimsoll: .*nowhere/);
});
