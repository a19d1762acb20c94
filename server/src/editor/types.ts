import type { Candidate } from '../sizing/nodes/fit';
import type { InstanceType } from '../sizing/nodes/instances';
import type { CardTable } from './card';

const MiBperGiB = 1024;

/** MiB as `22.4 GiB`, `1152 GiB`. */
export function gibWords(mebibytes: number): string {
  return `${Number((mebibytes / MiBperGiB).toFixed(mebibytes < 100 * MiBperGiB ? 1 : 0))} GiB`;
}

/** `4 x a10g 22.4 GiB`, `2 x inferentia2`; a dash without any. */
export function deviceWords({ gpus, accelerators }: InstanceType): string {
  if (gpus !== undefined) {
    return `${gpus.count === 0 ? 'part of 1' : gpus.count} x ${gpus.name} ${gibWords(gpus.memoryMiBEach)}`;
  }
  return accelerators === undefined ? '-' : `${accelerators.devices} x ${accelerators.name}`;
}

/** USD per hour of a candidate, without a sign; `unknown` without a price. */
export function candidatePrice({ price: usd, onDemandPrice, capacityType }: Candidate): string {
  const shown = usd ?? onDemandPrice;
  if (shown === undefined) return 'unknown';
  return `${shown.toFixed(2)}${capacityType === 'spot' && usd === undefined ? ' (spot is less)' : ''}`;
}

const head: readonly string[] = ['type', 'accelerators', 'vCPU', 'memory', 'USD/h'];
const numeric: readonly number[] = [2, 3, 4];

function row(type: InstanceType, price: string): readonly string[] {
  return [type.name, deviceWords(type), String(type.vcpu), gibWords(type.memoryMiB), price];
}

/** Types with their GPU memory and price; at most so many rows. */
export function candidateTable(candidates: readonly Candidate[], most: number): CardTable {
  const rows = candidates.slice(0, most).map((candidate) => row(candidate.type, candidatePrice(candidate)));
  return { head, rows, numeric };
}

export function typeTable(types: readonly InstanceType[], most: number): CardTable {
  const rows = types
    .slice(0, most)
    .map((type) => row(type, type.onDemandPrice === undefined ? 'unknown' : type.onDemandPrice.toFixed(2)));
  return { head, rows, numeric };
}

/** `1 type`, `12 types`. */
export function typeCount(count: number): string {
  return `${count} type${count === 1 ? '' : 's'}`;
}
