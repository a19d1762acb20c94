import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { itemsIn } from '../../server/src/yaml/node';
import { documentBundles, fixedBundle, fixtureBundle, fixturesByRule, piecesOf, type Bundle } from './claims';
import { at, type Api, type JsonObject, type KubeObject } from './lab/api';
import { feedMetrics, type Feed } from './lab/metrics-feed';
import {
  addNode,
  conditionOf,
  conditionsText,
  deadlineMs,
  podsIn,
  removeNode,
  waitForRunning,
} from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';
import {
  applyIn,
  autoscalerKinds,
  givenBy,
  hasTarget,
  missingTargets,
  runWorkload,
  workloadKinds,
  type Given,
} from './workloads';

/** What Plimsoll says of autoscalers, the controllers say in the conditions of their status. */

let lab: Lab;
let api: Api;
let feed: Feed;
const node = 'autoscalers';

/** The value of every metric of type Pods. */
let ofPod = '1';

before(async () => {
  lab = useLab();
  api = lab.admin;
  await addNode(api, node, { cpu: '4000', memory: '16Ti', pods: '500', 'nvidia.com/gpu': '512' });
  feed = await feedMetrics(lab, {
    usage: (pod) =>
      Object.fromEntries(containersOf(pod).map((name) => [name, { cpu: '100m', memory: '100Mi' }])),
    ofPod: () => ofPod,
  });
});
after(async () => {
  await lab.close();
  await feed.close();
  await removeNode(api, node);
});

/** Containers that run as long as the pod does. */
function containersOf(pod: KubeObject): readonly string[] {
  const list = (key: string): readonly JsonObject[] => (at(pod, 'spec', key) ?? []) as readonly JsonObject[];
  const sidecars = list('initContainers').filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...list('containers'), ...sidecars].map(({ name }) => String(name));
}

function hpaPath(namespace: string, name: string): string {
  return `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers/${name}`;
}

/** Waits until the condition of an autoscaler is as it is said to be, and answers its message. */
async function waitForScaling(
  namespace: string,
  name: string,
  isSo: (condition: JsonObject, hpa: JsonObject) => boolean,
  what: string,
): Promise<string> {
  let hpa: JsonObject | undefined;
  return waitFor(
    `${name}: ${what}`,
    async () => {
      hpa = await api.find(hpaPath(namespace, name));
      const condition = conditionOf(hpa, 'ScalingActive');
      return hpa !== undefined && condition !== undefined && isSo(condition, hpa)
        ? String(condition['message'])
        : undefined;
    },
    deadlineMs,
    () => conditionsText(hpa),
  );
}

/** The metrics of an autoscaler, each as an autoscaler of its own, and whether something is said of it. */
function singleMetrics({ object, resource, piece }: Given, rule: string): readonly [JsonObject, boolean][] {
  const findings = piece.findings.filter((finding) => finding.rule === rule);
  const spec = object['spec'] as JsonObject;
  const metadata = object['metadata'] as JsonObject;
  const metrics = (spec['metrics'] ?? []) as readonly JsonObject[];
  const nodes = resource === undefined ? [] : itemsIn(resource.root, 'spec', 'metrics');
  if (metrics.length === 0) return [[object, findings.length > 0]];
  return metrics.map((metric, index) => {
    const span = nodes[index];
    const { offset } = piece.placed;
    const isSaid =
      span !== undefined &&
      findings.some(({ at: { start, end } }) => start >= span.start + offset && end <= span.end + offset);
    const name = `${String(metadata['name'])}-${index}`;
    return [{ ...object, metadata: { ...metadata, name }, spec: { ...spec, metrics: [metric] } }, isSaid];
  });
}

const missingRequest = 'hpa-target-missing-request';

async function checkRequests(bundle: Bundle, prefix: string): Promise<number> {
  const namespace = await lab.namespace(prefix);
  const given = givenBy(bundle, missingRequest);
  // A LimitRange gives defaults to pods that are made after it.
  for (const { object } of given) if (object['kind'] === 'LimitRange') await applyIn(api, namespace, object);
  for (const { object } of given)
    if (workloadKinds.includes(object['kind'])) await runWorkload(api, namespace, object);
  let checked = 0;
  for (const each of given) {
    if (each.object['kind'] !== 'HorizontalPodAutoscaler' || !hasTarget(given, each)) continue;
    for (const [hpa, isSaid] of singleMetrics(each, missingRequest)) {
      const { metadata } = await applyIn(api, namespace, hpa);
      if (isSaid) {
        const message = await waitForScaling(
          namespace,
          metadata.name,
          ({ status, message }) => status === 'False' && /missing request for/.test(String(message)),
          'the metric fails for want of a request, as is said',
        );
        assert.match(message, /missing request for/);
      } else {
        await waitForScaling(
          namespace,
          metadata.name,
          ({ status }) => status === 'True',
          'the metric is read, since nothing is said of it',
        );
      }
      await api.delete(hpaPath(namespace, metadata.name));
      checked += 1;
    }
  }
  return checked;
}

