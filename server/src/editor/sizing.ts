import { formatBytes } from '../kube/quantity';
import { valueOf } from '../kube/settings';
import type { Serving } from '../sizing/from-manifest';
import type { GpuChoice } from '../sizing/gpu-choices';
import type { ServingConfig } from '../sizing/memory/estimate';
import type { Range } from '../sizing/models/range';
import { sizingReport, type ReportOptions, type SizingReport } from '../sizing/report';

/** The report about a server of a manifest, and about the other GPUs that its pod may get. */
export interface ShownServing {
  /** On the smallest GPU that the pod may get: what fits there fits on the others. */
  readonly report: SizingReport;
  readonly config: ServingConfig;
  /** Without any particular GPU. */
  readonly base: ServingConfig;
  readonly others: readonly { readonly label: string; readonly report: SizingReport }[];
  /** A single GPU is possible, or its kind is named. */
  readonly gpuNamed: boolean;
}

const memo = new WeakMap<Serving, ShownServing | null>();

/**
 * What is shown about a server: as it is written, with what `overrides` says instead. `undefined` where how the model is
 * spread over GPUs, or how much of it is kept in host memory, is only known later.
 */
export function shownServing(
  serving: Serving,
  engineTitle: string,
  overrides?: Partial<ServingConfig>,
): ShownServing | undefined {
  if (overrides !== undefined) return show(serving, engineTitle, overrides);
  const known = memo.get(serving);
  if (known !== undefined) return known ?? undefined;
  const shown = show(serving, engineTitle, {});
  memo.set(serving, shown ?? null);
  return shown;
}

function show(
  serving: Serving,
  engineTitle: string,
  overrides: Partial<ServingConfig>,
): ShownServing | undefined {
  const written = serving.config ?? serving.bestCase;
  if (written === undefined) return undefined;
  const base: ServingConfig = { ...written, ...overrides };
  const { server, group, gpus } = serving;
  const loadFormat = valueOf(server.loadFormat);
  const options: ReportOptions = {
    engineTitle,
    ...(group.perPod === undefined || group.perPod === 0 ? {} : { workersPerPod: group.perPod }),
    ...(loadFormat === undefined ? {} : { loadFormat }),
  };
  const on = (choice: GpuChoice | undefined): ServingConfig =>
    choice === undefined
      ? base
      : { ...base, gpu: choice.gpu, ...(choice.slice === undefined ? {} : { gpuMemory: choice.memory }) };
  const choice = overrides.gpu === undefined && gpus.named ? gpus.choices[0] : undefined;
  const config = on(choice);
  return {
    base,
    config,
    report: withDoubt(sizingReport(config, options), serving),
    others: (choice === undefined ? [] : gpus.choices.slice(1)).map((other) => ({
      label: other.label,
      report: withDoubt(sizingReport(on(other), options), serving),
    })),
    gpuNamed: choice !== undefined || overrides.gpu !== undefined,
  };
}

/** Where an option is only known later, only that it does not fit is certain. */
function withDoubt(report: SizingReport, { config, assumptions }: Serving): SizingReport {
  const isDoubtful = config === undefined && report.fits === 'yes';
  return {
    ...report,
    ...(isDoubtful
      ? {
          fits: 'unknown',
          verdict: 'It may fit: the manifest leaves open what is loaded and how it is spread',
        }
      : {}),
    reasons: [...report.reasons, ...assumptions],
  };
}

/** Why nothing can be reckoned about a server. */
export function whyNotShown(model: string | undefined, serving: Serving | undefined): string {
  if (model === undefined) return 'the manifest does not tell the model';
  return serving === undefined
    ? `the model "${model}" is not known, and its name does not say a size`
    : 'how the model is spread over GPUs, or how much of it is kept in host memory, is only known later';
}

/** `131,072`. */
export function tokenWords(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** One line of the arithmetic. */
export interface ArithmeticRow {
  readonly label: string;
  readonly value: string;
  /** `4.1 GiB to 5 GiB`; empty for a figure that is exact as far as it is written. */
  readonly range: string;
  /** Part of the line above. */
  readonly part?: true;
  /** One of several small summands. */
  readonly detail?: true;
}

function row(label: string, { low, expected, high }: Range, part?: true): ArithmeticRow {
  const value = formatBytes(expected);
  const [from, to] = [formatBytes(low), formatBytes(high)];
  return {
    label,
    value,
    range: from === value && to === value ? '' : `${from} to ${to}`,
    ...(part === undefined ? {} : { part }),
  };
}

/** The sum that the verdict of a report rests on, line by line. */
export function arithmeticRows(report: SizingReport, own: number | undefined): readonly ArithmeticRow[] {
  const { estimate: result, gpu } = report;
  const spread = report.tensorParallel * report.pipelineParallel;
  const each = spread > 1 ? ' on each GPU' : '';
  const rows = [row('weights', report.weights)];
  if (spread > 1) rows.push(row(`weights on each of ${spread} GPUs`, result.weights.perGpu));
  if (result.kvPerToken !== undefined) rows.push(row(`KV cache of a token${each}`, result.kvPerToken));
  if (own !== undefined)
    rows.push({ label: "the model's own maximum length", value: `${tokenWords(own)} tokens`, range: '' });
  rows.push(row('host memory of a pod while it loads', report.host.need));
  if (result.gpuMemory === undefined) return rows;
  rows.push(
    row(`memory of ${gpu?.label ?? 'the GPU'}`, result.gpuMemory),
    ...(result.budget === undefined ? [] : [row('the engine may fill', result.budget, true)]),
    row('weights', result.weights.perGpu, true),
    { ...row('CUDA context, NCCL', result.nonTorch, true), detail: true as const },
    { ...row('activations', result.activation, true), detail: true as const },
    { ...row('CUDA graphs', result.cudaGraphs, true), detail: true as const },
  );
  if (result.kv !== undefined) rows.push(row('left for the KV cache', result.kv.available, true));
  if (result.kvNeeded !== undefined)
    rows.push(
      row(`a request of ${tokenWords(report.requestedLength ?? 0)} tokens needs`, result.kvNeeded, true),
    );
  return rows;
}
