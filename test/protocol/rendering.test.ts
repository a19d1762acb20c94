import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { nodeFileSystem } from '../../server/src/lsp/node-environment';
import type { Render } from '../../server/src/lsp/rendering';
import { rules } from '../../server/src/rules/index';
import { start, uriOf, type TestClient } from './support/client';

const pod = (memory: string, annotations = ''): string => `apiVersion: v1
kind: Pod
metadata:
  name: box${annotations}
spec:
  containers:
    - name: app
      image: nginx:1.29
      resources:
        requests:
          memory: ${memory}
        limits:
          memory: 4Gi
`;

const origin = '\n  annotations:\n    config.kubernetes.io/origin: |\n      path: pod.yaml';

interface Setting {
  readonly root: string;
  write(path: string, text: string): void;
}

function onDisk(
  test: { after(callback: () => void): void },
  files: Readonly<Record<string, string>>,
): Setting {
  const root = mkdtempSync(join(tmpdir(), 'plimsoll-render-'));
  test.after(() => rmSync(root, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { root, write };
}

async function found(client: TestClient, uri: string): Promise<readonly string[]> {
  return (await client.pull(uri)).items.map(({ code, range }) => `${String(code)}:${range.start.line + 1}`);
}

describe('the setting plimsoll.render', () => {
  test('shows what rendering finds, in the source, until that is edited; again when it is saved', async (t) => {
    const { root, write } = onDisk(t, {
      'app/kustomization.yaml': 'resources: [pod.yaml]\nnamePrefix: a-\n',
      'app/pod.yaml': pod('1Gi'),
    });
    let memory = '5Gi';
    let calls = 0;
    const render: Render = (units) => {
      calls++;
      const rendered = units.map((unit) => ({
        unit,
        values: undefined,
        text: pod(memory, origin),
        base: unit.directory,
      }));
      return Promise.resolve({ rendered, failed: [] });
    };
    const { client } = await start({
      fs: nodeFileSystem,
      folders: [root],
      rules,
      render,
      settings: { [uriOf(root)]: { render: true } },
    });
    const uri = uriOf(join(root, 'app/pod.yaml'));
    await client.until('it is rendered', () => client.statuses.at(-1)?.findings.error === 1);
    assert.deepEqual(await found(client, uri), ['request-above-limit:11']);
    // Nothing changed, nothing is rendered again.
    await client.lintWorkspace();
    assert.equal(calls, 1);
    // What was found is about the text on disk.
    await client.open(uri, pod('2Gi'));
    assert.deepEqual(await found(client, uri), []);
    memory = '6Gi';
    write('app/pod.yaml', pod('2Gi'));
    await client.watched({ [join(root, 'app/pod.yaml')]: 'changed' });
    await client.until(
      'it is rendered again',
      () => calls === 2 && client.statuses.at(-1)?.findings.error === 1,
    );
    assert.deepEqual(await found(client, uri), ['request-above-limit:11']);
    assert.match(JSON.stringify((await client.pull(uri)).items[0]?.message), /6Gi/);
    // Off again: the file as it stands.
    client.settings[uriOf(root)] = {};
    await client.settingsChanged();
    await client.until('nothing is left of it', () => client.statuses.at(-1)?.findings.error === 0);
    assert.deepEqual(await found(client, uri), []);
    await client.stop();
  });

  test('is off by default: no program runs', async (t) => {
    const { root } = onDisk(t, { 'kustomization.yaml': 'resources: [pod.yaml]\n', 'pod.yaml': pod('5Gi') });
    const { client } = await start({
      fs: nodeFileSystem,
      folders: [root],
      rules,
      render: () => assert.fail('nothing is to be rendered'),
    });
    await client.ready();
    assert.deepEqual(await found(client, uriOf(join(root, 'pod.yaml'))), ['request-above-limit:11']);
    await client.stop();
  });

  test('what is not rendered is told once in the log, and judged as it stands', async (t) => {
    const { root } = onDisk(t, { 'kustomization.yaml': 'resources: [pod.yaml]\n', 'pod.yaml': pod('5Gi') });
    const { client } = await start({
      fs: nodeFileSystem,
      folders: [root],
      rules,
      render: (units) =>
        Promise.resolve({
          rendered: [],
          failed: units.map((unit) => ({ unit, why: 'helm is not on the PATH' })),
        }),
      settings: { [uriOf(root)]: { render: true } },
    });
    await client.until('the log says so', () => client.logs.some((line) => line.includes('is not rendered')));
    await client.lintWorkspace();
    assert.deepEqual(
      client.logs.filter((line) => line.includes('is not rendered')),
      [
        `${root}/kustomization.yaml is not rendered: helm is not on the PATH; its files are judged as they stand`,
      ],
    );
    assert.deepEqual(await found(client, uriOf(join(root, 'pod.yaml'))), ['request-above-limit:11']);
    await client.stop();
  });
});