describe(`what ${missingRequest} says`, () => {
  let total = 0;
  for (const fixture of fixturesByRule().get(missingRequest) ?? []) {
    const fixed = fixedBundle(fixture);
    test(fixture.name, async () => {
      total += await checkRequests(fixtureBundle(fixture), 'requests');
      if (fixed !== undefined) total += await checkRequests(fixed, 'requests-fixed');
    });
  }
  for (const { rule, bundle } of documentBundles()) {
    if (rule === missingRequest)
      test(bundle.name, async () => void (total += await checkRequests(bundle, 'requests')));
  }
  test('metrics were looked at', () => assert.ok(total > 5, `only ${total}`));

  test('beside a metric that works, replicas are still added, and none are removed', async () => {
    const namespace = await lab.namespace('one-of-two');
    const labels = { app: 'chat' };
    await runWorkload(api, namespace, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'chat' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'vllm', image: 'vllm/vllm-openai:v0.11.0' }] },
        },
      },
    });
    ofPod = '20';
    await applyIn(api, namespace, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'chat' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'chat' },
        minReplicas: 1,
        maxReplicas: 4,
        behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
          },
          {
            type: 'Pods',
            pods: { metric: { name: 'waiting' }, target: { type: 'AverageValue', averageValue: '10' } },
          },
        ],
      },
    });
    await waitForRunning(api, namespace, 'app=chat', 4);
    ofPod = '1';
    await waitForScaling(
      namespace,
      'chat',
      ({ status, message }) => status === 'False' && /missing request for cpu/.test(String(message)),
      'scaling down fails for want of a request',
    );
    assert.equal((await podsIn(api, namespace, 'app=chat')).length, 4);
  });
});

const twoAutoscalers = 'two-autoscalers';

/** The HPA of an autoscaler: itself, or the one that KEDA makes. */
function hpaOf(object: JsonObject): string {
  const name = String(at(object, 'metadata', 'name'));
  if (object['kind'] !== 'ScaledObject') return name;
  const own = at(object, 'spec', 'advanced', 'horizontalPodAutoscalerConfig', 'name');
  return typeof own === 'string' ? own : `keda-hpa-${name}`;
}

async function checkAutoscalers(bundle: Bundle): Promise<number> {
  const given = givenBy(bundle, twoAutoscalers);
  const namespace = await lab.namespace(twoAutoscalers);
  for (const { object } of given)
    if (workloadKinds.includes(object['kind'])) await runWorkload(api, namespace, object);
  for (const object of missingTargets(given)) await runWorkload(api, namespace, object);
  const autoscalers = given.filter(({ object }) => autoscalerKinds.includes(object['kind']));
  // KEDA's webhook refuses a ScaledObject beside an HPA; nothing refuses an HPA beside a ScaledObject.
  const scaledObjectsFirst = [...autoscalers].sort(
    (a, b) => Number(b.object['kind'] === 'ScaledObject') - Number(a.object['kind'] === 'ScaledObject'),
  );
  for (const { object } of scaledObjectsFirst) {
    if (object['kind'] !== 'ScaledObject') {
      await applyIn(api, namespace, object);
      continue;
    }
    // KEDA takes a workload without events to zero, where there is nothing left to scale.
    const spec = { minReplicaCount: 1, ...(object['spec'] as JsonObject) };
    const { metadata } = await applyIn(api, namespace, { ...object, spec });
    await waitFor(
      `KEDA makes the HPA of ${metadata.name}`,
      () => api.find(hpaPath(namespace, hpaOf(object))),
      deadlineMs,
    );
  }
  let said = 0;
  for (const each of autoscalers) {
    const findings = each.piece.findings.filter(
      ({ rule, severity }) => rule === twoAutoscalers && severity === 'error',
    );
    if (findings.length === 0) continue;
    said += 1;
    await waitForScaling(
      namespace,
      hpaOf(each.object),
      ({ status, reason }) => status === 'False' && reason === 'AmbiguousSelector',
      'its pods are selected twice, as is said',
    );
  }
  return said;
}

describe(`what ${twoAutoscalers} says`, () => {
  let total = 0;
  for (const fixture of fixturesByRule().get(twoAutoscalers) ?? []) {
    if (fixture.name.startsWith('bad'))
      test(fixture.name, async () => void (total += await checkAutoscalers(fixtureBundle(fixture))));
  }
  test('autoscalers were looked at', () => assert.ok(total >= 4, `only ${total}`));
});

const notScalable = 'hpa-target-not-scalable';

/** Waits until the HPA controller has looked for the target of an autoscaler, and answers whether it found one. */
async function targetOf(
  namespace: string,
  name: string,
): Promise<{ readonly found: boolean; readonly message: string }> {
  let hpa: JsonObject | undefined;
  return waitFor(
    `the target of ${name}`,
    async () => {
      hpa = await api.find(hpaPath(namespace, name));
      const condition = conditionOf(hpa, 'AbleToScale');
      if (condition === undefined) return undefined;
      const found = condition['status'] === 'True';
      return found || condition['reason'] === 'FailedGetScale'
        ? { found, message: String(condition['message']) }
        : undefined;
    },
    deadlineMs,
    () => conditionsText(hpa),
  );
}

