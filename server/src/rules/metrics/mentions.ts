import { triggersOf } from '../../kube/keda/read-triggers';
import type { Resource } from '../../kube/resource';
import { scalarText } from '../../kube/scalar-text';
import { selectorsOf, type PromExpression, type QuerySpan } from '../../promql/expression';
import { parsePromQL } from '../../promql/parse';
import type { Edit } from '../../yaml/edit';
import { isMap, isScalar, itemsIn, scalarIn, textIn, type ScalarNode } from '../../yaml/node';
import { linePlace } from '../keda/place';
import { asksVictoriaMetrics, queryNode } from '../keda/prometheus-query';
import type { Place } from '../rule';

/** What reads a metric, which decides how its name is written and what has to be there. */
export type MentionSource = 'promql' | 'adapter' | 'cloudwatch' | 'relabeling';

/** The name of a metric in a manifest. */
export interface MetricMention {
  readonly name: string;
  readonly source: MentionSource;
  readonly at: Place;
  /** The other names that the same query, or the same list, reads. */
  readonly beside: readonly string[];
  /** Writes another name in its place; `undefined` where the text serves others too. */
  rename(to: string): readonly Edit[] | undefined;
}

export const mentionKinds: readonly string[] = [
  'HorizontalPodAutoscaler',
  'ScaledObject',
  'ScaledJob',
  'PrometheusRule',
  'ServiceMonitor',
  'PodMonitor',
  'InferenceService',
];

const memo = new WeakMap<Resource, readonly MetricMention[]>();

/** Every metric that an object names, in order of the text. */
export function metricMentions(resource: Resource): readonly MetricMention[] {
  let known = memo.get(resource);
  if (known === undefined) memo.set(resource, (known = readMentions(resource)));
  return known;
}

function readMentions(resource: Resource): readonly MetricMention[] {
  switch (resource.kind) {
    case 'HorizontalPodAutoscaler':
      return adapterMetrics(resource).map(({ node }) => mention(resource, node, 0, node.text, 'adapter', []));
    case 'ScaledObject':
    case 'ScaledJob':
      return triggerMentions(resource);
    case 'InferenceService':
      return inferenceQueries(resource).flatMap((node) => queryMentions(resource, node));
    case 'PrometheusRule':
      return ruleExpressions(resource).flatMap(({ node }) => queryMentions(resource, node));
    default:
      return relabelings(resource);
  }
}

/** A metric of an HPA that a metrics adapter serves. */
export interface AdapterMetric {
  /** The name. */
  readonly node: ScalarNode;
  /** `averageValue` or `value`, where it is written. */
  readonly target: ScalarNode | undefined;
}

/** Pods, Object and External metrics of an HPA; their names are those that the adapter gives. */
export function adapterMetrics(resource: Resource): readonly AdapterMetric[] {
  return itemsIn(resource.root, 'spec', 'metrics').flatMap((item) =>
    ['pods', 'object', 'external'].flatMap((key) => {
      const node = scalarIn(item, key, 'metric', 'name') ?? scalarIn(item, key, 'metricName');
      if (node === undefined || node.unknown || typeof node.value !== 'string') return [];
      const target =
        scalarIn(item, key, 'target', 'averageValue') ??
        scalarIn(item, key, 'target', 'value') ??
        scalarIn(item, key, 'targetAverageValue') ??
        scalarIn(item, key, 'targetValue');
      return [{ node, target }];
    }),
  );
}

/** Queries by which KServe scales the parts of an InferenceService with KEDA. */
function inferenceQueries({ root }: Resource): readonly ScalarNode[] {
  return ['predictor', 'transformer', 'explainer'].flatMap((part) =>
    itemsIn(root, 'spec', part, 'autoScaling', 'metrics').flatMap((item) => {
      const node = scalarIn(item, 'external', 'metric', 'query');
      const isPrometheus = textIn(item, 'external', 'metric', 'backend') === 'prometheus';
      return isPrometheus && node !== undefined && !node.unknown && typeof node.value === 'string'
        ? [node]
        : [];
    }),
  );
}

/** A recording or alerting rule whose expression is known. */
export interface RuleExpression {
  readonly node: ScalarNode;
  readonly record: string | undefined;
  readonly alert: string | undefined;
}

export function ruleExpressions({ root }: Resource): readonly RuleExpression[] {
  return itemsIn(root, 'spec', 'groups').flatMap((group) =>
    itemsIn(group, 'rules').flatMap((rule) => {
      const node = scalarIn(rule, 'expr');
      return node !== undefined && !node.unknown && typeof node.value === 'string'
        ? [{ node, record: textIn(rule, 'record'), alert: textIn(rule, 'alert') }]
        : [];
    }),
  );
}

/** The query in a scalar, with what is needed to point into it. */
export interface PlacedQuery {
  readonly expression: PromExpression;
  place(span: QuerySpan): Place;
}

/** Parses the PromQL of a scalar; `undefined` where it does not parse. */
export function placedQuery(resource: Resource, node: ScalarNode): PlacedQuery | undefined {
  const { text, span } = scalarText(resource.placed.document.text, node);
  const parsed = parsePromQL(text);
  if (!parsed.ok) return undefined;
  return {
    expression: parsed.expression,
    place: ({ start, end }) => (node.borrowed ? node : span(start, end)),
  };
}

