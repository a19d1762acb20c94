import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { valueOf } from '../../kube/settings';
import {
  arithmeticRows,
  shownServing,
  tokenWords,
  whyNotShown,
  type ShownServing,
} from '../../editor/sizing';
import { titleOf } from '../../rules/naming';
import { servingIn, serversOf } from '../../rules/model/servings';
import { precisionOption, type Serving } from '../../sizing/from-manifest';
import { gpuOfInstance } from '../../sizing/gpu-choices';
import { findGpu, gpus, type Gpu } from '../../sizing/gpus';
import { kvElementBytesOf, type ServingConfig } from '../../sizing/memory/estimate';
import { describeParameters } from '../../sizing/memory/loaded-weights';
import { modelCatalogue } from '../../sizing/models/catalogue';
import { identifyModel } from '../../sizing/models/identify';
import type { UserModel } from '../../sizing/models/types';
import type { QuantizationId } from '../../sizing/models/quantization';
import { findInstanceType, priceNote, priceSource } from '../../sizing/nodes/instances';
import { placements, type Placement, type PlacementOptions } from '../../sizing/placements';
import { plainPlacements, plainReport, sizingReport, type SizingReport } from '../../sizing/report';
import { nearest } from '../../rules/nearest';
import type { Workspace } from '../../workspace/workspace';
import { UsageError, type SizeCommand } from '../arguments';
import { printable } from '../formats/text';
import type { Host } from '../host';
import { configurations } from '../user-models';
import { displayPath } from '../paths';
import { readWorkspace } from '../read-workspace';

/** `plimsoll size`: exit code 0 answered, 2 where the model or a file cannot be read. */
export function size(command: SizeCommand, host: Host): number {
  return command.model === undefined ? sizeOfFiles(command, host) : sizeOfModel(command.model, command, host);
}

/** A GPU by its name or that of an instance type. */
function gpuNamed(name: string): Gpu {
  const type = findInstanceType(name.toLowerCase());
  const found = type === undefined ? findGpu(name) : gpuOfInstance(type);
  if (found !== undefined) return found;
  if (type !== undefined) throw new UsageError(`--gpu ${name}: that instance type has no GPU`);
  const known = gpus.map(({ id }) => id);
  const close = nearest(name.toLowerCase(), known);
  throw new UsageError(
    `--gpu takes a GPU such as l4, a10g, l40s, a100-80gb, h100, h200, or an instance type; got "${name}"${close === undefined ? '' : `, did you mean ${close}?`}`,
  );
}

function quantizationOf({ quantization, dtype }: SizeCommand): QuantizationId | undefined {
  if (quantization !== undefined) {
    const found = precisionOption('vllm', quantization.toLowerCase());
    if (found === undefined)
      throw new UsageError(
        `--quantization takes awq, gptq, fp8, int8, bitsandbytes, nvfp4, mxfp4, q4_k_m and the like; got "${quantization}"`,
      );
    return found;
  }
  return dtype === 'float32' || dtype === 'float' ? 'fp32' : undefined;
}

/** What a command line can overrule. */
function overrides(command: SizeCommand): Partial<ServingConfig> {
  const quantization = quantizationOf(command);
  return {
    ...(quantization === undefined ? {} : { quantization }),
    ...(command.tensorParallel === undefined ? {} : { tensorParallel: command.tensorParallel }),
    ...(command.maxModelLen === undefined ? {} : { maxModelLen: command.maxModelLen }),
    ...(command.utilization === undefined ? {} : { utilization: command.utilization }),
    ...(command.kvCacheDtype === undefined ? {} : { kvElementBytes: kvElementBytesOf(command.kvCacheDtype) }),
    ...(command.gpu === undefined ? {} : { gpu: gpuNamed(command.gpu) }),
  };
}