/** How it is said that there is no object of that name, of a kind that could be scaled. */
const noSuchObject = /"[^"]+" not found/;

async function checkTargets(bundle: Bundle): Promise<number> {
  const given = givenBy(bundle, notScalable);
  const namespace = await lab.namespace(notScalable);
  for (const object of missingTargets(given)) await applyIn(api, namespace, object);
  let checked = 0;
  for (const each of given) {
    if (each.object['kind'] !== 'HorizontalPodAutoscaler') continue;
    const claims = each.piece.findings.filter(({ rule }) => rule === notScalable);
    const kind = at(each.object, 'spec', 'scaleTargetRef', 'kind');
    if (claims.length === 0 && !workloadKinds.includes(kind)) continue;
    const { metadata } = await applyIn(api, namespace, each.object);
    const { found, message } = await targetOf(namespace, metadata.name);
    assert.equal(found, claims.length === 0, `${each.piece.name}: ${message}`);
    if (!found) assert.doesNotMatch(message, noSuchObject);
    await api.delete(hpaPath(namespace, metadata.name));
    checked += 1;
  }
  return checked;
}

/** The kinds that the API server serves, in the version that it prefers, and whether it has a scale of them. */
async function servedKinds(): Promise<
  readonly { readonly apiVersion: string; readonly kind: string; readonly scales: boolean }[]
> {
  const groups = ((await api.get('/apis'))['groups'] ?? []) as readonly JsonObject[];
  const versions = ['v1', ...groups.map((group) => String(at(group, 'preferredVersion', 'groupVersion')))];
  const kinds = await Promise.all(
    versions.map(async (apiVersion) => {
      const { resources } = await api.get(apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);
      const list = (resources ?? []) as readonly JsonObject[];
      return list
        .filter(({ name }) => !String(name).includes('/'))
        .map(({ name, kind }) => ({
          apiVersion,
          kind: String(kind),
          scales: list.some((other) => other['name'] === `${String(name)}/scale`),
        }));
    }),
  );
  return kinds.flat();
}

describe(`what ${notScalable} says`, () => {
  let total = 0;
  for (const fixture of fixturesByRule().get(notScalable) ?? []) {
    const fixed = fixedBundle(fixture);
    test(fixture.name, async () => {
      total += await checkTargets(fixtureBundle(fixture));
      if (fixed !== undefined) total += await checkTargets(fixed);
    });
  }
  test('targets were looked at', () => assert.ok(total >= 4, `only ${total}`));

  test('of every kind that is served', async () => {
    const kinds = await servedKinds();
    const wrong: string[] = [];
    let said = 0;
    for (const { apiVersion, kind, scales } of kinds) {
      const text = [
        'apiVersion: autoscaling/v2',
        'kind: HorizontalPodAutoscaler',
        'metadata: { name: any }',
        `spec: { scaleTargetRef: { apiVersion: ${apiVersion}, kind: ${kind}, name: any }, maxReplicas: 8 }`,
        '',
      ].join('\n');
      const { pieces } = piecesOf({ name: 'any.yaml', files: { 'any.yaml': text } }, notScalable);
      const isSaid = pieces.some(({ findings }) => findings.some(({ rule }) => rule === notScalable));
      if (isSaid) said += 1;
      if (isSaid && scales) wrong.push(`${kind} of ${apiVersion} can be scaled`);
    }
    assert.deepEqual(wrong, []);
    assert.ok(said > 10, `only ${said} of ${kinds.length}`);
    assert.ok(kinds.some(({ kind, scales }) => kind === 'Deployment' && scales));
  });
});

const unknownResource = 'hpa-resource-unknown';

describe(`what ${unknownResource} says`, () => {
  let total = 0;
  for (const fixture of fixturesByRule().get(unknownResource) ?? []) {
    test(fixture.name, async () => {
      const given = givenBy(fixtureBundle(fixture), unknownResource);
      const namespace = await lab.namespace(unknownResource);
      for (const object of missingTargets(given)) await runWorkload(api, namespace, object);
      for (const each of given) {
        if (each.object['kind'] !== 'HorizontalPodAutoscaler') continue;
        for (const [hpa, isSaid] of singleMetrics(each, unknownResource)) {
          const type = at(hpa, 'spec', 'metrics', 0, 'type') ?? 'Resource';
          if (type !== 'Resource') continue;
          const { metadata } = await applyIn(api, namespace, hpa);
          await waitForScaling(
            namespace,
            metadata.name,
            ({ status, reason }) =>
              isSaid ? status === 'False' && reason === 'FailedGetResourceMetric' : status === 'True',
            isSaid ? 'the metric fails, as is said' : 'the metric is read',
          );
          await api.delete(hpaPath(namespace, metadata.name));
          if (isSaid) total += 1;
        }
      }
    });
  }
  test('metrics were looked at', () => assert.ok(total >= 3, `only ${total}`));
});
