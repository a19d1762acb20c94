import type { ModelServer } from '../kube/model-server';
import { formatBytes, toNumber } from '../kube/quantity';
import { amountOf } from '../kube/containers';
import { valueOf } from '../kube/settings';
import { choiceText, servingIn } from '../rules/model/servings';
import { titleOf } from '../rules/naming';
import { hostNeedOf } from '../rules/sizing/host-memory';
import type { Serving } from '../sizing/from-manifest';
import { describeParameters } from '../sizing/memory/loaded-weights';
import type { UserModel } from '../sizing/models/types';
import { priceNote } from '../sizing/nodes/instances';
import { placements } from '../sizing/placements';
import { plainPlacements } from '../sizing/report';
import type { Workspace } from '../workspace/workspace';
import type { Card, CardTable } from './card';
import type { ServerTopic } from './server-places';
import { arithmeticRows, shownServing, tokenWords, whyNotShown, type ShownServing } from './sizing';

/** Lines that a hover has room for; the report has them all. */
const fewNotes = 6;
const fewTypes = 4;

export interface SizingCardOptions {
  readonly userModels?: readonly UserModel[];
  /** Everything that is known, for a document of its own. */
  readonly full?: boolean;
}

/** The arithmetic of a server's memory; `undefined` where its model is not known, so that nothing can be said. */
export function sizingCard(
  workspace: Workspace,
  server: ModelServer,
  topic: ServerTopic,
  options: SizingCardOptions = {},
): Card | undefined {
  if (topic === 'memory') {
    const card = hostCard(server, options);
    if (card !== undefined) return card;
  }
  const serving = servingIn(workspace, server, options.userModels);
  const shown = serving === undefined ? undefined : shownServing(serving, server.title);
  if (serving === undefined || shown === undefined) {
    return options.full === true ? unknownCard(server, serving) : undefined;
  }
  const { report, config, others } = shown;
  const own = config.model.model?.maxPositions;
  const known =
    report.knownAs === undefined || report.knownAs === report.model ? '' : `, taken for ${report.knownAs}`;
  const full = options.full === true;
  const tables: CardTable[] = [
    {
      head: ['', 'expected', 'range'],
      rows: [
        ...arithmeticRows(report, own)
          .filter(({ detail }) => full || detail !== true)
          .map(({ label, value, range, part }) => [
            part === true ? `\u00a0\u00a0${label}` : label,
            value,
            range,
          ]),
        ...requestRows(shown, own),
      ],
      numeric: [1],
    },
  ];
  if (others.length > 0) {
    tables.push({
      caption: 'Other GPUs that the pod may get:',
      head: ['GPU', ''],
      rows: others.slice(0, full ? undefined : fewTypes).map((other) => [other.label, other.report.verdict]),
    });
  }
  if (!shown.gpuNamed || report.fits !== 'yes' || full) {
    tables.push(...placementTable(shown, own, full ? undefined : fewTypes));
  }
  const notes = full ? report.reasons : report.reasons.slice(0, fewNotes);
  return {
    title: `${report.model}: ${describeParameters(report.parameters)} at ${report.precision}${known}`,
    ...(report.gpu === undefined && config.gpuMemory === undefined
      ? {}
      : { verdict: `${placeWords(serving, shown)}${report.verdict}` }),
    tables,
    notes,
  };
}

function unknownCard(server: ModelServer, serving: Serving | undefined): Card {
  const model = valueOf(server.model);
  return {
    title: model ?? 'The model is not known',
    verdict: `Unknown: ${whyNotShown(model, serving)}`,
    tables: [],
    notes: [],
  };
}

/** `On NVIDIA A10G (g5.12xlarge), 4 of them: `; nothing where no GPU is named. */
function placeWords(serving: Serving, { config, report, gpuNamed }: ShownServing): string {
  const [choice] = serving.gpus.choices;
  if (!gpuNamed || choice === undefined || config.gpu !== choice.gpu) return '';
  const count = report.tensorParallel * report.pipelineParallel;
  return `On ${count > 1 ? `${count} x ` : ''}${choiceText(choice)}. `;
}

