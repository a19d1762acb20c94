import type { LogsQueryId } from '../live/want';

/**
 * The three standard queries of Logs Insights, over what Container Insights keeps of the containers' output
 * (`/aws/containerinsights/CLUSTER/application`). A program's own JSON is below `log_processed`; names of fields differ
 * from program to program, so the usual ones are tried in order.
 */

const latency = ['latency_ms', 'duration_ms', 'response_time_ms', 'elapsed_ms'];
const promptTokens = ['prompt_tokens', 'input_tokens', 'usage.prompt_tokens', 'usage.input_tokens'];
const completionTokens = [
  'completion_tokens',
  'output_tokens',
  'generation_tokens',
  'usage.completion_tokens',
  'usage.output_tokens',
];
const cost = ['cost_usd', 'cost', 'estimated_cost_usd'];
const model = ['model', 'model_name', 'request.model'];
const request = ['request_id', 'requestId', 'trace_id'];
const status = ['status', 'status_code', 'http_status'];

/** The first of the fields that is there, in the program's JSON or at the top. */
function first(names: readonly string[]): string {
  return `coalesce(${names.flatMap((name) => [`log_processed.${name}`, name]).join(', ')})`;
}

export interface LogsSelection {
  readonly namespace: string;
  readonly workload: string | undefined;
}

function filter({ namespace, workload }: LogsSelection): string {
  // Names of Kubernetes hold no quotes and slashes.
  const name = (text: string): string => text.replace(/[^\w.-]/g, '');
  return [
    `| filter kubernetes.namespace_name = "${name(namespace)}"`,
    ...(workload === undefined
      ? []
      : [`| filter kubernetes.pod_name like /^${name(workload).replace(/\./g, '\\.')}-/`]),
  ].join('\n');
}

export function logsQuery(id: LogsQueryId, selection: LogsSelection): string {
  switch (id) {
    case 'latency-percentiles':
      return `fields ${first(latency)} as latency
${filter(selection)}
| filter ispresent(latency)
| stats count(*) as requests, pct(latency, 50) as p50_ms, pct(latency, 95) as p95_ms, pct(latency, 99) as p99_ms, max(latency) as max_ms by bin(5m)
| sort @timestamp desc
| limit 100`;
    case 'slow-requests':
      return `fields @timestamp, kubernetes.pod_name as pod, ${first(latency)} as latency_ms, ${first(request)} as request, ${first(status)} as status, ${first(promptTokens)} as prompt_tokens, ${first(completionTokens)} as completion_tokens
${filter(selection)}
| filter ispresent(latency_ms)
| sort latency_ms desc
| limit 50`;
    case 'tokens-and-cost':
      return `fields ${first(model)} as model, ${first(promptTokens)} as prompt, ${first(completionTokens)} as completion, ${first(cost)} as cost
${filter(selection)}
| filter ispresent(prompt) or ispresent(completion)
| stats count(*) as requests, sum(prompt) as prompt_tokens, sum(completion) as completion_tokens, sum(cost) as cost_usd by model
| sort completion_tokens desc
| limit 50`;
  }
}

export function logGroupOf(cluster: string): string {
  return `/aws/containerinsights/${cluster}/application`;
}
