import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultConfig } from '../../server/src/engine/config';
import type { Finding } from '../../server/src/engine/finding';
import { applyEdits } from '../../server/src/engine/fixes';
import { lint } from '../../server/src/engine/run';
import type { WrittenSuppression } from '../../server/src/engine/suppress';
import { suppressionsFor } from '../../server/src/engine/suppress';
import type { Rule } from '../../server/src/rules/rule';
import { defineRule } from '../../server/src/rules/rule';
import type { Workspace } from '../../server/src/workspace/workspace';
import type { YamlNode } from '../../server/src/yaml/node';
import { workspaceOf } from '../support/workspace';

const config = defaultConfig();

/** Finds the word `fault` in every scalar of a Pod, on the word itself. */
const faults: Rule = defineRule({
  id: 'request-above-limit',
  summary: '',
  severity: 'error',
  needs: 'document',
  kinds: ['Pod'],
  fixable: 'none',
  check(resource, { report }) {
    const visit = (node: YamlNode): void => {
      if (node.kind === 'map') for (const { value } of node.entries) visit(value);
      else if (node.kind === 'sequence') node.items.forEach(visit);
      else if (!node.borrowed) {
        const text = resource.placed.document.text.slice(node.start, node.end);
        for (const match of text.matchAll(/fault/g)) {
          const start = node.start + match.index;
          report({ at: { start, end: start + 5 }, message: `At ${start}` });
        }
      }
    };
    visit(resource.root);
  },
});

function run(text: string) {
  const workspace = workspaceOf({ 'a.yaml': text });
  const [file] = lint(workspace, () => config, { rules: [faults] }).files;
  assert.ok(file);
  return { ...file, workspace };
}

function ways(workspace: Workspace, finding: Finding, reason?: string): readonly WrittenSuppression[] {
  const file = workspace.files.get(finding.uri);
  return file === undefined ? [] : suppressionsFor(file, finding, workspace.resourcesOf(finding.uri), reason);
}

/** Suppresses the first finding in one way, and checks that exactly it, and no other, is hidden. */
function suppress(text: string, scope: WrittenSuppression['scope'], reason?: string): string {
  const { findings, workspace } = run(text);
  const finding = findings[0];
  assert.ok(finding);
  const fix = ways(workspace, finding, reason).find((candidate) => candidate.scope === scope);
  assert.ok(fix, `no way to suppress by ${scope}`);
  const fixed = applyEdits(text, fix.edits);
  const after = run(fixed);
  assert.deepEqual(
    after.findings.map(({ rule }) => rule).filter((rule) => rule !== 'request-above-limit'),
    [],
    fixed,
  );
  assert.ok(after.findings.length < findings.length, `nothing is hidden in:\n${fixed}`);
  assert.ok(after.suppressed.length >= 1);
  if (reason !== undefined) assert.equal(after.suppressed[0]?.justification, reason);
  return fixed;
}

const head = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: chat\n';