/** Requests: how long one can be, and how many at a time. */
function requestRows({ report }: ShownServing, own: number | undefined): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  const { kv } = report.estimate;
  const range = ({ low, high }: { low: number; high: number }): string =>
    Math.round(low) === Math.round(high) ? '' : `${tokenWords(low)} to ${tokenWords(high)}`;
  if (kv?.tokens !== undefined)
    rows.push(['room in the KV cache', `${tokenWords(kv.tokens.expected)} tokens`, range(kv.tokens)]);
  if (report.requestedLength !== undefined && report.requestedLength !== own)
    rows.push(['requests, as asked for', `${tokenWords(report.requestedLength)} tokens`, '']);
  if (report.largestLength !== undefined)
    rows.push([
      'longest request that fits',
      `${tokenWords(report.largestLength.expected)} tokens`,
      range(report.largestLength),
    ]);
  if (kv?.concurrency !== undefined && report.fits !== 'no')
    rows.push([
      'such requests at a time',
      String(Number(kv.concurrency.expected.toPrecision(3))),
      `${Number(kv.concurrency.low.toPrecision(3))} to ${Number(kv.concurrency.high.toPrecision(3))}`,
    ]);
  return rows;
}

/** The cheapest types on which it fits, whatever the manifest asks for. */
function placementTable(
  { base }: ShownServing,
  own: number | undefined,
  most: number | undefined,
): readonly CardTable[] {
  const { gpu: _, gpuMemory: __, tensorParallel: ___, ...rest } = base;
  const wanted = rest.maxModelLen === undefined ? { ...rest, maxModelLen: 'auto' as const } : rest;
  const found = plainPlacements(placements(wanted), own);
  if (found.length === 0) return [];
  const length =
    typeof base.maxModelLen === 'number' ? ` with requests of ${tokenWords(base.maxModelLen)} tokens` : '';
  return [
    {
      caption: `The cheapest instance types on which it fits${length} (${priceNote()}):`,
      head: ['type', 'GPUs', 'tensor parallel', 'longest request', 'USD/h'],
      rows: found
        .slice(0, most)
        .map(({ instanceType, gpu, gpus, tensorParallel, maxModelLen, pricePerHour }) => [
          instanceType,
          `${gpus} x ${gpu}`,
          String(tensorParallel),
          maxModelLen === null ? '' : tokenWords(maxModelLen),
          pricePerHour === null ? '' : pricePerHour.toFixed(2),
        ]),
      numeric: [2, 3, 4],
    },
  ];
}

/** The host memory that a container needs while it loads, against what it asks for. */
function hostCard(server: ModelServer, { userModels, full }: SizingCardOptions): Card | undefined {
  const need = hostNeedOf(server, userModels);
  if (need === undefined) return undefined;
  const { container } = server;
  const written = (amounts: typeof container.limits): number | undefined => {
    const quantity = amountOf(amounts, 'memory')?.quantity;
    return quantity === undefined ? undefined : toNumber(quantity);
  };
  const [limit, request] = [written(container.limits), written(container.requests)];
  const rows = [
    ...need.terms.map(({ label, bytes }) => [label, formatBytes(bytes)]),
    [need.atLeast ? 'in all, at least' : 'in all', formatBytes(need.full)],
    ...(limit === undefined ? [] : [['limit', formatBytes(limit)]]),
    ...(request === undefined || request === limit ? [] : [['request', formatBytes(request)]]),
  ];
  const spare = limit === undefined ? undefined : limit - need.full;
  return {
    title: `Host memory of container "${container.name}" of ${titleOf(container.template.resource)} while ${need.model.name} loads`,
    ...(spare === undefined
      ? {}
      : {
          verdict:
            spare >= 0
              ? `The limit leaves ${formatBytes(spare)} to spare`
              : `The sum is ${formatBytes(-spare)} above the limit`,
        }),
    tables: [{ head: ['', ''], rows, numeric: [1] }],
    notes: full === true ? need.evidence : need.evidence.slice(0, fewNotes),
  };
}
