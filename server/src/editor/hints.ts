import { otherCloud } from '../kube/clouds';
import { acceleratorsOfPod } from '../kube/accelerators';
import { podTemplates } from '../kube/pod-carriers';
import { formatBytes } from '../kube/quantity';
import type { Resource } from '../kube/resource';
import { serversIn, servingIn } from '../rules/model/servings';
import { placementOf } from '../rules/placement/answers';
import { poolOf, surroundingsOfPool } from '../rules/placement/surroundings';
import { schemeOf } from '../sizing/models/quantization';
import type { UserModel } from '../sizing/models/types';
import type { Candidate } from '../sizing/nodes/fit';
import { priceNote, type InstanceType } from '../sizing/nodes/instances';
import type { SizingReport } from '../sizing/report';
import type { Workspace } from '../workspace/workspace';
import type { PlacedDocument } from '../yaml/document';
import { scalarIn, type Span } from '../yaml/node';
import { shownServing } from './sizing';

/** A short answer at the end of a line. */
export interface Hint {
  /** Offset in the file. */
  readonly at: number;
  readonly text: string;
  readonly tooltip?: string;
}

/** Which hints are wanted. */
export interface HintKinds {
  readonly models: boolean;
  readonly nodePools: boolean;
  readonly workloads: boolean;
}

/** The hints of a part of a file. What is not known has none. */
export function hintsFor(
  workspace: Workspace,
  uri: string,
  within: Span,
  kinds: HintKinds,
  models: readonly UserModel[],
): readonly Hint[] {
  const file = workspace.files.get(uri);
  if (file === undefined) return [];
  return workspace.resourcesOf(uri).flatMap((resource) => {
    const placed = file.documents[resource.placed.index];
    if (placed === undefined) return [];
    const [start, end] = [resource.root.start + placed.offset, resource.root.end + placed.offset];
    if (end < within.start || start > within.end) return [];
    return [
      ...(kinds.models ? modelHints(workspace, resource, models) : []),
      ...(kinds.nodePools ? poolHints(workspace, resource) : []),
      ...(kinds.workloads ? workloadHints(workspace, resource) : []),
    ]
      .map((hint) => ({ ...hint, at: lineEnd(placed, hint.at) }))
      .filter(({ at }) => within.start <= at && at <= within.end);
  });
}

/** The end of the line that an offset of a document is on, in the file: where no text is pushed apart. */
function lineEnd({ document: { text }, offset }: PlacedDocument, at: number): number {
  const end = text.indexOf('\n', at);
  let last = end < 0 ? text.length : end;
  while (last > at && /\s/.test(text[last - 1] ?? '')) last -= 1;
  return offset + last;
}

/** `2.7M`, `131k`, `8192`: as exact as the figure is. */
function aboutTokens(count: number): string {
  if (count >= 1_000_000) return `${Math.floor(count / 100_000) / 10}M`;
  return count >= 10_000 ? `${Math.floor(count / 1000)}k` : String(Math.floor(count));
}

function modelHints(workspace: Workspace, resource: Resource, models: readonly UserModel[]): readonly Hint[] {
  return serversIn(workspace, resource).flatMap((server): Hint[] => {
    if (server.model.state !== 'known') return [];
    const serving = servingIn(workspace, server, models);
    // Where an option is only known later there is no figure, only bounds.
    if (serving?.config === undefined) return [];
    const shown = shownServing(serving, server.title);
    if (shown === undefined || !(shown.report.weights.expected > 0)) return [];
    const { report, config } = shown;
    const weights = `~ ${formatBytes(report.weights.expected)} ${schemeOf(report.estimate.quantization).label.split(',')[0] ?? ''} weights`;
    const count = report.tensorParallel * report.pipelineParallel;
    const card = config.gpu?.label.replace(/^NVIDIA /, '');
    const gpus = card === undefined ? undefined : `${count} x ${card}`;
    return [{ at: server.model.at.end, text: [weights, ...fitWords(gpus, report)].join(', ') }];
  });
}

