import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isOneLine, parseFromPage } from '../../client/src/panel/bridge';
import { consentKey, consentText } from '../../client/src/panel/consent';
import { panelHtml } from '../../client/src/panel/html';
import { createSealKey, seal } from '../../client/src/panel/seal';
import { takeSealKey, unseal } from '../../server/src/lsp/unseal';
import type { PanelContext } from '../../server/src/protocol/panel';
import { defaultSettings } from '../../server/src/protocol/settings';
import { fakeModel } from '../webview/model';

describe('the page of the panel', () => {
  const html = panelHtml({
    cspSource: 'https://*.vscode-cdn.net',
    script: 'https://host/webview.js',
    style: 'https://host/webview.css',
    nonce: 'bm9uY2U=',
  });

  test('loads nothing but its own script and style, and has none in its text', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    assert.match(policy, /^default-src &#39;none&#39;; script-src &#39;nonce-bm9uY2U=&#39;; style-src https/);
    assert.doesNotMatch(policy, /unsafe|connect-src/);
    assert.equal(html.match(/<script/g)?.length, 1);
    assert.match(html, /<script nonce="bm9uY2U=" src="https:\/\/host\/webview.js"><\/script>/);
    assert.doesNotMatch(html, /<style|\bstyle=|\bon\w+=/);
  });

  test('nothing that is put into it leaves its place', () => {
    const nasty = panelHtml({ cspSource: '"><script>', script: '"><b>', style: `'><b>`, nonce: '"><b>' });
    assert.equal(nasty.match(/<script/g)?.length, 1);
    assert.doesNotMatch(nasty, /<b>/);
  });
});

describe('what the page asks for', () => {
  /** Every intent that the server's model can carry. */
  function intentsIn(value: unknown): unknown[] {
    if (Array.isArray(value)) return value.flatMap(intentsIn);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, each]) => [
      ...(key === 'intent' || key === 'run' ? [(each as { intent?: unknown }).intent ?? each] : []),
      ...intentsIn(each),
    ]);
  }

  test('passes when it is one of the messages that there are', () => {
    const messages = [
      { type: 'ready' },
      { type: 'refresh' },
      { type: 'range', range: '7d' },
      { type: 'save', name: 'ttft.csv', encoding: 'utf8', content: 'a,b' },
      ...intentsIn(fakeModel())
        .filter((intent) => (intent as { kind: string }).kind !== 'show')
        .map((intent) => ({ type: 'intent', intent })),
      {
        type: 'intent',
        intent: {
          kind: 'open-live-object',
          object: { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'b' },
        },
      },
      { type: 'intent', intent: { kind: 'open-rule', rule: 'missing-pdb' } },
      { type: 'intent', intent: { kind: 'open-settings', setting: 'plimsoll.live.thresholds' } },
    ];
    for (const message of messages) assert.deepEqual(parseFromPage(message), message);
    assert.ok(messages.length > 15);
  });

  test('is dropped when it is anything else', () => {
    const place = { uri: 'file:///a', at: { start: 0, end: 1 } };
    for (const message of [
      undefined,
      null,
      7,
      [],
      {},
      { type: 'eval', code: '1' },
      { type: 'range', range: '2y' },
      { type: 'save', name: '../../.bashrc', encoding: 'utf8', content: '' },
      { type: 'save', name: 'a.csv', encoding: 'hex', content: '' },
      { type: 'save', name: 'a.csv', encoding: 'utf8', content: 7 },
      { type: 'intent' },
      { type: 'intent', intent: { kind: 'rm' } },
      { type: 'intent', intent: { kind: 'show', target: 'x' } },
      { type: 'intent', intent: { kind: 'open-place', place: { ...place, uri: 7 } } },
      { type: 'intent', intent: { kind: 'open-place', place: { uri: 'file:///a' } } },
      { type: 'intent', intent: { kind: 'open-settings', setting: 'terminal.integrated.shell' } },
      { type: 'intent', intent: { kind: 'open-log', pod: 'x' } },
      { type: 'intent', intent: { kind: 'run-logs-query', query: 'drop' } },
      { type: 'intent', intent: { kind: 'cancel-logs-query' } },
      { type: 'intent', intent: { kind: 'configure-source', source: 'ftp' } },
      { type: 'intent', intent: { kind: 'terminal', command: ['rm'] } },
    ])
      assert.equal(parseFromPage(message), undefined, JSON.stringify(message));
  });

  test('what is not named is left out', () => {
    assert.deepEqual(parseFromPage({ type: 'intent', intent: { kind: 'use-demo', extra: { a: 1 } }, b: 2 }), {
      type: 'intent',
      intent: { kind: 'use-demo' },
    });
  });

  test('a command with a line end, or with text that turns, is not put into a terminal', () => {
    assert.ok(isOneLine('kubectl describe pod -n llm chat-0'));
    for (const command of ['a\nrm -rf /', 'a\rb', 'a\u001b[2Kb', 'a\u202eb', 'a\u2028b', 'a\u0003b'])
      assert.ok(!isOneLine(command), JSON.stringify(command));
  });
});