function sizeOfModel(name: string, command: SizeCommand, host: Host): number {
  const isOllama = /^[\w.-]+:[\w.-]+$/.test(name);
  // The configuration that holds for a manifest here.
  const { models } = configurations([host.cwd])(pathToFileURL(join(host.cwd, 'manifest.yaml')).href);
  const model = identifyModel(name, {
    userModels: models,
    ...(isOllama ? { library: 'ollama' as const } : {}),
  });
  if (model === undefined) {
    const close = nearest(
      name,
      modelCatalogue.map(({ id }) => id),
    );
    host.stderr.write(
      `plimsoll: the model "${printable(name)}" is not known, and its name does not say a size such as 8B; ${
        close === undefined
          ? 'name the model that it is a copy of, or read it with plimsoll model'
          : `did you mean ${close}?`
      }\n`,
    );
    return 2;
  }
  const isGguf = model.quantization?.startsWith('gguf-') === true;
  const engine = isGguf ? ({ kind: 'llama.cpp' } as const) : ({ kind: 'vllm' } as const);
  const config: ServingConfig = { model, engine, ...overrides(command) };
  const report = sizingReport(config, { engineTitle: isGguf ? 'llama.cpp' : 'vLLM' });
  const found = whereItFits(config, command);
  if (command.format === 'json') {
    host.stdout.write(`${JSON.stringify(jsonOf(report, config, found), null, 2)}\n`);
  } else {
    host.stdout.write(`${textOf(report, config, found).join('\n')}\n`);
  }
  return 0;
}

interface Found {
  readonly list: readonly Placement[];
  /** The GPU that was asked for does not do; these are others. */
  readonly instead: boolean;
}

/** The instance types on which it fits: those that were asked for, else any. */
function whereItFits(config: ServingConfig, command: SizeCommand): Found {
  // Without a length that was asked for, the list says for each type how long requests can be.
  const wanted: ServingConfig =
    config.maxModelLen === undefined ? { ...config, maxModelLen: 'auto' } : config;
  const asked: PlacementOptions = {
    ...(config.gpu === undefined ? {} : { gpu: config.gpu }),
    ...(command.tensorParallel === undefined ? {} : { tensorParallel: command.tensorParallel }),
  };
  for (const unknownToo of [false, true]) {
    const list = placements(wanted, { ...asked, unknownToo });
    if (list.length > 0) return { list, instead: false };
  }
  return { list: placements(wanted), instead: Object.keys(asked).length > 0 };
}

const ownMaximum = ({ model }: ServingConfig): number | undefined => model.model?.maxPositions;

function jsonOf(report: SizingReport, config: ServingConfig, found: Found): object {
  return {
    ...plainReport(report, ownMaximum(config)),
    instanceTypes: plainPlacements(found.list, ownMaximum(config)),
    priceBasis: priceSource().basis,
    priceDate: priceSource().date,
  };
}

