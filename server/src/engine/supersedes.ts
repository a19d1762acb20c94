import type { Span } from '../yaml/node';

/**
 * How two findings are known to have one cause:
 * - `field`: they are on the same key or its value;
 * - `container`: they are about the same container of the same resource;
 * - `resource`: they are about the same resource;
 * - `related`: the softer one points at the resource that the more exact one is about, in whatever file.
 */
export type Cause = 'field' | 'container' | 'resource' | 'related';

export interface Supersedes {
  /** The rule that says it more exactly. */
  readonly exact: string;
  /** The rule that stays silent then. */
  readonly softer: string;
  readonly cause: Cause;
}

/**
 * One cause, one finding: when several rules see the same cause, the more exact one speaks.
 *
 * Beside these pairs, a finding of a rule that says what the API server rejects silences every softer finding on the
 * same field (`isRejectedField`), and one about the form of a field those about its meaning (`formRules`).
 */
export const supersedes: readonly Supersedes[] = [
  { exact: 'nodepool-matches-no-instance', softer: 'no-instance-type-fits', cause: 'related' },
  { exact: 'unknown-node-label', softer: 'no-instance-type-fits', cause: 'field' },
  { exact: 'outdated-node-label', softer: 'unknown-node-label', cause: 'field' },
  { exact: 'outdated-node-label', softer: 'no-instance-type-fits', cause: 'field' },
  { exact: 'observability-on-gpu-nodes', softer: 'cpu-pod-tolerates-gpu-taint', cause: 'resource' },
  { exact: 'gpu-not-requested', softer: 'tensor-parallel-exceeds-gpus', cause: 'container' },
  { exact: 'weights-exceed-vram', softer: 'context-exceeds-kv-cache', cause: 'container' },
  { exact: 'weights-exceed-vram', softer: 'missing-gpu-node-selector', cause: 'container' },
  { exact: 'cache-path-not-mounted', softer: 'model-downloaded-at-start', cause: 'container' },
  { exact: 'host-ram-below-model', softer: 'memory-request-below-model', cause: 'container' },
  { exact: 'host-ram-below-model', softer: 'shared-memory-above-limit', cause: 'container' },
  { exact: 'keda-trigger-invalid', softer: 'keda-query-many-series', cause: 'field' },
  { exact: 'gpu-request-differs-from-limit', softer: 'request-above-limit', cause: 'field' },
  // What the engine that runs exports says more than what its releases are known to export.
  { exact: 'metric-not-exported', softer: 'outdated-metric-name', cause: 'field' },
  { exact: 'metric-not-exported', softer: 'unknown-metric-name', cause: 'field' },
  // What became of a field says more than that there is none.
  { exact: 'nodepool-outdated-field', softer: 'unknown-field', cause: 'field' },
  { exact: 'nodepool-outdated-field', softer: 'wrong-type', cause: 'field' },
  { exact: 'nodepool-outdated-field', softer: 'value-not-allowed', cause: 'field' },
  { exact: 'nodepool-outdated-field', softer: 'value-malformed', cause: 'field' },
  { exact: 'nodepool-outdated-field', softer: 'missing-field', cause: 'field' },
  // The same rules, in words of ours, with fixes, and without the definition.
  { exact: 'nodepool-invalid', softer: 'validation-rule-failed', cause: 'resource' },
  { exact: 'nodeclass-invalid', softer: 'validation-rule-failed', cause: 'resource' },
  { exact: 'keda-min-above-max', softer: 'validation-rule-failed', cause: 'resource' },
  { exact: 'keda-idle-not-below-min', softer: 'validation-rule-failed', cause: 'resource' },
  { exact: 'quantity-out-of-range', softer: 'suspicious-quantity', cause: 'field' },
  // It says what the wrong unit was probably meant to be.
  { exact: 'suspicious-quantity', softer: 'value-malformed', cause: 'field' },
  { exact: 'quantity-out-of-range', softer: 'request-above-limit', cause: 'container' },
  { exact: 'quantity-out-of-range', softer: 'gpu-request-differs-from-limit', cause: 'container' },
  { exact: 'number-out-of-range', softer: 'hpa-min-above-max', cause: 'field' },
  { exact: 'hpa-metric-invalid', softer: 'hpa-resource-unknown', cause: 'field' },
  { exact: 'autoscaler-target-invalid', softer: 'hpa-target-not-scalable', cause: 'field' },
  { exact: 'probe-invalid', softer: 'probe-port-unknown', cause: 'field' },
  { exact: 'name-invalid', softer: 'unknown-node-label', cause: 'field' },
  { exact: 'nodepool-invalid', softer: 'unknown-node-label', cause: 'field' },
  { exact: 'nodepool-invalid', softer: 'nodepool-matches-no-instance', cause: 'field' },
];

