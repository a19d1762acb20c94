import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { selectorsOf } from '../../server/src/promql/expression';
import { parsePromQL } from '../../server/src/promql/parse';
import { distinguishingLabels, seriesCount } from '../../server/src/promql/series';

const taken = [
  'sum(rate(x[5m]))',
  'sum by (on, offset, bool, start) (x{start="1", by="2"})',
  'histogram_quantile(0.95, sum(rate(vllm:x_bucket[5m])) by (le))',
  'topk(3, x)',
  'rate(x[5m] offset 1h)',
  'x offset -5m',
  'x @ start()',
  'a / on(x) group_left(y, z) b',
  '{__name__="a"}',
  '{"my.metric", a="b"}',
  'avg without(a) (x) > bool 3',
  'max_over_time(sum(x)[5m:1m])',
  'avg_over_time(x[5m:])',
  'a or on() vector(0)',
  'x{a!="b",}',
  'holt_winters(x[5m],0.5,0.5)',
  'label_replace(x, "a", "$1", "b", "(.*)")',
  'label_join(x, "a", "-")',
  'predict_linear(x[1h], 4*3600)',
  'last_over_time(x[1d12h])',
  'sum(x) / scalar(sum(y))',
  'time() - x > 300',
  'hour() > 8',
  'sum(x) # a comment (\n + sum(y)',
  'x{a=~"foo\\\\.bar", b=\'c\', d=`e\\.f`}',
  'x{a=~"(?i)b"}',
  'count_values("v", x)',
  '# first a comment\nsum(x)',
  '-x ^ 2',
  '1e3 + 0x1F + x',
  'sum',
  'start',
  'some_function_of_tomorrow',
];

/** Query, the text that the problem is on, and a part of what is said. */
const refused: readonly (readonly [string, string, RegExp])[] = [
  ['sum(rate(x[5m])', '(', /never closed/],
  ['sum(x))', ')', /closes nothing/],
  ['x[5m', '[', /never closed/],
  ['sum(rate(x{a="b"[5m]))', ')', /wants its "}"/],
  ['x{a="b}', '"', /not closed/],
  ['foo(x)', 'foo', /no function "foo"/],
  ['sum(a) + foo (x)', 'foo', /no function/],
  ['a + ', '+', /before it is complete/],
  ['a b', 'b', /not expected/],
  ['x{a="b" c="d"}', 'c', /not expected/],
  ['a && b', '&', /not expected/],
  ['a{b=c}', 'c', /not expected/],
  ['sum(x) > 5 for 5m', 'for', /not expected/],
  ['rate(x[5 m])', 'm', /not expected/],
  ['rate(x)', 'x', /range vector here, as in x\[5m\]/],
  ['sum(x[5m])', 'x[5m]', /instant vector/],
  ['rate(sum(x)[5m])', 'sum(x)[5m]', /subquery/],
  ['sum(x) offset 5m', 'sum(x) offset 5m', /offset follows/],
  ['x{a=~"foo\\.bar"}', '\\.', /no escape/],
  ['{a=~".*"}', '{a=~".*"}', /needs a name/],
  ['x{a=~"(?!b)"}', 'a=~"(?!b)"', /RE2/],
  ['1 > 2', '>', /needs bool/],
  ['a + bool b', '+', /bool is for comparisons/],
  ['1 and x', 'and', /both sides/],
  ['x + "a"', '"a"', /a string/],
  ['topk(x)', 'topk', /2 arguments, not 1/],
  ['sum(1)', '1', /instant vector here, not a number/],
  ['histogram_quantile(sum(x), 0.9)', 'sum(x)', /a number here/],
  ['label_replace(x, "a")', 'label_replace', /5 arguments/],
  ['x{__name__="y"}', '__name__="y"', /two names/],
];

describe('reading queries', () => {
  test('what Prometheus takes', () => {
    for (const query of taken) {
      const parsed = parsePromQL(query);
      assert.ok(parsed.ok, `${query}: ${parsed.ok ? '' : parsed.problem.message}`);
    }
  });

  for (const [query, at, message] of refused) {
    test(`refused: ${query}`, () => {
      const parsed = parsePromQL(query);
      assert.ok(!parsed.ok, 'it parses');
      const { start, end } = parsed.problem;
      assert.deepEqual(
        [query.slice(start, end), message.test(parsed.problem.message)],
        [at, true],
        parsed.problem.message,
      );
    });
  }

  test('nothing, and nothing but a comment', () => {
    for (const query of ['', '  \n', '# sum(x)']) assert.ok(!parsePromQL(query).ok);
  });

  test('selectors with the places of their names', () => {
    const query = 'sum(a{x="1"}) / sum({__name__="b:c"}) + {"d.e"}';
    const parsed = parsePromQL(query);
    assert.ok(parsed.ok);
    const found = selectorsOf(parsed.expression).map(({ metric, metricSpan }) => [
      metric,
      metricSpan && query.slice(metricSpan.start, metricSpan.end),
    ]);
    assert.deepEqual(found, [
      ['a', 'a'],
      ['b:c', 'b:c'],
      ['d.e', 'd.e'],
    ]);
  });
});

const counts: Readonly<Record<'one' | 'many' | 'unknown', readonly string[]>> = {
  one: [
    'sum(x)',
    'avg(rate(x[5m]))',
    'sum(x) / count(y)',
    'sum(x) or vector(0)',
    'sum(x) or on() vector(0)',
    'histogram_quantile(0.95, sum by (le) (rate(x_bucket[5m])))',
    'max(sum by (pod) (x))',
    'topk(1, x)',
    'absent(x)',
    'sum by (model) (x{model="a"})',
    'sum by (model, ns) (x{model="a", ns=~"b"}) * 0 + sum(y)',
    'x / on() sum(y)',
    'sum_over_time(sum(x)[5m:])',
    '-sum(x)',
    'sum(x{pod="p"})',
    'clamp_max(sum(x), 5) > 2',
    'count(x) * 2',
    'vector(1)',
    'ceil(sum(x) / 3)',
    'sum without (pod) (sum by (pod) (x))',
  ],
  many: [
    'x',
    'rate(x[5m])',
    'x{namespace="a"}',
    'sum by (pod) (x)',
    'sum(x) by (model)',
    'sum without (pod) (x)',
    'topk(3, x)',
    'histogram_quantile(0.95, rate(x_bucket[5m]))',
    'histogram_quantile(0.95, sum by (le, pod) (rate(x_bucket[5m])))',
    'x > 5',
    'x and sum(y)',
    'x / y',
    'sum(x) or y',
    'x / on(pod) group_left sum(y) by (pod)',
    'count_values("v", x)',
    'max_over_time(x[5m])',
    'x or vector(0)',
    'label_replace(x, "a", "$1", "b", "(.*)")',
  ],
  unknown: [
    '1',
    'time()',
    'scalar(sum(x))',
    'x{pod="p"}',
    'up{instance="a:1"}',
    'sum by (a) (x{a="1"}) or vector(0)',
  ],
};

describe('how many series', () => {
  for (const [count, queries] of Object.entries(counts)) {
    test(count, () => {
      for (const query of queries) {
        const parsed = parsePromQL(query);
        assert.ok(parsed.ok, query);
        assert.equal(seriesCount(parsed.expression), count, query);
      }
    });
  }

  test('the labels by which they differ', () => {
    const parsed = parsePromQL('sum by (model, ns, pod) (x{ns="a"})');
    assert.ok(parsed.ok);
    assert.deepEqual(distinguishingLabels(parsed.expression), ['model', 'pod']);
  });
});