describe('suppress a line', () => {
  test('with the indent of the line', () => {
    assert.equal(
      suppress(`${head}spec:\n  nodeName: fault\n`, 'line'),
      `${head}spec:\n  # plimsoll-disable-next-line request-above-limit\n  nodeName: fault\n`,
    );
  });

  test('with a reason', () => {
    assert.match(
      suppress(`${head}spec: { nodeName: fault }\n`, 'line', 'it is known'),
      /^# plimsoll-disable-next-line request-above-limit -- it is known$/m,
    );
  });

  test('at a list item, other findings stay', () => {
    const text = `${head}spec:\n  containers:\n    - name: fault\n      image: fault\n`;
    const fixed = suppress(text, 'line');
    assert.match(fixed, /\n {4}# plimsoll-disable-next-line request-above-limit\n {4}- name: fault\n/);
    assert.equal(run(fixed).findings.length, 1);
  });

  test('inside a block text, above the key, where a comment is one', () => {
    const text = `${head}spec:\n  nodeName: |\n    first\n    fault\n  hostname: a\n`;
    assert.match(
      suppress(text, 'line'),
      /spec:\n {2}# plimsoll-disable-next-line [\w-]+\n {2}nodeName: \|\n/,
    );
  });

  test('inside a quoted text of several lines', () => {
    const text = `${head}spec:\n  nodeName: "first\n    fault"\n`;
    assert.match(
      suppress(text, 'line'),
      /spec:\n {2}# plimsoll-disable-next-line [\w-]+\n {2}nodeName: "first\n/,
    );
  });

  test('inside a flow map of several lines', () => {
    const text = `${head}spec: {\n  hostname: a,\n  nodeName: fault }\n`;
    assert.match(suppress(text, 'line'), /a,\n {2}# plimsoll-disable-next-line [\w-]+\n {2}nodeName: fault/);
  });

  test('with the line end of the file', () => {
    const text = `${head}spec:\n  nodeName: fault\n`.replaceAll('\n', '\r\n');
    const fixed = suppress(text, 'line');
    assert.doesNotMatch(fixed, /(?<!\r)\n/);
  });

  test('joins the comment that is there', () => {
    const text = `${head}spec:\n  # plimsoll-disable-next-line duplicate-key\n  nodeName: fault\n`;
    const { findings, workspace } = run(text);
    const finding = findings.find(({ rule }) => rule === 'request-above-limit');
    assert.ok(finding);
    const [fix] = ways(workspace, finding);
    assert.equal(
      applyEdits(text, fix?.edits ?? []),
      text.replace('duplicate-key', 'duplicate-key, request-above-limit'),
    );
    const [other] = ways(workspace, finding, 'another reason');
    assert.match(
      applyEdits(text, other?.edits ?? []),
      /duplicate-key\n.*request-above-limit -- another reason\n/,
    );
  });

  test('is not offered on the line of a document marker', () => {
    const text = `${head}spec: {}\n--- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {nodeName: fault}}\n`;
    const { findings, workspace } = run(text);
    assert.ok(findings[0]);
    assert.deepEqual(
      ways(workspace, findings[0]).map(({ scope }) => scope),
      ['document', 'object'],
    );
    suppress(text, 'document');
    suppress(text, 'object');
  });
});

describe('suppress a document', () => {
  test('the other documents stay', () => {
    const text = `${head}spec: { nodeName: fault }\n---\n${head}spec: { nodeName: fault }\n`;
    const fixed = suppress(text, 'document');
    assert.ok(fixed.startsWith('# plimsoll-disable request-above-limit\napiVersion'));
    assert.equal(run(fixed).findings.length, 1);
  });

  test('the second document', () => {
    const text = `${head}spec: {}\n---\n${head}spec: { nodeName: fault, hostname: fault }\n`;
    assert.match(suppress(text, 'document'), /\n---\n# plimsoll-disable request-above-limit\napiVersion/);
  });

  test('behind a byte order mark', () => {
    assert.match(
      suppress(`\uFEFF${head}spec: { nodeName: fault }\n`, 'document'),
      /^\uFEFF# plimsoll-disable /,
    );
  });

  test('below the comments at its head', () => {
    const text = `--- # the pod\n# of the team\n${head}spec: { nodeName: fault }\n`;
    assert.match(suppress(text, 'document'), /^--- # the pod\n# of the team\n# plimsoll-disable [\w-]+\napi/);
  });

  test('behind a document that starts on the line of its marker', () => {
    const text = `${head}spec: {}\n--- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {nodeName: fault}}\n---\n${head}\n`;
    assert.match(suppress(text, 'document'), /fault}}\n# plimsoll-disable request-above-limit\n---\n/);
  });
});

describe('suppress by an annotation', () => {
  test('makes the map', () => {
    assert.match(
      suppress(`${head}spec: { nodeName: fault, hostname: fault }\n`, 'object', 'known'),
      /metadata:\n {2}name: chat\n {2}annotations:\n {4}plimsoll.dev\/ignore: request-above-limit -- known\n/,
    );
  });

  test('adds to the list that is there, before its reason', () => {
    const text = `${head}  annotations: { plimsoll.dev/ignore: yaml-syntax -- why not }\nspec: { nodeName: fault }\n`;
    const { findings, workspace } = run(text);
    const finding = findings.find(({ rule }) => rule === 'request-above-limit');
    assert.ok(finding);
    const fix = ways(workspace, finding).find(({ scope }) => scope === 'object');
    assert.equal(
      applyEdits(text, fix?.edits ?? []),
      // In a flow map the comma asks for quotes.
      text.replace('yaml-syntax -- why not', '"yaml-syntax, request-above-limit -- why not"'),
    );
  });
});

test('what is wrong with a suppression is not suppressed but corrected', () => {
  const { findings, workspace } = run(`# plimsoll-disable yaml-syntax\n${head}spec: {}\n`);
  assert.deepEqual(
    findings.map(({ rule }) => rule),
    ['unused-suppression'],
  );
  assert.deepEqual(ways(workspace, findings[0] as Finding), []);
});