/** The pairs by the rule that is silent then: a document has findings of few rules. */
const bySofter = new Map<string, Supersedes[]>();
for (const pair of supersedes) {
  const known = bySofter.get(pair.softer);
  if (known === undefined) bySofter.set(pair.softer, [pair]);
  else known.push(pair);
}

/**
 * Rules about the form of an object. What has not the form that it should have is not judged by what it means, so on
 * one field they speak before the other rules about what the API server rejects.
 */
const formRules: ReadonlySet<string> = new Set([
  'missing-field',
  'unknown-field',
  'value-malformed',
  'value-not-allowed',
  'value-out-of-range',
  'wrong-type',
]);

/** What is compared of a finding; `resource` is the same object for findings about the same resource. */
export interface Comparable {
  readonly rule: string;
  readonly rank: number;
  readonly uri: string;
  readonly resource: object | undefined;
  readonly container: string | undefined;
  readonly related: readonly object[];
  readonly rejected: boolean;
  /** The key or value at fault, as the field that holds it. Worked out only where it is asked for. */
  field(): (Span & { readonly key: string }) | undefined;
}

/**
 * The findings that stay silent.
 *
 * @param elsewhere whether a rule finds something on a resource that is not among the findings (of another file).
 */
export function superseded<T extends Comparable>(
  findings: readonly T[],
  elsewhere: (rule: string, resource: object) => boolean,
): ReadonlySet<T> {
  const silent = new Set<T>();
  for (const soft of findings) {
    for (const { exact, cause } of bySofter.get(soft.rule) ?? []) {
      const isSame =
        cause === 'related'
          ? soft.related.some((resource) => elsewhere(exact, resource))
          : findings.some((finding) => finding.rule === exact && sameCause(finding, soft, cause));
      if (isSame) silent.add(soft);
    }
  }
  const rejected = findings.filter((finding) => finding.rejected);
  const ofForm = rejected.filter((finding) => formRules.has(finding.rule) && !silent.has(finding));
  if (ofForm.length > 0 && rejected.length > ofForm.length) {
    for (const other of rejected) {
      if (formRules.has(other.rule)) continue;
      if (ofForm.some((form) => form.resource === other.resource && sameField(form, other)))
        silent.add(other);
    }
  }
  if (rejected.length > 0 && findings.length > rejected.length) {
    for (const soft of findings) {
      if (!soft.rejected && rejected.some((finding) => isRejectedField(finding, soft))) silent.add(soft);
    }
  }
  return silent;
}

function sameCause(exact: Comparable, softer: Comparable, cause: Exclude<Cause, 'related'>): boolean {
  switch (cause) {
    case 'field':
      return exact.uri === softer.uri && sameField(exact, softer);
    case 'container':
      return exact.resource === softer.resource && exact.container === softer.container;
    case 'resource':
      return exact.resource === softer.resource;
  }
}

function isRejectedField(rejected: Comparable, softer: Comparable): boolean {
  if (rejected.resource !== softer.resource || rejected.rank >= softer.rank) return false;
  const field = rejected.field();
  // A finding about something missing is put on a name, for want of a better place: a rejected name says nothing of it.
  return field !== undefined && field.key !== 'name' && field.key !== 'kind' && sameField(rejected, softer);
}

function sameField(a: Comparable, b: Comparable): boolean {
  const first = a.field();
  const second = b.field();
  return (
    first !== undefined && second !== undefined && first.start === second.start && first.end === second.end
  );
}
