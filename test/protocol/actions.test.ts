import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CodeAction } from 'vscode-languageserver-protocol';
import { applied, at, pullingClient, pushedClient, start, uriOf } from './support/client';
import { goodPod, pod } from './support/rules';

const a = uriOf('/ws/a.yaml');
/** In the name of the container, which is at fault. */
const place = at(6, 8);

function named(actions: readonly CodeAction[], title: string): CodeAction {
  const found = actions.find((action) => action.title === title);
  assert.ok(found !== undefined, `${title} is not among ${actions.map((action) => action.title).join(', ')}`);
  return found;
}

describe('code actions', () => {
  test("offer each fix, the only safe one preferred, for the client's own diagnostic", async () => {
    const { client } = await start();
    const text = pod('chat');
    await client.open(a, text, 3);
    const { items } = await client.pull(a);
    const actions = await client.actions(a, place, items);
    assert.deepEqual(
      actions.map(({ title, kind, isPreferred }) => [title, kind, isPreferred]),
      [
        ['Add the image', 'quickfix', true],
        ['Add another image', 'quickfix', undefined],
        ['Suppress request-above-limit for this line', 'quickfix', undefined],
        ['Suppress request-above-limit in this document', 'quickfix', undefined],
        ['Suppress request-above-limit by annotation on Pod "chat"', 'quickfix', undefined],
        ['Explain rule request-above-limit', 'quickfix', undefined],
        ['Fix all safe Plimsoll findings', 'source.fixAll.plimsoll', undefined],
      ],
    );
    for (const action of actions.filter(({ kind }) => kind === 'quickfix')) {
      assert.deepEqual(action.diagnostics, items);
    }
    const fix = named(actions, 'Add the image');
    const [change] = fix.edit?.documentChanges ?? [];
    assert.ok(change !== undefined && 'textDocument' in change && 'edits' in change);
    assert.deepEqual(change.textDocument, { uri: a, version: 3 });
    assert.equal(applied(a, text, fix), goodPod('chat'));
    await client.stop();
  });

  test('are none away from a finding', async () => {
    const { client } = await start();
    await client.open(a, pod('chat'));
    const actions = await client.actions(a, at(0, 0), [], ['quickfix']);
    assert.deepEqual(actions, []);
    await client.stop();
  });

  test('follow the text as it is now, not as it was when the client was told', async () => {
    const { client } = await start();
    await client.open(a, pod('chat'));
    const { items } = await client.pull(a);
    const moved = `# one\n# two\n${pod('chat')}`;
    await client.type(a, 2, moved);
    assert.deepEqual(await client.actions(a, place, items, ['quickfix']), []);
    const actions = await client.actions(a, at(8, 8), items, ['quickfix']);
    assert.equal(applied(a, moved, named(actions, 'Add the image')), `# one\n# two\n${goodPod('chat')}`);
    await client.stop();
  });

  for (const [title, text] of [
    ['LF', pod('chat')],
    ['CRLF', pod('chat').replace(/\n/g, '\r\n')],
    ['a second document', `${goodPod('first')}---\n${pod('chat')}`],
    [
      'a flow map',
      '--- \n{apiVersion: v1, kind: Pod, metadata: {name: chat}, spec: {containers: [{name: vllm}]}}\n',
    ],
    [
      'a document behind its marker',
      '--- {apiVersion: v1, kind: Pod, metadata: {name: chat}, spec: {containers: [{name: vllm}]}}\n',
    ],
  ] as const) {
    test(`suppress what they say they suppress: ${title}`, async () => {
      const { client } = await start();
      await client.open(a, text);
      const { items } = await client.pull(a);
      const [found] = items;
      assert.ok(found !== undefined && items.length === 1);
      const actions = await client.actions(a, found.range, items, ['quickfix']);
      const suppressions = actions.filter((action) => action.title.startsWith('Suppress'));
      assert.ok(suppressions.length >= 2, actions.map((action) => action.title).join(', '));
      let version = 1;
      for (const action of suppressions) {
        const changed = applied(a, text, action);
        assert.notEqual(changed, text);
        await client.type(a, ++version, changed);
        assert.deepEqual((await client.pull(a)).items, [], `${action.title}:\n${changed}`);
        // Nothing but what was added is different.
        if (text.includes('\r\n')) assert.doesNotMatch(changed, /[^\r]\n/);
      }
      await client.stop();
    });
  }

  test('keep JSON what is JSON: no comment is offered there', async () => {
    const { client } = await start();
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'chat \u{1F6A2}' },
      spec: { containers: [{ name: 'vllm' }] },
    };
    for (const [version, indent] of [0, 2].entries()) {
      const text = JSON.stringify(object, null, indent);
      if (version === 0) await client.open(a, text);
      else await client.type(a, version + 1, text);
      const { items } = await client.pull(a);
      const range = items[0]?.range;
      assert.ok(range !== undefined);
      const actions = await client.actions(a, range, items, ['quickfix']);
      const suppressing = actions.filter(({ title }) => title.startsWith('Suppress'));
      assert.deepEqual(
        suppressing.map(({ title }) => title),
        ['Suppress request-above-limit by annotation on Pod "chat \u{1F6A2}"'],
      );
      for (const action of [...suppressing, named(actions, 'Add the image')]) {
        const after = applied(a, text, action);
        assert.notEqual(after, text);
        JSON.parse(after);
      }
    }
    await client.stop();
  });

  test('fix all that is safe, and nothing else', async () => {
    const { client } = await start();
    const text = `${pod('one', 'a')}---\n${goodPod('two')}---\n${pod('three', 'b')}    - name: c\n`;
    await client.open(a, text);
    const [action, ...others] = await client.actions(a, at(0, 0), [], ['source.fixAll']);
    assert.equal(others.length, 0);
    const image = '      image: vllm/vllm-openai:v0.11.0\n';
    assert.equal(
      applied(a, text, action),
      `${goodPod('one').replace('name: vllm', 'name: a')}---\n${goodPod('two')}---\n${pod('three', 'b')}${image}    - name: c\n${image}`,
    );
    assert.deepEqual(await client.actions(a, at(0, 0), [], ['source.organizeImports']), []);
    await client.type(a, 2, goodPod('one'));
    assert.deepEqual(await client.actions(a, at(0, 0), [], ['source.fixAll.plimsoll']), []);
    await client.stop();
  });

  test('are unversioned for a client that cannot take versions', async () => {
    const { client } = await start({ capabilities: pushedClient });
    await client.open(a, pod('chat'));
    const actions = await client.actions(a, place, [], ['quickfix']);
    const fix = named(actions, 'Add the image');
    assert.equal(fix.edit?.documentChanges, undefined);
    assert.equal(applied(a, pod('chat'), fix), goodPod('chat'));
    await client.stop();
  });

  test('explain a rule with the command of our own client', async () => {
    const { client } = await start();
    await client.open(a, pod('chat'));
    const { command } = named(await client.actions(a, place), 'Explain rule request-above-limit');
    assert.deepEqual(command?.command, 'plimsoll.openRuleDocumentation');
    assert.deepEqual(command.arguments, ['request-above-limit']);
    assert.equal(client.initialized.capabilities.executeCommandProvider, undefined);
    await client.stop();
  });

  test('explain a rule on its page for any other client', async () => {
    const { client } = await start({ initializationOptions: {} });
    await client.open(a, pod('chat'));
    const { command } = named(await client.actions(a, place), 'Explain rule request-above-limit');
    assert.ok(command !== undefined);
    assert.deepEqual(client.initialized.capabilities.executeCommandProvider?.commands, [command.command]);
    await client.connection.sendRequest('workspace/executeCommand', command);
    assert.match(client.shown[0] ?? '', /request-above-limit\.md$/);
    await client.stop();
  });

  test('explain a rule in a message where nothing can be opened', async () => {
    const { client } = await start({ initializationOptions: {}, capabilities: pushedClient });
    await client.connection.sendRequest('workspace/executeCommand', {
      command: 'plimsoll.explainRule',
      arguments: ['request-above-limit'],
    });
    await client.until('the message is there', () => client.messages.length === 1);
    assert.match(
      client.messages[0] ?? '',
      /^A request must not be above its limit: https:.*request-above-limit\.md$/,
    );
    await assert.rejects(
      client.connection.sendRequest('workspace/executeCommand', {
        command: 'plimsoll.explainRule',
        arguments: ['no-such-rule'],
      }),
      { code: -32602 },
    );
    await client.stop();
  });
});

