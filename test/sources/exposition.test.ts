import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseExposition } from '../../server/src/sources/exposition';

const one = (line: string) => {
  const { samples, problems } = parseExposition(line, 0);
  assert.deepEqual(problems, []);
  assert.equal(samples.length, 1);
  return samples[0];
};

test('a name, labels and a value', () => {
  assert.deepEqual(one('up 1'), { name: 'up', labels: {}, value: 1 });
  assert.deepEqual(one('vllm:num_requests_waiting{engine="0",model_name="a/b"} 16.0'), {
    name: 'vllm:num_requests_waiting',
    labels: { engine: '0', model_name: 'a/b' },
    value: 16,
  });
  assert.deepEqual(one('  a { b = "c" , d="" , }   2\t3 '), {
    name: 'a',
    labels: { b: 'c', d: '' },
    value: 2,
  });
});

test('escapes in label values, and braces and commas that are text', () => {
  assert.deepEqual(one(String.raw`a{b="x\\y\"z\n",c="},{="} 1`)?.labels, { b: 'x\\y"z\n', c: '},{=' });
});

test('numbers as Go writes them', () => {
  assert.equal(one('a 1.7960754987252376e+09')?.value, 1796075498.7252376);
  assert.equal(one('a +Inf')?.value, Infinity);
  assert.equal(one('a -Inf')?.value, -Infinity);
  assert.ok(Number.isNaN(one('a NaN')?.value));
  assert.equal(one('a .5')?.value, 0.5);
  assert.equal(one('a 0x10')?.value, 16);
});

test('timestamps and exemplars are read over', () => {
  assert.equal(one('a 1 1395066363000')?.value, 1);
  assert.equal(one('a_bucket{le="0.1"} 8 # {trace_id="KOO5S4vxi0o"} 0.067')?.value, 8);
  assert.equal(one('a_bucket{le="0.1"} 8 1520879607.789 # {trace_id="x # y"} 0.067 1520879607.1')?.value, 8);
});

test('names in quotes, of OpenMetrics 2 and UTF-8 expositions', () => {
  assert.deepEqual(one('{"my.dotted.metric", "région"="x"} 1'), {
    name: 'my.dotted.metric',
    labels: { région: 'x' },
    value: 1,
  });
});

test('comments, carriage returns, and nothing after # EOF', () => {
  const scrape = parseExposition('# HELP a Text.\r\n# TYPE a counter\r\na_total 3\r\n# EOF\r\nb 1\r\n', 7);
  assert.deepEqual(scrape, {
    at: 7,
    samples: [{ name: 'a_total', labels: {}, value: 3 }],
    names: new Set(['a_total']),
    problems: [],
  });
});

test('a broken line is told and hides no other', () => {
  const { samples, problems } = parseExposition('a 1\nb{c="d 2\n{} 3\ne\nf x\ng{h} 1\ni 1 2 3\nj 4\n', 0);
  assert.deepEqual(
    samples.map(({ name }) => name),
    ['a', 'j'],
  );
  assert.deepEqual(
    problems.map((problem) => problem.split(':')[0]),
    ['line 2', 'line 3', 'line 4', 'line 5', 'line 6', 'line 7'],
  );
});

test('a web page is nothing but problems, and not endlessly many', () => {
  const { samples, problems } = parseExposition('<html>\n'.repeat(1000), 0);
  assert.equal(samples.length, 0);
  assert.equal(problems.length, 20);
});

test('samples that are not wanted are named only', () => {
  const text = 'a{b="c"} 1\nd 2\nd broken\ne{f="} g"} NaN\n';
  const { samples, names, problems } = parseExposition(text, 0, (name) => name === 'a');
  assert.deepEqual(
    samples.map(({ name }) => name),
    ['a'],
  );
  assert.deepEqual([...names], ['a', 'd', 'e']);
  assert.equal(problems.length, 1);
});

test('a label called __proto__ is a label', () => {
  const labels = one('a{__proto__="x"} 1')?.labels ?? {};
  assert.deepEqual(Object.entries(labels), [['__proto__', 'x']]);
});

const real = join(__dirname, '../../../shared/facts/exposition/vllm-0.32.0-cpu.txt');

test(
  'what a real vLLM printed is read whole',
  { skip: existsSync(real) ? false : 'the recording is not here' },
  () => {
    const text = readFileSync(real, 'utf8');
    const { samples, problems } = parseExposition(text, 0);
    assert.deepEqual(problems, []);
    assert.equal(
      samples.length,
      text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    );
  },
);
