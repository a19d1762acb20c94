import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { loadKubeconfig, proxyFor, readContexts } from '../../server/src/sources/kubeconfig';

let folder: string;
before(() => (folder = mkdtempSync(join(tmpdir(), 'plimsoll-kubeconfig-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const arn = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod';
const eks = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': arn,
  clusters: [
    {
      name: arn,
      cluster: { server: 'https://planted-user:planted-password@ABC.gr7.eu-west-1.eks.amazonaws.com' },
    },
  ],
  users: [
    {
      name: arn,
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1beta1',
          command: 'aws',
          args: ['--region', 'eu-west-1', 'eks', 'get-token', '--cluster-name', 'prod', '--output', 'json'],
          env: [{ name: 'AWS_PROFILE', value: 'ops' }],
        },
      },
    },
  ],
  contexts: [{ name: arn, context: { cluster: arn, user: arn, namespace: 'chat' } }],
};

describe('contexts', () => {
  test('of EKS: name, region, account and profile, from what `aws eks update-kubeconfig` writes', async () => {
    const [context] = await readContexts({ kubeconfig: file('eks', eks), env: {} });
    assert.deepEqual(context?.eks, {
      name: 'prod',
      region: 'eu-west-1',
      account: '111122223333',
      profile: 'ops',
    });
    assert.equal(context.namespace, 'chat');
    assert.equal(context.plugin, 'aws --region eu-west-1 eks get-token --cluster-name prod --output json');
    assert.doesNotMatch(JSON.stringify(context), /planted/);
  });

  test('of eksctl and of others', async () => {
    const named = (name: string, server: string, user: unknown = {}): unknown => ({
      'current-context': name,
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user }],
      contexts: [{ name, context: { cluster: 'c', user: 'u' } }],
    });
    const eksctl = named('me@dev.us-west-2.eksctl.io', 'https://X.yl4.us-west-2.eks.amazonaws.com', {
      exec: { command: 'aws-iam-authenticator', args: ['token', '-i', 'dev'] },
    });
    const [first] = await readContexts({ kubeconfig: file('eksctl', eksctl), env: {} });
    assert.deepEqual(first?.eks, {
      name: 'dev',
      region: 'us-west-2',
      account: undefined,
      profile: undefined,
    });
    const [other] = await readContexts({
      kubeconfig: file('kind', named('kind', 'https://127.0.0.1:6443')),
      env: {},
    });
    assert.equal(other?.eks, undefined);
    assert.equal(other?.namespace, 'default');
  });

  test('of several files: the first that names something wins, and what is not there is left out', async () => {
    const one = file('one', {
      ...eks,
      contexts: [
        ...eks.contexts,
        { name: 'shared', context: { cluster: arn, user: arn, namespace: 'first' } },
      ],
    });
    const two = file('two', {
      ...eks,
      'current-context': 'shared',
      contexts: [
        { name: 'shared', context: { cluster: arn, user: arn, namespace: 'second' } },
        { name: 'more', context: { cluster: arn, user: arn } },
      ],
    });
    const contexts = await readContexts({
      env: { KUBECONFIG: [join(folder, 'none'), one, two].join(delimiter) },
    });
    assert.deepEqual(
      contexts.map(({ name }) => name),
      [arn, 'shared', 'more'],
    );
    assert.equal(contexts[1]?.namespace, 'first');
    assert.equal(contexts[0]?.isCurrent, true);
  });

  test('a file that is no YAML, with a token in the line at fault', async () => {
    const path = file('broken', 'users:\n- name: u\n  user: {token: planted-token, :::\n');
    await assert.rejects(readContexts({ kubeconfig: path, env: {} }), (error: Error) => {
      assert.match(error.message, /kubeconfig .*broken cannot be read/);
      assert.doesNotMatch(error.message, /planted/);
      return true;
    });
  });

  test('none at all', async () => {
    await assert.rejects(
      readContexts({ env: { HOME: join(folder, 'nobody') } }),
      /there is no kubeconfig: KUBECONFIG is not set/,
    );
  });
});

describe('proxies of the environment', () => {
  const env = {
    HTTPS_PROXY: 'http://proxy.example:3128',
    NO_PROXY: 'internal.example, .corp.example,10.0.0.0/8,api.other:6443',
  };
  for (const [server, expected] of [
    ['https://ABC.gr7.eu-west-1.eks.amazonaws.com', 'http://proxy.example:3128'],
    ['https://internal.example:6443', undefined],
    ['https://api.corp.example', undefined],
    ['https://notcorp.example', 'http://proxy.example:3128'],
    ['https://10.1.2.3', undefined],
    ['https://11.1.2.3', 'http://proxy.example:3128'],
    ['https://api.other:6443', undefined],
    ['https://api.other', 'http://proxy.example:3128'],
    ['https://127.0.0.1:6443', undefined],
    ['https://[::1]:6443', undefined],
    ['http://api.example', undefined],
    ['no address', undefined],
  ] as const) {
    test(server, () => assert.equal(proxyFor(server, env), expected));
  }

  test('in small letters, without a scheme, and for everything', () => {
    assert.equal(proxyFor('https://a.example', { https_proxy: 'proxy:8080' }), 'http://proxy:8080');
    assert.equal(proxyFor('https://a.example', { https_proxy: 'proxy:8080', no_proxy: '*' }), undefined);
    assert.equal(proxyFor('https://a.example', {}), undefined);
  });

  test('one of the kubeconfig comes first', async () => {
    const path = file('proxied', {
      ...eks,
      clusters: [{ name: arn, cluster: { server: 'https://a.example', 'proxy-url': 'socks5://own:1080' } }],
    });
    const config = await loadKubeconfig({ kubeconfig: path, env });
    assert.equal(config.clusters[0]?.proxyUrl, 'socks5://own:1080');
  });
});
