import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { editors, install } from '../e2e/editors';
import { prepare, settings, vsix, whatIsMissing } from '../e2e/prepare';
import { openWindow } from '../e2e/server-launcher';
import { act, dialog, runCommand, screenshot } from '../e2e/ui';
import { chromiumPath } from '../support/chromium';
import type { Api } from './lab/api';
import { apply } from './lab/manifest';
import { addNode, removeNode, trouble, waitForRunning } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';

/** The packaged extension in real VS Code, on the real control plane: the live panel, and the comparison of files. */

let lab: Lab;
let api: Api;
let namespace: string;
const node = 'editor-1';

/** Why it cannot run here; `npm run test:editor` makes what it takes. */
function unable(): string | false {
  const missing = whatIsMissing();
  if (missing !== undefined) return missing;
  try {
    const path = chromiumPath();
    return existsSync(path) ? false : `there is no ${path}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const manifest = (image: string, service: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
  namespace: ${namespace}
spec:
  replicas: 2
  selector:
    matchLabels: { app: chat }
  template:
    metadata:
      labels: { app: chat }
    spec:
      nodeSelector: { kubernetes.io/hostname: ${node} }
      containers:
        - name: vllm
          image: ${image}
          resources:
            requests: { cpu: "1", memory: 4Gi }
            limits: { memory: 8Gi, nvidia.com/gpu: "1" }
---
apiVersion: v1
kind: Service
metadata:
  name: chat
  namespace: ${namespace}
spec:
  selector: { app: chat }
  clusterIP: ${service}
  ports: [{ port: 80 }]
`;

before(async () => {
  lab = useLab();
  api = lab.admin;
  namespace = await lab.namespace('editor');
  await addNode(
    api,
    node,
    { cpu: '64', memory: '256Gi', 'nvidia.com/gpu': '4' },
    { labels: { 'node.kubernetes.io/instance-type': 'g6.12xlarge' } },
  );
  await apply(api, manifest('vllm/vllm-openai:v0.10.0', 'None'), namespace);
  await waitForRunning(api, namespace, 'app=chat', 2);
});

after(async () => {
  await lab.close();
  await removeNode(api, node);
});

test(
  'the panel reads the cluster, shows a kill within seconds, and a file is compared',
  { skip: unable() },
  async () => {
    const run = prepare();
    const editor = editors.at(-1);
    assert.ok(editor !== undefined, 'an editor to test in');
    const file = join(run.workspace, 'lab.yaml');
    writeFileSync(file, manifest('vllm/vllm-openai:v0.11.0', '10.96.0.77'));
    const window = await openWindow({
      editor: install(editor),
      vsix,
      workspace: run.workspace,
      scratch: run.scratch,
      open: file,
      environment: { KUBECONFIG: lab.state.kubeconfigs.admin },
      settings,
      trusted: true,
      dialogs: true,
    });
    const { page } = window;
    const panel = (...wanted: string[]): Promise<unknown> =>
      act(page, editor.vscode, { kind: 'panel-text', wanted });
    try {
      await page.locator('.monaco-editor .view-line', { hasText: 'kind: Deployment' }).first().click();
      await runCommand(page, 'Plimsoll: Open Live Panel');
      assert.match(await dialog(page, 'Read'), /Let Plimsoll read from the context plimsoll-lab\?/);
      const text = String(await panel('2 of 2 replicas ready', 'chat-'));
      assert.match(text, /g6\.12xlarge|\$\d/);

      const [pod] = await api.list(`/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dchat`);
      assert.ok(pod !== undefined, 'a pod');
      await trouble(api, namespace, pod.metadata.name, 'vllm', { kind: 'OOMKilled', restarts: 1 });
      const killed = Date.now();
      await panel('OOMKilled');
      assert.ok(Date.now() - killed < 10_000, `it took ${Date.now() - killed} ms to be seen`);
      await page
        .locator('.monaco-editor .squiggly-error, .monaco-editor .squiggly-warning')
        .first()
        .waitFor({ timeout: 10_000 });
      await screenshot(page, `${editor.vscode}-panel-lab`);

      await page.locator('.monaco-editor .view-line', { hasText: 'kind: Deployment' }).first().click();
      await runCommand(page, 'Plimsoll: Compare with the Cluster');
      assert.match(await dialog(page, 'Compare'), /dryRun=All/);
      await page
        .locator('.notification-toast', { hasText: /2 objects compared with plimsoll-lab/ })
        .waitFor({ timeout: 30_000 });
      await page.locator('.monaco-diff-editor', { hasText: 'v0.10.0' }).waitFor({ timeout: 10_000 });
      await screenshot(page, `${editor.vscode}-compare-lab`);
    } catch (error) {
      await screenshot(page, `${editor.vscode}-failed-lab`);
      throw error;
    } finally {
      await window.close();
      run.remove();
    }
  },
);
