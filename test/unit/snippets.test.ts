import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { configurationOf } from '../../server/src/engine/config';
import { lint } from '../../server/src/engine/run';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';
import { expand, parseSnippets } from '../support/snippets';

const root = join(__dirname, '../..');
const files = readdirSync(join(root, 'snippets')).filter((name) => name.endsWith('.code-snippets'));
const snippetsOf = (file: string) => parseSnippets(readFileSync(join(root, 'snippets', file), 'utf8'));

describe('snippets', () => {
  for (const file of files) {
    for (const { name, body } of snippetsOf(file)) {
      test(`${file}: ${name}`, () => {
        const text = expand(body);
        assert.doesNotMatch(text, /\$\{?\d/);
        assert.doesNotMatch(text, /\t| $/m);
        if (file === 'iam.code-snippets') assert.equal(typeof JSON.parse(text), 'object');
        if (file !== 'kubernetes.code-snippets') return;
        const uri = 'file:///snippets/new.yaml';
        const { files: results, internalErrors } = lint(
          Workspace.empty.with(parseFile(uri, text)),
          configurationOf(new Map(), {}).configFor,
        );
        assert.deepEqual(internalErrors, []);
        const [result] = results;
        const loud = (result?.findings ?? []).filter(
          ({ severity }) => severity === 'error' || severity === 'warning',
        );
        assert.deepEqual(
          loud.map(({ rule, message, at }) => `${rule} on ${text.slice(at.start, at.end)}: ${message}`),
          [],
        );
      });
    }
  }

  test('are expanded to their defaults, first choices and repeats', () => {
    const body =
      'kind: ${1|Deployment,StatefulSet|}\nname: ${2:my-${3:chat}}\nagain: $2, ${3}\npath: \\$HOME$0';
    assert.equal(expand(body), 'kind: Deployment\nname: my-chat\nagain: my-chat, chat\npath: $HOME');
  });

  test('a repeated name has the same default everywhere, or follows when it is typed over', () => {
    for (const file of files) {
      for (const { name, body } of snippetsOf(file)) {
        const defaults = new Map<string, Set<string>>();
        for (const [, number = '', value = ''] of body.matchAll(/\$\{(\d+)[:|]([^{}]*?)\|?\}/g)) {
          const known = defaults.get(number);
          if (known === undefined) defaults.set(number, new Set([value]));
          else known.add(value);
        }
        for (const [number, values] of defaults) {
          assert.equal(values.size, 1, `${file}, ${name}: \${${number}} has ${[...values].join(' and ')}`);
        }
      }
    }
  });

  test('no two share a prefix in one language, and each says what it is', () => {
    for (const file of files) {
      const prefixes = snippetsOf(file).flatMap((snippet) => snippet.prefixes);
      assert.equal(new Set(prefixes).size, prefixes.length, file);
      for (const { name, description } of snippetsOf(file)) {
        assert.ok(description.length > 20 && !description.endsWith('.'), `${name}: ${description}`);
      }
    }
  });
});
