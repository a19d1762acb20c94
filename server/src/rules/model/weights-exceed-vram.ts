import { otherCloud } from '../../kube/clouds';
import type { ModelServer } from '../../kube/model-server';
import { formatBytes } from '../../kube/quantity';
import { estimateOn, type Serving } from '../../sizing/from-manifest';
import type { GpuChoice } from '../../sizing/gpu-choices';
import type { MemoryEstimate, ServingConfig } from '../../sizing/memory/estimate';
import { schemeOf } from '../../sizing/models/quantization';
import { placements } from '../../sizing/placements';
import type { Resource } from '../../kube/resource';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Related, type Severity } from '../rule';
import { mayBePatched } from '../overlays';
import { neuronShortage, type NeuronShortage } from './neuron-memory';
import { choiceText, gpuMayBePatched, gpuText, servingIn, serversIn } from './servings';

export default defineRule({
  id: 'weights-exceed-vram',
  summary: 'The weights of a model must fit into the memory of its GPUs',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace, models }) {
    for (const server of serversIn(workspace, resource)) {
      const serving = servingIn(workspace, server, models);
      const shortage = serving === undefined ? undefined : neuronShortage(workspace, serving);
      if (serving !== undefined && shortage !== undefined && server.model.state === 'known') {
        if (gpuMayBePatched(workspace, resource)) continue;
        if (mayBePatched(workspace, resource, 'aws.amazon.com/')) continue;
        report({
          at: server.model.at,
          severity: shortage.named ? 'error' : 'warning',
          message: neuronMessage(server, serving, shortage),
          evidence: [
            ...serving.model.reasons,
            `${shortage.device.label}: ${shortage.device.source}`,
            ...serving.assumptions,
          ],
          ...containerField(server.container),
        });
        continue;
      }
      const judged = serving === undefined ? undefined : judge(serving);
      if (serving === undefined || judged === undefined || server.model.state !== 'known') continue;
      if (gpuMayBePatched(workspace, resource)) continue;
      report({
        at: server.model.at,
        severity: judged.severity,
        message: messageFor(server, serving, judged),
        related: relatedOf(resource, serving, judged),
        evidence: [...judged.estimate.reasons, ...serving.assumptions],
        ...containerField(server.container),
      });
    }
  },
});

function neuronMessage(
  server: ModelServer,
  { name, config }: Serving,
  { weights, precision, memory, asked, device, named }: NeuronShortage,
): string {
  const needs =
    config === undefined
      ? `at least ${formatBytes(weights)} of weights, even at 8 bit for each`
      : `${formatBytes(weights)} of weights (${precision})`;
  const has = `${asked} ${named ? `of ${device.label}` : `of ${device.label}, the largest there is,`}`;
  return `${containerTitle(server.container)} loads ${name}: ${needs}, but ${has} ${asked.startsWith('1 ') ? 'has' : 'have'} ${formatBytes(memory)}; the server runs out of device memory while it loads`;
}

interface Judged {
  readonly severity: Severity;
  readonly config: ServingConfig;
  /** The largest card that is too small, or the smallest that may be picked where others would do. */
  readonly choice: GpuChoice;
  readonly estimate: MemoryEstimate;
  readonly tooSmall: readonly GpuChoice[];
  /** Cards that the pod may get and that do. */
  readonly others: readonly GpuChoice[];
}

