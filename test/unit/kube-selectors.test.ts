import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsOf, readLabelMap, readSelector, selects } from '../../server/src/kube/selectors';
import { getIn } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';

function node(text: string) {
  return parseFile('', text).documents[0]?.document.root;
}

function matches(selector: string, labels: string, open = false): string {
  const read = readSelector(node(selector));
  return read === undefined ? 'none' : selects(read, labelsOf(node(labels), open));
}

test('every label and every expression must hold', () => {
  const labels = '{app: llm, tier: gpu}';
  assert.equal(matches('matchLabels: {app: llm}', labels), 'yes');
  assert.equal(matches('matchLabels: {app: llm, tier: cpu}', labels), 'no');
  assert.equal(
    matches(
      '{matchLabels: {app: llm}, matchExpressions: [{key: tier, operator: In, values: [gpu, big]}]}',
      labels,
    ),
    'yes',
  );
  assert.equal(
    matches(
      '{matchLabels: {app: llm}, matchExpressions: [{key: tier, operator: NotIn, values: [gpu]}]}',
      labels,
    ),
    'no',
  );
  assert.equal(matches('matchExpressions: [{key: role, operator: NotIn, values: [x]}]', labels), 'yes');
  assert.equal(matches('matchExpressions: [{key: role, operator: Exists}]', labels), 'no');
  assert.equal(matches('matchExpressions: [{key: role, operator: DoesNotExist}]', labels), 'yes');
});

test('unquoted booleans and numbers of a label are its text', () => {
  assert.equal(matches('matchLabels: {gpu: "true", n: "1"}', '{gpu: true, n: 1}'), 'yes');
});

test('what a template decides is unknown, unless a certain no stands beside it', () => {
  assert.equal(matches('matchLabels: {app: "${APP}"}', '{app: llm}'), 'unknown');
  assert.equal(matches('matchLabels: {app: llm}', '{app: "${APP}"}'), 'unknown');
  assert.equal(matches('matchLabels: {app: "${APP}", tier: cpu}', '{app: llm, tier: gpu}'), 'no');
  assert.equal(matches('matchLabels: {role: leader}', '{app: llm}', true), 'unknown');
  assert.equal(
    matches('matchExpressions: [{key: app, operator: Weird, values: [llm]}]', '{app: llm}'),
    'unknown',
  );
});

test('an empty selector selects all, a missing one is none', () => {
  assert.equal(matches('{}', '{app: llm}'), 'yes');
  assert.equal(readSelector(getIn(node('a: 1'), 'b')), undefined);
  assert.equal(readSelector(node('{matchLabels: {}}'))?.empty, true);
  assert.equal(readLabelMap(node('{}'))?.empty, true);
});
