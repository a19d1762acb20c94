import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { otherCloud } from '../../kube/clouds';
import type { Resource } from '../../kube/resource';
import type { Candidate } from '../../sizing/nodes/fit';
import { priceNote, priceSource, type InstanceType } from '../../sizing/nodes/instances';
import {
  placementOf,
  requestWords,
  type PlacementAnswer,
  whyNone,
  type PoolAnswer,
} from '../../rules/placement/answers';
import { poolTitle } from '../../rules/placement/surroundings';
import { entryOf, mapIn } from '../../yaml/node';
import type { FitCommand } from '../arguments';
import { UsageError } from '../arguments';
import type { Host } from '../host';
import { lineIndex } from '../line-index';
import { displayPath } from '../paths';
import { readWorkspace } from '../read-workspace';

/** One workload (or part of one) with its answer and where it stands. */
interface Row {
  readonly answer: PlacementAnswer;
  readonly template: PodTemplate;
  readonly path: string;
  readonly line: number;
}

/** `plimsoll fit`: exit code 0 when every workload fits or may, 1 when one cannot, 2 when something cannot be read. */
export function fitCommand(command: FitCommand, host: Host): number {
  const { cwd } = host;
  const { workspace, asked, failed } = readWorkspace({ ...command, config: undefined }, host);
  const all = asked.flatMap((uri) => workspace.resourcesOf(uri).filter(isPlaced));
  const chosen =
    command.workload === undefined ? all : all.filter((one) => isNamed(one, command.workload ?? ''));
  if (command.workload !== undefined && chosen.length === 0) {
    const known = [...new Set(all.map(nameOf))];
    throw new UsageError(
      `there is no workload ${command.workload} in these files${known.length === 0 ? '' : `; they have ${known.slice(0, 10).join(', ')}${known.length > 10 ? ', ...' : ''}`}`,
    );
  }
  const rows = chosen.flatMap((resource) =>
    podTemplates(resource)
      .filter((template) => otherCloud(template) === undefined)
      .map((template): Row => {
        const at = entryOf(mapIn(resource.root, 'metadata'), 'name')?.value ?? resource.root;
        const start = workspace.placeOf(resource).offset + at.start;
        return {
          template,
          answer: placementOf(workspace, template),
          path: displayPath(resource.uri, cwd),
          line: lineIndex(workspace.files.get(resource.uri)?.text ?? '').regionOf({ start, end: start })
            .startLine,
        };
      }),
  );
  host.stdout.write(command.format === 'json' ? json(rows, host) : text(rows));
  if (failed) return 2;
  return rows.some(({ answer }) => answer.verdict === 'none') ? 1 : 0;
}

/** Has pods that a scheduler places by themselves; those of DaemonSets take room on every node instead. */
function isPlaced(resource: Resource): boolean {
  return (
    resource.role !== 'kustomize-patch' && resource.kind !== 'DaemonSet' && podTemplates(resource).length > 0
  );
}

function nameOf({ namespace, name }: Resource): string {
  return `${namespace === undefined ? '' : `${namespace}/`}${name ?? '(unnamed)'}`;
}

function isNamed(resource: Resource, wanted: string): boolean {
  const slash = wanted.indexOf('/');
  if (slash < 0) return resource.name === wanted;
  const namespace = wanted.slice(0, slash);
  return resource.name === wanted.slice(slash + 1) && (resource.namespace ?? namespace) === namespace;
}

// Text

const MiBperGiB = 1024;

function gib(mebibytes: number): string {
  return `${Number((mebibytes / MiBperGiB).toFixed(mebibytes < 100 * MiBperGiB ? 1 : 0))} GiB`;
}

function devices({ gpus, accelerators }: InstanceType): string {
  if (gpus !== undefined) {
    return `${gpus.count === 0 ? 'part of 1' : gpus.count} x ${gpus.name} ${gib(gpus.memoryMiBEach)}`;
  }
  return accelerators === undefined ? '-' : `${accelerators.devices} x ${accelerators.name}`;
}

function price({ price: usd, onDemandPrice, capacityType }: Candidate): string {
  const shown = usd ?? onDemandPrice;
  if (shown === undefined) return 'unknown';
  return `${shown.toFixed(2)}${capacityType === 'spot' && usd === undefined ? ' (spot is less)' : ''}`;
}

const shownTypes = 10;