/** Whether what the server loads is certainly more than some or all of the GPUs that it may get can hold. */
function judge({ server, gpus, bestCase: config }: Serving): Judged | undefined {
  if (config === undefined) return undefined;
  const estimates = gpus.choices.map((choice) => ({ choice, estimate: estimateOn(config, choice) }));
  const tooSmall = estimates.filter(({ estimate }) => estimate.weightsFit === 'no');
  const others = estimates.filter(({ estimate }) => estimate.weightsFit !== 'no');
  const [smallest] = tooSmall;
  const shown = others.length === 0 ? tooSmall.at(-1) : smallest;
  if (shown === undefined) return undefined;
  // Which cards are small is a matter of EC2, which says nothing of other clouds; a runtime can name one.
  const { template } = server.container;
  if (!gpus.named && (template.resourcesElsewhere || otherCloud(template) !== undefined)) return undefined;
  const severity =
    others.length === 0 ? (gpus.exhaustive ? 'error' : 'warning') : gpus.named ? 'warning' : 'info';
  return {
    severity,
    config,
    ...shown,
    tooSmall: tooSmall.map(({ choice }) => choice),
    others: others.map(({ choice }) => choice),
  };
}

function messageFor(server: ModelServer, serving: Serving, judged: Judged): string {
  const { config, estimate, choice, others } = judged;
  const { weights, quantization, budget } = estimate;
  const isLeast = serving.config?.quantization !== quantization;
  const gpus = (config.tensorParallel ?? 1) * (config.pipelineParallel ?? 1);
  const each = gpus > 1 ? ` on each of ${gpuText(gpus)}` : '';
  const needs = isLeast
    ? `at least ${formatBytes(weights.perGpu.low)}${each}, even at 4 bit for each weight`
    : `${formatBytes(weights.perGpu.low)} of weights (${schemeOf(quantization).label})${each}`;
  const part =
    budget === undefined || config.utilization === 1
      ? ''
      : `, of which ${server.title} fills ${formatBytes(budget.expected)}`;
  const has = `${choiceText(choice)} has ${formatBytes(choice.memory.expected)}${part}`;
  const fits = remedy(serving, judged);
  const start = `${containerTitle(server.container)} loads ${serving.name}: ${needs}`;
  if (others.length === 0)
    return `${start}, but ${has}; the server runs out of GPU memory while it loads${fits}`;
  const why = serving.gpus.named
    ? `${judged.tooSmall.length > 1 ? `${listed(judged.tooSmall)} are` : 'it is'} among the GPUs that the pod may get`
    : `no selector and no NodePool names a GPU, so that the pod may get one that is too small`;
  return `${start}; ${has}, and ${why}${fits}`;
}

function listed(choices: readonly GpuChoice[]): string {
  const labels = choices.map(({ label }) => label.replace(/^NVIDIA /, ''));
  const last = labels.pop() ?? '';
  return labels.length === 0 ? last : `${labels.join(', ')} and ${last}`;
}

/** The way out that costs least: more of the same GPUs, else the cheapest type on which it fits. */
function remedy(serving: Serving, { choice, others, config }: Judged): string {
  if (others.length > 0) return `; it fits on ${choiceText(others[0] ?? choice)}`;
  const found = placements({ ...(serving.config ?? config), maxModelLen: 'auto' }, { unknownToo: true });
  const best = found.find(({ gpu }) => gpu.id === choice.gpu.id) ?? found[0];
  if (best === undefined) return '';
  const { tensorParallel, type } = best;
  const spread =
    tensorParallel === (config.tensorParallel ?? 1) ? '' : ` with tensor parallel ${tensorParallel}`;
  return `; ${serving.config === undefined ? 'at 4 bit it' : 'it'} fits${spread} on ${type.name}`;
}

function relatedOf(resource: Resource, { gpus }: Serving, { tooSmall }: Judged): readonly Related[] {
  const pools = [...new Set(tooSmall.flatMap(({ pool }) => pool ?? []))];
  return [
    ...gpus.at.slice(0, 4).map((at) => ({ resource, at, message: 'This decides on the GPU' })),
    ...pools.map((pool) => ({
      resource: pool,
      at: pool.root.entries.find(({ key }) => key.text === 'kind') ?? pool.root,
      message: `NodePool "${pool.name ?? ''}" may launch ${listed(tooSmall.filter((choice) => choice.pool === pool))}`,
    })),
  ];
}