function table(rows: readonly (readonly string[])[], indent: string): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    `${indent}${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}

/** Types in a list for reading; JSON has them all. */
const shownTypes = 8;

function textOf(report: SizingReport, config: ServingConfig, found: Found): string[] {
  const own = ownMaximum(config);
  const known =
    report.knownAs === undefined || report.knownAs === report.model ? '' : `, taken for ${report.knownAs}`;
  const lines = [
    printable(`${report.model}: ${describeParameters(report.parameters)} at ${report.precision}${known}`),
    '',
    ...arithmetic(report, own),
  ];
  if (report.gpu !== undefined) lines.push('', `${report.verdict}.`);
  lines.push('', ...placementLines(found, own, config));
  return lines;
}

function arithmetic(report: SizingReport, own: number | undefined): string[] {
  const rows = arithmeticRows(report, own).map(({ label, value, range, part }) => [
    part === true ? `  ${label}` : label,
    range === '' ? value : `${value} (${range})`,
  ]);
  return table(rows, '  ');
}

function placementLines(
  { list, instead }: Found,
  own: number | undefined,
  { maxModelLen }: ServingConfig,
): string[] {
  if (list.length === 0) {
    return [
      'It fits on no single instance type of the catalogue; it takes several nodes, or a smaller precision.',
    ];
  }
  const length = typeof maxModelLen === 'number' ? ` with requests of ${tokenWords(maxModelLen)} tokens` : '';
  const head = `${instead ? 'Instance types on which it fits instead' : 'Instance types on which it fits'}${length}, cheapest first (${priceNote()}):`;
  const shown = plainPlacements(list.slice(0, shownTypes), own);
  const rows = shown.map(
    ({ instanceType, gpu, gpus: count, tensorParallel, pricePerHour, maxModelLen: longest, fits }) => [
      instanceType,
      `${count} x ${gpu}`,
      `tensor parallel ${tensorParallel}`,
      pricePerHour === null ? 'no price' : `$${pricePerHour.toFixed(2)}`,
      longest === null ? '' : `up to ${tokenWords(longest)} tokens`,
      fits === 'unknown' ? 'may fit' : '',
    ],
  );
  const more = list.length - shown.length;
  return [head, ...table(rows, '  '), ...(more > 0 ? [`  and ${more} more (--format json lists all)`] : [])];
}

/** One server of a manifest. */
interface Sized {
  readonly path: string;
  readonly resource: string;
  readonly container: string;
  readonly serving: Serving | undefined;
  /** The model as it is named, where that is known. */
  readonly model: string | undefined;
  readonly engine: string;
}

function sizeOfFiles(command: SizeCommand, host: Host): number {
  const { workspace, asked, configFor, failed } = readWorkspace(
    { paths: command.files, gitignore: true, config: undefined },
    host,
  );
  const servers = asked.flatMap((uri) => sizedIn(workspace, uri, configFor(uri).models, host));
  if (servers.length === 0) {
    if (!failed)
      host.stderr.write(`plimsoll: no model server in ${command.files.map(printable).join(', ')}\n`);
    return 2;
  }
  if (command.format === 'json') {
    const all = servers.map((server) => jsonOfServer(server, command));
    // Where there is one server its figures stand at the top, as for a model that is named.
    const [only] = all;
    const top = all.length === 1 && only !== undefined ? only : {};
    host.stdout.write(`${JSON.stringify({ ...top, servers: all }, null, 2)}\n`);
  } else {
    host.stdout.write(`${servers.flatMap((server) => [...textOfServer(server, command), '']).join('\n')}`);
  }
  return failed ? 2 : 0;
}

function sizedIn(
  workspace: Workspace,
  uri: string,
  models: readonly UserModel[],
  host: Host,
): readonly Sized[] {
  return workspace.resourcesOf(uri).flatMap((resource) =>
    serversOf(resource).map((server) => ({
      path: displayPath(uri, host.cwd),
      resource: titleOf(resource),
      container: server.container.name,
      serving: servingIn(workspace, server, models),
      model: valueOf(server.model),
      engine: server.title,
    })),
  );
}

interface Shown extends ShownServing {
  readonly found: Found;
}

function shownOf({ serving, engine }: Sized, command: SizeCommand): Shown | undefined {
  const shown = serving === undefined ? undefined : shownServing(serving, engine, overrides(command));
  if (shown === undefined) return undefined;
  return { ...shown, found: whereItFits(shown.base, command) };
}

function jsonOfServer(sized: Sized, command: SizeCommand): object {
  const where = {
    file: sized.path,
    resource: sized.resource,
    container: sized.container,
    engine: sized.engine,
  };
  const shown = shownOf(sized, command);
  if (shown === undefined) {
    return {
      ...where,
      model: sized.model ?? null,
      fits: 'unknown',
      reasons: [whyNotShown(sized.model, sized.serving)],
    };
  }
  const own = ownMaximum(shown.config);
  return {
    ...where,
    ...jsonOf(shown.report, shown.config, shown.found),
    otherGpus: shown.others.map(({ report }) => {
      const { gpu, fits, kvAvailable, maxModelLen, verdict } = plainReport(report, own);
      return { gpu, fits, kvAvailable, maxModelLen, verdict };
    }),
  };
}

function textOfServer(sized: Sized, command: SizeCommand): string[] {
  const head = printable(
    `${sized.path}: ${sized.resource}, container "${sized.container}" (${sized.engine})`,
  );
  const shown = shownOf(sized, command);
  if (shown === undefined) return [head, printable(`  unknown: ${whyNotShown(sized.model, sized.serving)}`)];
  const others = shown.others.map(({ label, report }) => `  on ${label}: ${report.verdict}.`);
  const body = textOf(shown.report, shown.config, shown.found);
  return [head, ...body, ...(others.length === 0 ? [] : ['', 'Other GPUs that the pod may get:', ...others])];
}