function table(candidates: readonly Candidate[]): string {
  const rows = [
    ['TYPE', 'ACCELERATORS', 'VCPU', 'MEMORY', 'USD/H'],
    ...candidates
      .slice(0, shownTypes)
      .map((candidate) => [
        candidate.type.name,
        devices(candidate.type),
        String(candidate.type.vcpu),
        gib(candidate.type.memoryMiB),
        price(candidate),
      ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map(
    (row) =>
      `    ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
  );
  const more = candidates.length - shownTypes;
  return lines.join('') + (more > 0 ? `    and ${more} more\n` : '');
}

function poolText(answer: PoolAnswer): string {
  const { pool, verdict, candidates, possible } = answer;
  const title = poolTitle(pool);
  if (verdict === 'fits') {
    const also = possible.length === 0 ? '' : `, and perhaps on ${possible.length} more`;
    return `  ${title}: fits on ${candidates.length} type${candidates.length === 1 ? '' : 's'}${also}\n${table(candidates)}`;
  }
  if (verdict === 'unknown') {
    return `  ${title}: may fit; parts of the pod or the pool are only known later, or types are not in the catalogue\n`;
  }
  const lines = whyNone(answer);
  return `  ${title}: does not fit\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

function rowText({ answer, template, path, line }: Row): string {
  const { resource, part } = template;
  const head = `${nameOf(resource)} (${resource.kind}${part === '' ? '' : `, ${part}`}) ${path}:${line}\n`;
  const asks = `  asks for ${requestWords(answer.requests)}\n`;
  if (answer.anywhere !== undefined) {
    const { candidates, possible } = answer.anywhere;
    const count = candidates.length + possible.length;
    return `${head}${asks}  no NodePool or node group for it in these files; of all types ${count === 0 ? 'none would do' : `these would do${candidates.length < count ? ` for certain, and ${count - candidates.length} may` : ''}`}\n${candidates.length === 0 ? '' : table(candidates)}`;
  }
  const launch =
    answer.launch === undefined ? '' : `  Karpenter launches it from ${poolTitle(answer.launch)}\n`;
  // A pool that the pod cannot use is told only where no other takes it.
  const told =
    answer.verdict === 'fits' ? answer.pools.filter(({ verdict }) => verdict !== 'none') : answer.pools;
  return `${head}${asks}${answer.pools.length > 1 ? launch : ''}${told.map(poolText).join('')}`;
}

function text(rows: readonly Row[]): string {
  if (rows.length === 0) return 'No workload with pods to place\n';
  const none = rows.filter(({ answer }) => answer.verdict === 'none').length;
  const unknown = rows.filter(({ answer }) => answer.verdict === 'unknown').length;
  const summary = `${rows.length} workload${rows.length === 1 ? '' : 's'}: ${rows.length - none - unknown} fit, ${none} do not, ${unknown} may\nPrices: ${priceNote()}\n`;
  return `${rows.map(rowText).join('\n')}\n${summary}`;
}

// JSON

function jsonType({ type, capacityType, price: usd, onDemandPrice }: Candidate): unknown {
  return {
    name: type.name,
    capacityType,
    priceUsdPerHour: usd ?? null,
    onDemandUsdPerHour: onDemandPrice ?? null,
    vcpu: type.vcpu,
    memoryMiB: type.memoryMiB,
    gpus:
      type.gpus === undefined
        ? null
        : { name: type.gpus.name, count: type.gpus.count, memoryMiBEach: type.gpus.memoryMiBEach },
    accelerators:
      type.accelerators === undefined
        ? null
        : { name: type.accelerators.name, devices: type.accelerators.devices },
  };
}

function json(rows: readonly Row[], { version, cwd }: Host): string {
  const workloads = rows.map(({ answer, template, path, line }) => {
    const { resource, part } = template;
    return {
      kind: resource.kind,
      namespace: resource.namespace ?? null,
      name: resource.name ?? null,
      part: part === '' ? null : part,
      path,
      line,
      requests: answer.requests.amounts,
      unknownRequests: answer.requests.unknown,
      verdict: answer.verdict,
      launchesFrom: answer.launch?.spec.name ?? null,
      pools: answer.pools.map(({ pool, verdict, candidates, possible, reasons, nearest, excludes }) => ({
        kind: pool.spec.kind,
        name: pool.spec.name,
        path: displayPath(pool.resource.uri, cwd),
        verdict,
        types: candidates.map(jsonType),
        possibleTypes: possible,
        reasons,
        nearest: nearest === undefined ? null : { type: nearest.candidate.name, lacks: nearest.lacks },
        excludedBy: excludes ?? null,
      })),
      anyType:
        answer.anywhere === undefined
          ? null
          : {
              types: answer.anywhere.candidates.map(jsonType),
              possibleTypes: answer.anywhere.possible,
            },
    };
  });
  return `${JSON.stringify({ version, prices: priceSource(), units: { cpu: 'millicores', memory: 'bytes' }, workloads }, null, 2)}\n`;
}
