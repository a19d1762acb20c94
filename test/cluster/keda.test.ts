import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Finding } from '../../server/src/engine/finding';
import { ruleMeta } from '../../server/src/engine/registry';
import { itemsIn } from '../../server/src/yaml/node';
import { fixedBundle, fixtureBundle, fixturesByRule, saidToBeRejected, type Bundle } from './claims';
import { ApiError, at, type Api, type JsonObject } from './lab/api';
import { conditionOf, conditionsText, deadlineMs, eventsOf } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';
import { createIn, givenBy, missingTargets, workloadKinds, type Given } from './workloads';

/** What Plimsoll says that KEDA refuses, its webhook or its operator refuses; the rest they take. */

/** Rules whose errors say so. */
const rules: readonly string[] = [
  'keda-cloudwatch-window',
  'keda-cpu-trigger-scales-to-zero',
  'keda-cpu-trigger-without-request',
  'keda-idle-not-below-min',
  'keda-min-above-max',
  'keda-trigger-invalid',
].filter((id) => ruleMeta(id) !== undefined);

/**
 * What KEDA says when it could not reach what a trigger reads, or lacks a secret, and not that the trigger is wrong.
 * There is nothing outside of the lab.
 */
const notReached =
  /no such host|connection refused|dial tcp|server misbehaving|network is unreachable|lookup |i\/o timeout|deadline exceeded|client has run out of available brokers|secrets? "[^"]*" not found|failed to refresh cached credentials|no EC2 IMDS role found|get credentials|operation error/i;

let lab: Lab;
let api: Api;
before(() => {
  lab = useLab();
  api = lab.admin;
});
after(() => lab.close());

interface Variant {
  readonly name: string;
  readonly object: JsonObject;
  /** Errors that say that KEDA refuses it. */
  readonly claims: readonly Finding[];
}

/**
 * An autoscaler for each trigger of one of which something is said, since KEDA stops at the first that is wrong; and
 * what is said of each.
 */
function variantsOf({ object, resource, piece }: Given): readonly Variant[] {
  const spec = object['spec'] as JsonObject;
  const triggers = (spec['triggers'] ?? []) as readonly JsonObject[];
  const nodes = resource === undefined ? [] : itemsIn(resource.root, 'spec', 'triggers');
  const { offset } = piece.placed;
  const claims = piece.findings.filter(({ rule, severity }) => rules.includes(rule) && severity === 'error');
  const isIn = (index: number, { at: { start, end } }: Finding): boolean => {
    const span = nodes[index];
    return span !== undefined && start >= span.start + offset && end <= span.end + offset;
  };
  const isInAny = (finding: Finding): boolean => nodes.some((_, index) => isIn(index, finding));
  const name = String(at(object, 'metadata', 'name'));
  if (claims.length === 0) return [{ name: `${piece.name}, ${name}`, object, claims }];
  return triggers.map((trigger, index) => {
    // A name that two of them have is wrong only where both are.
    const kept = triggers.filter(
      (other) => other === trigger || (other['name'] !== undefined && other['name'] === trigger['name']),
    );
    const own = claims.filter(
      (finding) =>
        isIn(index, finding) ||
        (!isInAny(finding) && nodes.length > 0) ||
        (kept.length > 1 && kept.some((other) => isIn(triggers.indexOf(other), finding))),
    );
    return {
      name: `${piece.name}, ${name}, trigger ${index + 1} (${String(trigger['type'])})`,
      object: {
        ...object,
        metadata: { ...(object['metadata'] as JsonObject), name: `${name}-${index}` },
        // Alone, a trigger that may stand beside others may not scale to zero.
        spec: { ...spec, ...(own.length === 0 ? { minReplicaCount: 1 } : {}), triggers: kept },
      },
      claims: own,
    };
  });
}

type Outcome = { readonly refused: string } | { readonly taken: string };

/** What KEDA makes of an autoscaler, which is gone again afterwards. */
async function outcomeOf(namespace: string, object: JsonObject): Promise<Outcome> {
  const plural = `${String(object['kind']).toLowerCase()}s`;
  const name = String(at(object, 'metadata', 'name'));
  const path = `/apis/keda.sh/v1alpha1/namespaces/${namespace}/${plural}/${name}`;
  try {
    await createIn(api, namespace, object);
  } catch (error) {
    if (error instanceof ApiError) return { refused: error.message };
    throw error;
  }
  let seen: JsonObject | undefined;
  let events: readonly string[] = [];
  try {
    return await waitFor(
      `KEDA judges ${name}`,
      async (): Promise<Outcome | undefined> => {
        seen = await api.find(path);
        const ready = conditionOf(seen, 'Ready');
        if (ready === undefined || ready['status'] === 'Unknown') return undefined;
        if (ready['status'] === 'True') return { taken: String(ready['message']) };
        events = await eventsOf(api, namespace, name);
        const failure = events.find((event) =>
          /^(KEDAScalerFailed|ScaledObjectCheckFailed|ScaledJobCheckFailed)/.test(event),
        );
        return failure === undefined ? undefined : { refused: `${String(ready['message'])}; ${failure}` };
      },
      deadlineMs,
      () => `${conditionsText(seen)}\n${events.join('\n')}`,
    );
  } finally {
    await api.delete(path);
  }
}

