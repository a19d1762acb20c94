import { metricFamilies } from '../../kube/metric-names/lookup';
import type { YamlDocument } from '../../yaml/document';
import { isMap, type YamlNode } from '../../yaml/node';
import type { CompletionAnswer, Suggestion } from './suggestion';

/** Fields that hold PromQL: `query` of KEDA's prometheus trigger, `expr` of a PrometheusRule. */
const fields: ReadonlySet<string> = new Set(['query', 'expr']);

/** Metrics of model servers, devices and autoscalers, at a word of a PromQL query. */
export function queryWord(document: YamlDocument, offset: number): CompletionAnswer | undefined {
  const { text } = document;
  if (!/\b(?:query|expr)["']?\s*:/.test(text)) return undefined;
  const typed = /[\w:]*$/.exec(text.slice(0, offset))?.[0] ?? '';
  const start = offset - typed.length;
  const query = queryAt(document.root, offset);
  if (query === undefined || start < query.start) return undefined;
  // Within braces stand labels, within brackets durations, within quotes anything.
  const ahead = text.slice(query.start, start).replace(/"[^"]*"|'[^']*'/g, '');
  const open = (bracket: string): number => ahead.split(bracket).length;
  if (open('{') > open('}') || open('[') > open(']')) return undefined;
  const after = /^[\w:]*/.exec(text.slice(offset))?.[0] ?? '';
  return { replace: { start, end: offset + after.length }, suggestions: metricSuggestions() };
}

function queryAt(node: YamlNode | undefined, offset: number): { readonly start: number } | undefined {
  if (node === undefined || node.kind === 'scalar' || offset < node.start || offset > node.end)
    return undefined;
  if (node.kind === 'sequence') {
    for (const item of node.items) {
      const found = queryAt(item, offset);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const { key, value } of node.entries) {
    if (value.kind !== 'scalar') {
      const found = queryAt(value, offset);
      if (found !== undefined) return found;
    } else if (fields.has(key.text) && value.start <= offset && offset <= value.end && isPrometheus(node)) {
      return { start: value.style === 'plain' ? value.start : value.start + 1 };
    }
  }
  return undefined;
}

/** The metadata of a trigger with a server, or an alert or a recording. */
function isPrometheus(map: YamlNode): boolean {
  const names = isMap(map) ? map.entries.map(({ key }) => key.text) : [];
  return ['serverAddress', 'threshold', 'alert', 'record', 'expr'].some((name) => names.includes(name));
}

let all: readonly Suggestion[] | undefined;

function metricSuggestions(): readonly Suggestion[] {
  return (all ??= metricFamilies.flatMap(({ title, metrics }) =>
    metrics.flatMap(({ name, type, unit, since }): Suggestion[] => {
      const detail = [title, type, unit, since === undefined ? undefined : `since ${since}`]
        .filter((part) => part !== undefined)
        .join(', ');
      const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
      return names.map((label) => ({ label, kind: 'name', detail }));
    }),
  ));
}