describe('consent', () => {
  const context: PanelContext = {
    name: 'prod',
    cluster: 'prod-eks',
    server: 'https://1A2B.gr7.us-west-2.eks.amazonaws.com',
    user: 'admin',
    account: '123456789012',
    region: 'us-west-2',
    runs: 'aws eks get-token --cluster-name prod-eks',
  };
  const { prometheus, cloudwatch, aws } = defaultSettings.live;
  const sources = { prometheus, cloudwatch, aws };

  test('names the context, the account, the program that runs, and what is read', () => {
    const { message, detail } = consentText(context, sources);
    assert.match(message, /context prod\?$/);
    assert.match(detail, /prod-eks, account 123456789012, us-west-2, at https:\/\/1A2B/);
    assert.match(detail, /runs aws eks get-token/);
    assert.match(detail, /Never read: Secrets and ConfigMaps/);
    assert.doesNotMatch(detail, /Prometheus|CloudWatch/);
    const all = consentText(context, {
      prometheus: { ...prometheus, url: 'https://prom.example.com', ampWorkspace: 'ws-1' },
      cloudwatch: { ...cloudwatch, enable: true },
      aws: { region: '', profile: 'ops' },
    });
    assert.match(all.detail, /queries to https:\/\/prom\.example\.com/);
    assert.match(all.detail, /queries to ws-1 in us-west-2 with the profile ops/);
    assert.match(all.detail, /CloudWatch in us-west-2 with the profile ops: .*charges/);
  });

  test('holds for what was shown and nothing else', () => {
    const agreed = consentKey(context, sources);
    assert.equal(consentKey({ ...context }, { ...sources }), agreed);
    for (const [what, key] of [
      ['server', consentKey({ ...context, server: 'https://evil.example.com' }, sources)],
      ['user', consentKey({ ...context, user: 'other' }, sources)],
      ['program', consentKey({ ...context, runs: 'curl evil' }, sources)],
      ['url', consentKey(context, { ...sources, prometheus: { ...prometheus, url: 'https://evil' } })],
      ['service', consentKey(context, { ...sources, prometheus: { ...prometheus, service: 'a/b:1' } })],
      ['amp', consentKey(context, { ...sources, prometheus: { ...prometheus, ampWorkspace: 'ws-2' } })],
      ['cloudwatch', consentKey(context, { ...sources, cloudwatch: { ...cloudwatch, enable: true } })],
      ['profile', consentKey(context, { ...sources, aws: { ...aws, profile: 'root' } })],
      ['region', consentKey(context, { ...sources, aws: { ...aws, region: 'eu-west-1' } })],
    ] as const)
      assert.notEqual(key, agreed, what);
  });
});

describe('sealed secrets', () => {
  test('open with their key only', () => {
    const key = createSealKey();
    const sealed = seal('bearer 123 \u00e9', key);
    assert.doesNotMatch(sealed.sealed, /123/);
    assert.equal(unseal(sealed, key), 'bearer 123 \u00e9');
    assert.notDeepEqual(seal('a', key), seal('a', key));
    const changed = Buffer.from(sealed.sealed, 'base64');
    changed[30] = (changed[30] ?? 0) ^ 1;
    for (const [value, by] of [
      [sealed, createSealKey()],
      [sealed, undefined],
      [{ sealed: 'AAAA' }, key],
      [{ sealed: '' }, key],
      [{}, key],
      [null, key],
      [{ sealed: changed.toString('base64') }, key],
    ] as const)
      assert.equal(unseal(value, by), undefined);
  });

  test('the key is taken out of the environment, which other programs inherit', () => {
    const key = createSealKey();
    const environment: Record<string, string | undefined> = { A: 'b', KEY: key.toString('base64') };
    assert.deepEqual(takeSealKey(environment, 'KEY'), key);
    assert.deepEqual(environment, { A: 'b' });
    assert.equal(takeSealKey(environment, 'KEY'), undefined);
    assert.equal(takeSealKey({ KEY: 'c2hvcnQ=' }, 'KEY'), undefined);
  });
});