describe('hover', () => {
  test('tells the rule, the message and what it rests on, and lets no name become markup', async () => {
    const { client } = await start({ initializationOptions: {} });
    await client.open(a, pod('chat', '"[x](command:y)"'));
    const hover = await client.hover(a, { line: 6, character: 8 });
    assert.ok(hover !== null && typeof hover.contents === 'object' && 'kind' in hover.contents);
    assert.equal(hover.contents.kind, 'markdown');
    assert.match(hover.contents.value, /\(\[request-above-limit\]\(https:[^)]*request-above-limit\.md\)\)/);
    assert.match(hover.contents.value, /Container "\\\[x\\\]\(command:y\)" has no \\\*image\\\*/);
    assert.match(hover.contents.value, /- one image is needed\n- none was found/);
    assert.deepEqual(hover.range, { start: { line: 6, character: 6 }, end: { line: 6, character: 10 } });
    await client.stop();
  });

  test('leaves the message to a client that shows it by itself', async () => {
    const { client } = await start();
    await client.open(a, pod('chat'));
    const hover = await client.hover(a, { line: 6, character: 8 });
    assert.ok(hover !== null && typeof hover.contents === 'object' && 'kind' in hover.contents);
    assert.doesNotMatch(hover.contents.value, /has no/);
    assert.match(
      hover.contents.value,
      /request-above-limit\.md\)\)\n\n- one image is needed\n- none was found/,
    );
    await client.stop();
  });

  test('is plain text for a client that wants that', async () => {
    const { client } = await start({ capabilities: pushedClient, initializationOptions: {} });
    await client.open(a, pod('chat'));
    const hover = await client.hover(a, { line: 6, character: 8 });
    assert.ok(hover !== null && typeof hover.contents === 'object' && 'kind' in hover.contents);
    assert.equal(hover.contents.kind, 'plaintext');
    assert.match(hover.contents.value, /Container "vllm" has no \*image\*/);
    await client.stop();
  });

  test('is silent away from findings, in unknown files, and where it is switched off', async () => {
    const { client } = await start({
      settings: { 'file:///quiet': { hover: { enable: false } } },
      folders: ['/ws', '/quiet'],
    });
    await client.open(a, pod('chat'));
    assert.equal(await client.hover(a, { line: 0, character: 0 }), null);
    assert.equal(await client.hover(a, { line: 99, character: 99 }), null);
    assert.equal(await client.hover(uriOf('/ws/none.yaml'), { line: 0, character: 0 }), null);
    const quiet = uriOf('/quiet/a.yaml');
    await client.open(quiet, pod('chat'));
    assert.equal((await client.pull(quiet)).items.length, 1);
    assert.equal(await client.hover(quiet, { line: 6, character: 8 }), null);
    await client.stop();
  });
});

test('a client without literal code actions is not offered any', async () => {
  const { client } = await start({
    capabilities: { ...pullingClient, textDocument: { ...pullingClient.textDocument, codeAction: {} } },
  });
  assert.equal(client.initialized.capabilities.codeActionProvider, undefined);
  await client.stop();
});
