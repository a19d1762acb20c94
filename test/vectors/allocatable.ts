import { allocatable } from '../../server/src/sizing/nodes/allocatable';
import { findInstanceType } from '../../server/src/sizing/nodes/instances';
import { amount } from '../../server/src/sizing/nodes/resources';
import type { VectorRunner } from './index';

/** What Karpenter publishes for a type: AL2023, no block device mappings, 7.5 % memory overhead. */
interface ExpectedAllocatable {
  readonly cpuMilli?: number;
  readonly memoryMiB?: number;
  readonly pods?: number;
  readonly ephemeralStorage?: string | number;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What differs between the expected and the computed figures of one type; empty when nothing does. */
export function allocatableDifferences(name: string, expected: ExpectedAllocatable): readonly string[] {
  const type = findInstanceType(name);
  if (type === undefined) return [`${name}: the catalogue does not have this type`];
  const has = allocatable(type);
  const differences: string[] = [];
  const compare = (field: string, want: unknown, got: unknown): void => {
    if (want !== undefined && want !== got)
      differences.push(`${name}: ${field} ${String(want)} expected, ${String(got)} computed`);
  };
  compare('cpuMilli', expected.cpuMilli, has['cpu']);
  compare('memoryMiB', expected.memoryMiB, (has['memory'] ?? 0) / (1024 * 1024));
  compare('pods', expected.pods, has['pods']);
  if (expected.ephemeralStorage !== undefined) {
    compare(
      `ephemeralStorage ${String(expected.ephemeralStorage)} =`,
      amount('ephemeral-storage', expected.ephemeralStorage),
      has['ephemeral-storage'],
    );
  }
  return differences;
}

/** Runs `{type: {cpuMilli, memoryMiB, pods, ephemeralStorage}}` through the formulas. */
export const run: VectorRunner = (cases) => {
  if (!isRecord(cases))
    return { differences: ['the file holds no object of instance types'], summary: '0 of 0', ok: false };
  const names = Object.keys(cases);
  const differences: string[] = [];
  let agree = 0;
  for (const name of names) {
    const expected = cases[name];
    const found = isRecord(expected)
      ? allocatableDifferences(name, expected)
      : [`${name}: expected an object of figures`];
    if (found.length === 0) agree += 1;
    differences.push(...found);
  }
  return {
    differences,
    summary: `${agree} of ${names.length}`,
    ok: agree === names.length && names.length > 0,
  };
};
