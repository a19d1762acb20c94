import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultConfig } from '../../server/src/engine/config';
import type { FileEdit, Finding } from '../../server/src/engine/finding';
import { applyEdits, compatibleFixes, fixFile } from '../../server/src/engine/fixes';
import type { Fix, Rule } from '../../server/src/rules/rule';
import { defineRule } from '../../server/src/rules/rule';
import { getIn, mapIn, scalarIn } from '../../server/src/yaml/node';
import { uriOf, workspaceOf } from '../support/workspace';

const config = defaultConfig();

/** Wants another value wherever `data.value` is one of the table's keys. */
function replacing(id: string, table: Readonly<Record<string, string>>, fix: Partial<Fix> = {}): Rule {
  return defineRule({
    id,
    summary: '',
    severity: 'warning',
    needs: 'document',
    kinds: ['Service'],
    fixable: 'safe',
    check(resource, { report }) {
      const node = scalarIn(resource.root, 'spec', 'type');
      const newText = node === undefined ? undefined : table[node.text];
      if (node === undefined || newText === undefined) return;
      const edits = [{ start: node.start, end: node.end, newText }];
      report({
        at: node,
        message: node.text,
        fixes: [{ title: `Write ${newText}`, safe: true, edits, ...fix }],
      });
    },
  });
}

const text = (value: string): string =>
  `apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec:\n  type:   ${value}   # stays\n`;

function fix(value: string, rules: readonly Rule[], scope: 'safe' | 'all' = 'safe') {
  return fixFile(workspaceOf({ 'a.yaml': text(value) }), uriOf('a.yaml'), () => config, scope, { rules });
}

describe('fixFile', () => {
  test('fixes make room for others until nothing is left', () => {
    const result = fix('a', [replacing('one', { a: 'b' }), replacing('two', { b: 'c' })]);
    assert.equal(result.text, text('c'));
    assert.deepEqual(
      result.fixed.map(({ title }) => title),
      ['Write b', 'Write c'],
    );
    assert.deepEqual(result.remaining, []);
    assert.equal(result.workspace.files.get(uriOf('a.yaml'))?.text, text('c'));
  });

  test('only safe fixes, unless all are asked for', () => {
    const rules = [replacing('one', { a: 'b' }, { safe: false })];
    const safe = fix('a', rules);
    assert.equal(safe.text, text('a'));
    assert.equal(safe.remaining.length, 1);
    assert.equal(fix('a', rules, 'all').text, text('b'));
  });

  test('of two fixes in one place, the first is made and the other looked at again', () => {
    const result = fix('a', [replacing('one', { a: 'b' }), replacing('two', { a: 'c', b: 'd' })]);
    assert.equal(result.text, text('d'));
  });

  test('fixes that undo each other come to an end', () => {
    const result = fix('a', [replacing('one', { a: 'b' }), replacing('two', { b: 'a' })]);
    assert.equal(result.text, text('b'));
    assert.equal(result.remaining.length, 1);
  });

  test('a fix that always asks for another comes to an end', () => {
    const growing: Rule = defineRule({
      ...replacing('one', {}),
      check(resource, { report }) {
        const node = scalarIn(resource.root, 'spec', 'type');
        if (node === undefined) return;
        const edits = [{ start: node.end, end: node.end, newText: 'x' }];
        report({ at: node, message: 'More', fixes: [{ title: 'Grow', safe: true, edits }] });
      },
    });
    const result = fix('a', [growing]);
    assert.equal(result.fixed.length, 10);
    assert.equal(result.text, text(`a${'x'.repeat(10)}`));
  });

  test('a fix that breaks the YAML is not made', () => {
    const result = fix('a', [replacing('one', { a: '[' })]);
    assert.equal(result.text, text('a'));
    assert.deepEqual(result.fixed, []);
    assert.deepEqual(
      result.internalErrors.map(({ rule, message }) => [rule, message]),
      [['one', 'The fix "Write [" broke the YAML and was not made']],
    );
  });

  /** Adds a key in front of the first one of `spec`, or behind its last one. */
  function adding(id: string, line: string, place: 'first' | 'last'): Rule {
    return defineRule({
      ...replacing(id, {}),
      check(resource, { report }) {
        const spec = mapIn(resource.root, 'spec');
        const node = scalarIn(spec, 'type');
        if (spec === undefined || node === undefined || getIn(spec, line.split(':')[0] ?? '') !== undefined)
          return;
        const { text } = resource.placed.document;
        const at = place === 'first' ? text.indexOf('  type:') : text.length;
        const edits = [{ start: at, end: at, newText: `  ${line}\n` }];
        report({ at: node, message: line, fixes: [{ title: `Add ${line}`, safe: true, edits }] });
      },
    });
  }

  test('of two fixes that write the same key, the first is made and all others stay', () => {
    const rules = [
      adding('one', 'key: 1', 'first'),
      adding('two', 'key: 2', 'last'),
      replacing('three', { a: 'b' }),
    ];
    const result = fix('a', rules);
    assert.equal(result.text, text('b').replace('  type', '  key: 1\n  type'));
    assert.deepEqual(result.internalErrors, []);
    assert.deepEqual(result.remaining, []);
  });

  test('a fix that breaks the YAML does not take the others with it', () => {
    const result = fix('a', [adding('one', 'broken: [', 'last'), adding('two', 'key: 1', 'first')]);
    assert.equal(result.text, text('a').replace('  type', '  key: 1\n  type'));
    assert.deepEqual(
      result.internalErrors.map(({ rule }) => rule),
      ['one'],
    );
  });

  test('nothing outside the edit changes', () => {
    const crlf = text('a').replaceAll('\n', '\r\n');
    const rules = [replacing('one', { a: 'b' })];
    const result = fixFile(workspaceOf({ 'a.yaml': crlf }), uriOf('a.yaml'), () => config, 'safe', { rules });
    assert.equal(result.text, text('b').replaceAll('\n', '\r\n'));
  });

  test('a file that is not there has nothing to fix', () => {
    const result = fixFile(workspaceOf({}), uriOf('gone.yaml'), () => config, 'all');
    assert.deepEqual([result.text, result.fixed, result.remaining], ['', [], []]);
  });
});