function isAutoscaler({ object }: Given): boolean {
  return (
    ['ScaledObject', 'ScaledJob'].includes(String(object['kind'])) &&
    object['apiVersion'] === 'keda.sh/v1alpha1'
  );
}

interface Counts {
  claimed: number;
}

async function check(
  bundle: Bundle,
  rule: string,
  counts: Counts,
  say: (text: string) => void,
): Promise<void> {
  const given = givenBy(bundle, rule);
  if (!given.some(isAutoscaler)) return;
  const namespace = await lab.namespace(rule);
  const others = ['TriggerAuthentication', 'Secret', 'ConfigMap', 'ServiceAccount', 'LimitRange'];
  const authentications = new Set<unknown>();
  for (const { object, piece } of given) {
    if (!others.includes(String(object['kind']))) continue;
    if (saidToBeRejected(piece) !== undefined) continue;
    await createIn(api, namespace, object);
    if (object['kind'] === 'TriggerAuthentication') authentications.add(at(object, 'metadata', 'name'));
  }
  const workloads = [
    ...given.map(({ object }) => object).filter(({ kind }) => workloadKinds.includes(kind)),
    ...missingTargets(given),
  ];
  const problems: string[] = [];
  for (const [index, variant] of given.filter(isAutoscaler).flatMap(variantsOf).entries()) {
    const { name, claims } = variant;
    const object = await withOwnTarget(namespace, variant.object, workloads, index);
    if (object === undefined) {
      say(`${name}: its target is none that is made here`);
      continue;
    }
    const elsewhere = authenticationsOf(object).filter((each) => !authentications.has(each));
    if (claims.length === 0 && elsewhere.length > 0) {
      say(`${name}: no file has the TriggerAuthentication ${elsewhere.join(', ')}`);
      continue;
    }
    const outcome = await outcomeOf(namespace, object);
    if (claims.length > 0) {
      counts.claimed += claims.length;
      const said = claims.map((claim) => `${claim.rule}: ${claim.message}`).join('; ');
      if ('taken' in outcome) problems.push(`${name} is taken by KEDA, but: ${said}`);
      else if (notReached.test(outcome.refused))
        problems.push(`${name} is refused for another reason:\n  ${outcome.refused}\n  said: ${said}`);
    } else if ('refused' in outcome) {
      if (notReached.test(outcome.refused)) say(`${name}: KEDA did not reach what it reads`);
      else problems.push(`${name} is refused by KEDA, and nothing says so: ${outcome.refused}`);
    }
  }
  if (problems.length > 0) assert.fail(problems.join('\n'));
}

/** The names of the TriggerAuthentications that the triggers of an autoscaler read. */
function authenticationsOf(object: JsonObject): readonly string[] {
  return ((at(object, 'spec', 'triggers') ?? []) as readonly JsonObject[]).flatMap((trigger) => {
    const name = at(trigger, 'authenticationRef', 'name');
    return typeof name === 'string' ? [name] : [];
  });
}

/** The autoscaler with a workload that no other one has scaled; `undefined` where the workload cannot be made. */
async function withOwnTarget(
  namespace: string,
  object: JsonObject,
  workloads: readonly JsonObject[],
  index: number,
): Promise<JsonObject | undefined> {
  const target = at(object, 'spec', 'scaleTargetRef') as JsonObject | undefined;
  if (target === undefined) return object;
  const kind = target['kind'] ?? 'Deployment';
  const workload = workloads.find(
    (each) => each['kind'] === kind && at(each, 'metadata', 'name') === target['name'],
  );
  if (workload === undefined) return undefined;
  const name = `${String(target['name'])}-${index}`;
  await createIn(api, namespace, {
    ...workload,
    metadata: { ...(workload['metadata'] as JsonObject), name },
  });
  return { ...object, spec: { ...(object['spec'] as JsonObject), scaleTargetRef: { ...target, name } } };
}

for (const rule of rules) {
  describe(`what ${rule} says`, () => {
    const counts: Counts = { claimed: 0 };
    for (const fixture of fixturesByRule().get(rule) ?? []) {
      test(fixture.name, (t) => check(fixtureBundle(fixture), rule, counts, (text) => t.diagnostic(text)));
      const fixed = fixedBundle(fixture);
      if (fixed !== undefined)
        test(`${fixture.name} fixed`, (t) => check(fixed, rule, counts, (text) => t.diagnostic(text)));
    }
    test('something was refused', () => assert.notEqual(counts.claimed, 0));
  });
}
