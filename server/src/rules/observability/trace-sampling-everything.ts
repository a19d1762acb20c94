import { isAiWorkload } from '../../kube/ai-workload';
import { containers, envValue, type Container } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podCarrierKinds, podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { replaceScalar } from '../../yaml/edit';
import type { Workspace } from '../../workspace/workspace';
import { isScalar, mapIn, scalarIn } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Report } from '../rule';
import { collectorTrees } from './configuration';

/** The share that is advised for streaming inference, and what the fix writes: 5 %. */
const share = '0.05';

export default defineRule({
  id: 'trace-sampling-everything',
  summary: 'Traces of an inference server are sampled',
  severity: 'info',
  needs: 'workspace',
  kinds: ['Instrumentation', 'OpenTelemetryCollector', 'ConfigMap', ...podCarrierKinds],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const { text } = resource.placed.document;
    // Nearly no object has anything to do with tracing.
    if (!/OTEL_TRACES_SAMPLER|sampler|otlp[-_](?:traces[-_])?endpoint/.test(text)) return;
    const found =
      resource.kind === 'Instrumentation'
        ? ofInstrumentation(resource)
        : resource.kind === 'OpenTelemetryCollector' || resource.kind === 'ConfigMap'
          ? ofCollector(resource)
          : ofPods(resource);
    if (found.length === 0 || isSampledLater(workspace, resource)) return;
    for (const each of found) report(each);
  },
});

const consequence =
  'each request makes a span per step, so that traces cost more than they tell; 1 to 5 %, or tail sampling in a collector, is enough';

/** A collector that keeps the traces of slow and failed requests wants to see all. */
function isSampledLater(workspace: Workspace, resource: Resource): boolean {
  return ['OpenTelemetryCollector', 'ConfigMap', 'HelmRelease', 'Application'].some((kind) =>
    workspace
      .near(resource, kind)
      .some(
        (other) =>
          other !== resource && /tail_sampling|probabilistic_sampler/.test(other.placed.document.text),
      ),
  );
}

function samplesAll(sampler: string, argument: string | undefined): boolean {
  if (/^(?:parentbased_)?always_on$/.test(sampler)) return true;
  return /^(?:parentbased_)?traceidratio$/.test(sampler) && argument !== undefined && Number(argument) >= 1;
}

function ofPods(resource: Resource): readonly Report[] {
  return podTemplates(resource)
    .filter(isAiWorkload)
    .flatMap(containers)
    .flatMap((container) => ofContainer(resource, container) ?? []);
}

function ofContainer(resource: Resource, container: Container): Report | undefined {
  const sampler = envValue(container, 'OTEL_TRACES_SAMPLER');
  if (sampler.state === 'absent') return byDefault(container);
  if (sampler.state !== 'known') return undefined;
  const argument = envValue(container, 'OTEL_TRACES_SAMPLER_ARG');
  if (argument.state === 'unknown') return undefined;
  const text = argument.state === 'known' ? argument.text : undefined;
  // Without an argument the ratio is 1, says the specification.
  if (!samplesAll(sampler.text, text ?? '1')) return undefined;
  const { document } = resource.placed;
  const isRatio = sampler.text.endsWith('traceidratio');
  const node = isRatio && argument.state === 'known' ? argument.node : sampler.node;
  const edits =
    isRatio && argument.state === 'known' ? replaceScalar(document, argument.node, share) : undefined;
  return {
    at: node,
    message: `${containerTitle(container)} samples every trace (${sampler.text}${text === undefined || !isRatio ? '' : ` ${text}`}): ${consequence}`,
    fixes: [edits && { title: `Sample ${share}`, safe: false, edits }],
    ...containerField(container),
  };
}

/** A server that is told where traces go, and nothing else, samples all: the default is `parentbased_always_on`. */
function byDefault(container: Container): Report | undefined {
  const server = modelServerOf(container);
  const endpoint = server?.arguments.get('otlp-traces-endpoint', ['otlp-endpoint']);
  if (server === undefined || endpoint?.state !== 'known') return undefined;
  return {
    at: endpoint.at,
    message: `${containerTitle(container)} (${server.title}) sends traces, and without OTEL_TRACES_SAMPLER it samples every one: ${consequence}`,
    ...containerField(container),
  };
}

function ofInstrumentation(resource: Resource): readonly Report[] {
  const sampler = mapIn(resource.root, 'spec', 'sampler');
  const type = scalarIn(sampler, 'type');
  if (type === undefined || type.unknown) return [];
  const argument = scalarIn(sampler, 'argument');
  if (argument?.unknown === true || !samplesAll(type.text, argument?.text ?? '1')) return [];
  const isRatio = type.text.endsWith('traceidratio');
  const edits =
    isRatio && argument !== undefined ? replaceScalar(resource.placed.document, argument, share) : undefined;
  return [
    {
      at: isRatio && argument !== undefined ? argument : type,
      message: `The instrumentation samples every trace (${type.text}): ${consequence}`,
      fixes: [edits && { title: `Sample ${share}`, safe: false, edits }],
    },
  ];
}

function ofCollector(resource: Resource): readonly Report[] {
  return collectorTrees(resource).flatMap((tree) => {
    const processors = mapIn(tree.root, 'processors')?.entries ?? [];
    return processors.flatMap(({ key, value }) => {
      const percentage = /^probabilistic_sampler(?:\/|$)/.test(key.text)
        ? scalarIn(value, 'sampling_percentage')
        : undefined;
      if (!isScalar(percentage) || percentage.unknown || !(Number(percentage.text) >= 100)) return [];
      const edits = tree.replace(percentage, 5);
      return [
        {
          at: tree.place(percentage),
          message: `The sampler keeps ${percentage.text} % of the traces: ${consequence}`,
          fixes: [edits && { title: 'Keep 5 %', safe: false, edits }],
        },
      ];
    });
  });
}
