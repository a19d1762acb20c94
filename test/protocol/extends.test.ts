import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { start, uriOf } from './support/client';
import { memoryFileSystem } from './support/memory-fs';
import { pod } from './support/rules';

const a = uriOf('/ws/a.yaml');
const config = uriOf('/ws/.plimsoll.yaml');
const company = '/node_modules/@acme/plimsoll-config/plimsoll.yaml';

describe('what a configuration extends', () => {
  test('is read from above the workspace, and read again when it changes', async () => {
    const fs = memoryFileSystem({
      [company]: 'rules: {request-above-limit: info}\n',
      '/ws/.plimsoll.yaml': 'extends: "@acme/plimsoll-config"\n',
      '/ws/a.yaml': pod('a'),
    });
    const { client } = await start({ fs });
    await client.ready();
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    assert.deepEqual((await client.pull(config)).items, []);
    fs.write(company, 'rules: {request-above-limit: hint}\n');
    await client.watched({ [company]: 'changed' });
    await client.until('the new one counts', () => client.statuses.at(-1)?.findings.hint === 1);
    assert.equal((await client.pull(a)).items[0]?.severity, 4);
    await client.stop();
  });

  test('is read while it is typed, and an open base counts as it is typed', async () => {
    const { client } = await start({
      files: { '/ws/base.yaml': 'rules: {request-above-limit: info}\n', '/ws/a.yaml': pod('a') },
    });
    await client.ready();
    assert.equal((await client.pull(a)).items[0]?.severity, 1);
    await client.open(config, 'extends: ./bas.yaml\n');
    const [missing] = (await client.pull(config)).items;
    assert.equal(missing?.message, '"./bas.yaml" does not exist, or is no file');
    await client.type(config, 2, 'extends: ./base.yaml\n');
    assert.deepEqual((await client.pull(config)).items, []);
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    const base = uriOf('/ws/base.yaml');
    await client.open(base, 'rules: {request-above-limit: warning}\n');
    await client.pull(base);
    assert.equal((await client.pull(a)).items[0]?.severity, 2);
    await client.close(base);
    await client.pull(base);
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    await client.stop();
  });

  test('has its mistakes shown where it is named, with the place as related information', async () => {
    const { client } = await start({
      files: {
        '/ws/.plimsoll.yaml': 'extends: ./base.yaml\n',
        '/ws/base.yaml': 'preset: loud\n',
        '/ws/a.yaml': pod('a'),
      },
    });
    await client.ready();
    const [mistake] = (await client.pull(config)).items;
    assert.equal(mistake?.code, 'config-invalid');
    assert.deepEqual(mistake.relatedInformation?.[0]?.location, {
      uri: uriOf('/ws/base.yaml'),
      range: { start: { line: 0, character: 8 }, end: { line: 0, character: 12 } },
    });
    assert.equal((await client.pull(a)).items.length, 1);
    await client.stop();
  });
});