function fitWords(
  gpus: string | undefined,
  { fits, estimate, largestLength }: SizingReport,
): readonly string[] {
  if (gpus === undefined) return [];
  const { weightsFit, contextFits, kv } = estimate;
  if (weightsFit === 'no') return [`does not fit ${gpus}`];
  if (contextFits === 'no' && largestLength !== undefined)
    return [`${gpus}: room for about ${aboutTokens(largestLength.expected)} tokens`];
  if (fits !== 'yes') return [];
  return [
    `fits ${gpus}`,
    ...(kv?.tokens === undefined ? [] : [`${aboutTokens(kv.tokens.expected)} tokens of KV`]),
  ];
}

function span(values: readonly number[], write: (value: number) => string): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? write(least) : `${write(least)}-${write(most)}`;
}

function plural(count: string, one: string, several: string): string {
  return `${count} ${count === '1' ? one : several}`;
}

/** `1-8 GPUs`, `1-16 Neuron devices`; nothing for types without either. */
function deviceSpan(types: readonly InstanceType[]): readonly string[] {
  const gpus = types.flatMap((type) => (type.gpus === undefined ? [] : [type.gpus.count]));
  const others = types.flatMap((type) =>
    type.accelerators === undefined ? [] : [type.accelerators.devices],
  );
  // Types without devices among them make the least none.
  const all = (counts: readonly number[]): readonly number[] =>
    gpus.length + others.length < types.length ? [0, ...counts] : counts;
  return [
    ...(gpus.length === 0 ? [] : [plural(span(all(gpus), String), 'GPU', 'GPUs')]),
    ...(others.length === 0 ? [] : [plural(span(all(others), String), 'accelerator', 'accelerators')]),
  ];
}

function poolHints(workspace: Workspace, resource: Resource): readonly Hint[] {
  if (resource.kind !== 'NodePool' || resource.group !== 'karpenter.sh') return [];
  const name = scalarIn(resource.root, 'metadata', 'name');
  if (name === undefined || name.unknown || resource.role !== 'resource') return [];
  const { types, complete } = surroundingsOfPool(workspace, resource).typesOf(poolOf(workspace, resource));
  if (types.length === 0) return complete ? [{ at: name.end, text: 'no instance type' }] : [];
  const usd = types.flatMap(({ onDemandPrice }) => onDemandPrice ?? []);
  const text = [
    `${complete ? '' : 'at least '}${plural(String(types.length), 'type', 'types')}`,
    ...deviceSpan(types),
    ...(usd.length === 0 ? [] : [`${span(usd, (value) => `$${value.toFixed(2)}`)}/h`]),
  ].join(', ');
  return [{ at: name.end, text, tooltip: priceNote() }];
}

function workloadHints(workspace: Workspace, resource: Resource): readonly Hint[] {
  if (resource.role === 'kustomize-patch' || resource.kind === 'DaemonSet') return [];
  return podTemplates(resource).flatMap((template): Hint[] => {
    const accelerators = acceleratorsOfPod(template);
    const asked = accelerators.find(({ container }) => container.kind === 'main') ?? accelerators[0];
    if (asked === undefined || otherCloud(template) !== undefined) return [];
    const { launch, pools, anywhere } = placementOf(workspace, template);
    const found = pools.find(({ pool }) => pool === launch)?.candidates[0];
    const [only, second] = anywhere?.candidates ?? [];
    // Without pools at hand, only a selector that leaves a single type says which it is.
    const pinned = second === undefined && anywhere?.possible.length === 0 ? only : undefined;
    const type = found ?? pinned;
    if (type === undefined) return [];
    const at = 'key' in asked.at ? Math.max(asked.at.key.end, asked.at.value.end) : asked.at.end;
    return [
      {
        at,
        text: `${type.type.name}${priceWords(type, found !== undefined)}`,
        tooltip: `${priceNote()}; the cheapest type that fits`,
      },
    ];
  });
}

/** @param isPool a pool is known, and so how it pays. */
function priceWords({ price, onDemandPrice, capacityType }: Candidate, isPool: boolean): string {
  if (price !== undefined && isPool) return `, $${price.toFixed(2)}/h`;
  if (onDemandPrice === undefined) return '';
  return isPool && capacityType === 'spot'
    ? `, spot, below $${onDemandPrice.toFixed(2)}/h`
    : `, $${onDemandPrice.toFixed(2)}/h`;
}
