import { triggersOf, type WrittenTrigger } from '../../kube/keda/read-triggers';
import type { Resource } from '../../kube/resource';
import { someExpression, type PromExpression } from '../../promql/expression';
import { parsePromQL } from '../../promql/parse';
import { entryOf, isScalar, type Entry, type ScalarNode } from '../../yaml/node';

/** A PromQL query of a prometheus trigger that parses. */
export interface PrometheusQuery {
  readonly trigger: WrittenTrigger;
  readonly entry: Entry;
  readonly node: ScalarNode;
  readonly expression: PromExpression;
}

/** The query of a trigger as it is written; `undefined` when there is none, or it is only known later. */
export function queryNode(trigger: WrittenTrigger): ScalarNode | undefined {
  if (trigger.type !== 'prometheus') return undefined;
  const value = entryOf(trigger.metadataNode, 'query')?.value;
  return isScalar(value) && !value.unknown && typeof value.value === 'string' ? value : undefined;
}

/**
 * Queries that go to Prometheus. VictoriaMetrics speaks a larger language, so what it is asked is not judged by the
 * grammar of PromQL.
 */
export function asksVictoriaMetrics(trigger: WrittenTrigger): boolean {
  return /victoria|vmselect|vmsingle|vmauth/i.test(trigger.metadata.get('serverAddress') ?? '');
}

export function prometheusQuery(trigger: WrittenTrigger): PrometheusQuery | undefined {
  const entry = entryOf(trigger.metadataNode, 'query');
  const node = queryNode(trigger);
  if (entry === undefined || node === undefined) return undefined;
  const parsed = parsePromQL(node.text);
  return parsed.ok ? { trigger, entry, node, expression: parsed.expression } : undefined;
}

export function prometheusQueries(resource: Resource): readonly PrometheusQuery[] {
  return triggersOf(resource).flatMap((trigger) => prometheusQuery(trigger) ?? []);
}

/** Whether the query says itself what to return when there is no series: `or vector(0)`, `absent(x)`. */
export function coversEmpty(expression: PromExpression): boolean {
  return someExpression(
    expression,
    (part) => part.kind === 'call' && ['vector', 'absent', 'absent_over_time', 'time'].includes(part.name),
  );
}

/** A query as a message shows it: on one line, and not too long. */
export function shownQuery(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