function mention(
  resource: Resource,
  node: ScalarNode,
  start: number,
  name: string,
  source: MentionSource,
  beside: readonly string[],
): MetricMention {
  const { text, span } = scalarText(resource.placed.document.text, node);
  const whole = text === name;
  const place = span(start, start + name.length);
  return {
    name,
    source,
    at: node.borrowed || whole ? linePlace(resource, node) : place,
    beside,
    rename: (to) => (node.borrowed ? undefined : [{ ...place, newText: to }]),
  };
}

function queryMentions(resource: Resource, node: ScalarNode): readonly MetricMention[] {
  const { text } = scalarText(resource.placed.document.text, node);
  const parsed = parsePromQL(text);
  if (!parsed.ok) return [];
  const selectors = selectorsOf(parsed.expression);
  const found = selectors.flatMap(({ metric, metricSpan, matchers }) => {
    const named =
      metric === undefined || metricSpan === undefined ? [] : [{ name: metric, start: metricSpan.start }];
    const listed = matchers
      .filter(({ label, operator }) => label === '__name__' && operator === '=~')
      .flatMap((matcher) => namesIn(text, matcher.start, matcher.end));
    return [...named, ...listed];
  });
  const names = found.map(({ name }) => name);
  return found.map(({ name, start }) => mention(resource, node, start, name, 'promql', names));
}

/** A regular expression that is nothing but names: `a|b`, `(a|b)`, `(?:a|b)`, with or without anchors. */
const nameList = /^\^?(?:\((?:\?:)?([\w:|]+)\)|([\w:|]+))\$?$/;

/** The names in a quoted regular expression that lists them; none where it does anything more. */
function namesIn(text: string, start: number, end: number): readonly { name: string; start: number }[] {
  const part = text.slice(start, end);
  const quoted = /["'`]([^"'`]*)["'`]/.exec(part);
  return quoted === null ? [] : listedNames(quoted[1] ?? '', start + quoted.index + 1);
}

function listedNames(regex: string, offset: number): readonly { name: string; start: number }[] {
  const match = nameList.exec(regex);
  const list = match?.[1] ?? match?.[2];
  if (list === undefined) return [];
  let at = offset + regex.indexOf(list);
  return list.split('|').flatMap((name) => {
    const start = at;
    at += name.length + 1;
    return name === '' ? [] : [{ name, start }];
  });
}

function triggerMentions(resource: Resource): readonly MetricMention[] {
  return triggersOf(resource).flatMap((trigger) => {
    const { type, metadataNode } = trigger;
    switch (type) {
      case 'prometheus': {
        const node = asksVictoriaMetrics(trigger) ? undefined : queryNode(trigger);
        return node === undefined ? [] : queryMentions(resource, node);
      }
      case 'metrics-api': {
        const node = scalarIn(metadataNode, 'valueLocation');
        if (textIn(metadataNode, 'format') !== 'prometheus' || node === undefined || node.unknown) return [];
        return typeof node.value === 'string' ? queryMentions(resource, node) : [];
      }
      case 'aws-cloudwatch': {
        const query = scalarIn(metadataNode, 'expression');
        if (query !== undefined && !query.unknown && typeof query.value === 'string')
          return insightsMentions(resource, query);
        const node = scalarIn(metadataNode, 'metricName');
        const isInsights = textIn(metadataNode, 'namespace') === 'ContainerInsights';
        if (!isInsights || node === undefined || node.unknown || typeof node.value !== 'string') return [];
        return [mention(resource, node, 0, node.text, 'cloudwatch', [])];
      }
      default:
        return [];
    }
  });
}

/** Metrics of Container Insights in a query of CloudWatch Metrics Insights: `SELECT AVG(name) FROM SCHEMA(...)`. */
function insightsMentions(resource: Resource, node: ScalarNode): readonly MetricMention[] {
  const { text } = scalarText(resource.placed.document.text, node);
  const match =
    /^\s*SELECT\s+\w+\s*\(\s*"?(\w+)"?\s*\)\s+FROM\s+(?:SCHEMA\s*\(\s*)?"?ContainerInsights"?\s*[,)\s]?/i.exec(
      text,
    );
  const name = match?.[1];
  if (match === null || name === undefined) return [];
  return [mention(resource, node, match[0].indexOf(name, match[0].indexOf('(')), name, 'cloudwatch', [])];
}

/** Lists of names in `metricRelabelings` that keep series: a name that is not there keeps nothing. */
function relabelings(resource: Resource): readonly MetricMention[] {
  const endpoints = [
    ...itemsIn(resource.root, 'spec', 'endpoints'),
    ...itemsIn(resource.root, 'spec', 'podMetricsEndpoints'),
  ];
  return endpoints.flatMap((endpoint) =>
    itemsIn(endpoint, 'metricRelabelings').flatMap((item) => {
      if (!isMap(item)) return [];
      const labels = itemsIn(item, 'sourceLabels');
      const [only] = labels;
      if (labels.length !== 1 || !isScalar(only) || only.text !== '__name__') return [];
      const action = textIn(item, 'action')?.toLowerCase();
      const node = scalarIn(item, 'regex');
      if (action !== 'keep' || node === undefined || node.unknown || typeof node.value !== 'string')
        return [];
      const { text } = scalarText(resource.placed.document.text, node);
      const found = listedNames(text, 0);
      const names = found.map(({ name }) => name);
      return found.map(({ name, start }) => mention(resource, node, start, name, 'relabeling', names));
    }),
  );
}