function finding(...alternatives: readonly (readonly FileEdit[])[]): Finding {
  return {
    rule: 'one',
    severity: 'error',
    uri: uriOf('a.yaml'),
    at: { start: 0, end: 1 },
    message: '',
    related: [],
    fixes: alternatives.map((edits) => ({ title: 'Fix', safe: true, edits })),
  };
}

describe('compatibleFixes', () => {
  const insert = (at: number): FileEdit => ({ start: at, end: at, newText: 'x' });

  test('two insertions in one place are not made at once', () => {
    const findings = [finding([insert(3)]), finding([insert(3)]), finding([insert(4)])];
    assert.deepEqual(
      compatibleFixes(findings, 'safe').map((taken) => findings.indexOf(taken.finding)),
      [0, 2],
    );
  });

  test('a fix is made as a whole or not at all', () => {
    const findings = [finding([insert(3)]), finding([insert(1), insert(3)]), finding([insert(1)])];
    assert.deepEqual(
      compatibleFixes(findings, 'safe').map((taken) => findings.indexOf(taken.finding)),
      [0, 2],
    );
  });

  test('of alternatives the first is taken', () => {
    const [taken] = compatibleFixes([finding([insert(3)], [insert(7)])], 'safe');
    assert.equal(taken?.fix.edits[0]?.start, 3);
  });
});

test('edits that overlap are a bug and not a result', () => {
  const edits = [
    { start: 0, end: 3, newText: '' },
    { start: 2, end: 4, newText: '' },
  ];
  assert.throws(() => applyEdits('abcdef', edits), /overlap/);
  assert.throws(() => applyEdits('abc', [{ start: 2, end: 9, newText: '' }]), /outside/);
});
