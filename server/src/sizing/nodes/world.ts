import { addBit, emptyBits } from './bits';
import type { Bits } from './bits';
import { familyParts, findInstanceType, instanceTypes } from './instances';
import type { InstanceType } from './instances';
import { instanceLabel, instanceTypeLabel, archLabel, namingLabels } from './labels';
import type { LabelValue } from './labels';
import { otherTypes } from './other-types';
import type { OtherType } from './other-types';
import { absent, agree, oneOf } from '../../kube/value-set';
import type { ValueSet } from '../../kube/value-set';

/**
 * One thing that a NodePool might launch: a type of the catalogue, a type or family whose figures the catalogue lacks,
 * or (`newer`) whatever a manifest names that neither has.
 */
export type Row =
  | { readonly kind: 'listed'; readonly name: string; readonly type: InstanceType }
  | { readonly kind: 'other'; readonly name: string; readonly other: OtherType }
  | { readonly kind: 'newer'; readonly name: string };

/** The rows that satisfy a requirement for certain, and those that may. `named`: it names a value nothing carries. */
export interface Mask {
  readonly yes: Bits;
  readonly possible: Bits;
  readonly named: boolean;
}

export interface WorldOptions {
  /** Replaces the catalogue, for figures that were refreshed. */
  readonly types?: readonly InstanceType[];
  /** True: nothing exists but the catalogue, as where answers of a closed system are compared. */
  readonly closed?: boolean;
  /** True: types without a price are not offered, as Karpenter has it for the region whose prices these are. */
  readonly onlyPriced?: boolean;
}

/** Every row, cheapest first, and the rows that satisfy requirements on labels of the instance. */
export interface World {
  readonly rows: readonly Row[];
  /** Index of the `newer` row; -1 in a closed world. */
  readonly newer: number;
  /** The row of a type by its name. */
  rowOf(name: string): number | undefined;
  mask(label: string, set: ValueSet): Mask;
  /** The value of a label of the instance on nodes of a row. */
  label(row: number, label: string): LabelValue;
}

/** The value of a label on a node of a row; `undefined` when it cannot be known. */
export function rowLabel(row: Row, label: string): LabelValue {
  if (row.kind === 'listed') return instanceLabel(row.type, label);
  if (row.kind === 'newer') return undefined;
  const { family, size, arch, accelerators } = row.other;
  const parts = familyParts(family);
  switch (label) {
    case instanceTypeLabel:
      return size === undefined ? undefined : `${family}.${size}`;
    case archLabel:
      return arch;
    case 'instance-family':
      return family;
    case 'instance-category':
      return parts?.category;
    case 'instance-generation':
      return parts === undefined ? undefined : String(parts.generation);
    case 'instance-size':
      return size;
    case 'instance-capability-flex':
      return String(family.includes('-flex'));
    case 'instance-tenancy':
      return ['default', 'dedicated'];
    case 'instance-gpu-manufacturer':
      return 'nvidia.com/gpu' in accelerators ? 'nvidia' : null;
    case 'instance-gpu-name':
    case 'instance-gpu-count':
    case 'instance-gpu-memory':
      return 'nvidia.com/gpu' in accelerators ? undefined : null;
    case 'instance-accelerator-manufacturer':
      return 'aws.amazon.com/neuron' in accelerators ? 'aws' : null;
    case 'instance-accelerator-name':
      // The types with Neuron devices that the catalogue lacks are all of the trn2 line.
      return 'aws.amazon.com/neuron' in accelerators ? 'trainium2' : null;
    case 'instance-accelerator-count':
      return 'aws.amazon.com/neuron' in accelerators ? undefined : null;
    default:
      return undefined;
  }
}

/** The resource whose most per node bounds a label that counts devices. */
const counted: Readonly<Record<string, string>> = {
  'instance-gpu-count': 'nvidia.com/gpu',
  'instance-accelerator-count': 'aws.amazon.com/neuron',
};

/** Whether the set admits some whole number up to a bound. */
function admitsUpTo(set: ValueSet, most: number): boolean {
  if (set.complement) return (set.atLeast ?? 0) <= most;
  return [...set.values].some((value) => Number(value) <= most);
}

function satisfies(row: Row, label: string, value: LabelValue, set: ValueSet): 'yes' | 'no' | 'unknown' {
  if (value === null) return agree(absent, set) ? 'yes' : 'no';
  if (value !== undefined)
    return agree(oneOf(typeof value === 'string' ? [value] : value), set) ? 'yes' : 'no';
  if (row.kind === 'other' && label === instanceTypeLabel && !set.complement) {
    const prefix = `${row.other.family}.`;
    return [...set.values].some((name) => name.startsWith(prefix)) ? 'unknown' : 'no';
  }
  const resource = counted[label];
  if (row.kind === 'other' && resource !== undefined) {
    return admitsUpTo(set, row.other.accelerators[resource] ?? 0) ? 'unknown' : 'no';
  }
  return 'unknown';
}

/** A text for a set, equal for equal sets. */
function signature(set: ValueSet): string {
  return `${set.complement ? '!' : ''}${set.atLeast ?? ''}<${set.atMost ?? ''}|${[...set.values].sort().join(',')}`;
}

/** Label values are lower case on EC2, so that text of another form can only be a mistake. */
const plausible = /^[a-z0-9][a-z0-9.-]*$/;

/** Cheapest first, types without a price after the others, equal prices by name. */
export function byPrice(a: InstanceType, b: InstanceType): number {
  const difference = (a.onDemandPrice ?? Infinity) - (b.onDemandPrice ?? Infinity);
  if (difference < 0) return -1;
  if (difference > 0) return 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function buildRows(options: WorldOptions): readonly Row[] {
  const listed = (options.types ?? instanceTypes())
    .filter((type) => options.onlyPriced !== true || type.onDemandPrice !== undefined)
    .toSorted(byPrice)
    .map((type): Row => ({ kind: 'listed', name: type.name, type }));
  if (options.closed === true) return listed;
  const names = new Set(listed.map((row) => row.name));
  const families = new Set(listed.map((row) => row.name.slice(0, row.name.indexOf('.'))));
  const others = otherTypes()
    .filter(({ family, size }) =>
      size === undefined ? !families.has(family) : !names.has(`${family}.${size}`),
    )
    .map((other): Row => ({ kind: 'other', name: `${other.family}.${other.size ?? '*'}`, other }));
  return [...listed, ...others, { kind: 'newer', name: 'a type that is not in the catalogue' }];
}

/** Builds the rows; requirements are evaluated on first use and remembered. */
export function createWorld(options: WorldOptions = {}): World {
  const rows = buildRows(options);
  const newer = options.closed === true ? -1 : rows.length - 1;
  const byName = new Map(rows.map((row, index) => [row.name, index]));
  const masks = new Map<string, Mask>();
  const columns = new Map<string, readonly LabelValue[]>();
  const valuesSeen = new Map<string, ReadonlySet<string>>();
  const signatures = new WeakMap<ValueSet, string>();
  const otherFamilies = new Set(rows.flatMap((row) => (row.kind === 'other' ? [row.other.family] : [])));

  const column = (label: string): readonly LabelValue[] => {
    let values = columns.get(label);
    if (values === undefined) columns.set(label, (values = rows.map((row) => rowLabel(row, label))));
    return values;
  };

  const seen = (label: string): ReadonlySet<string> => {
    let values = valuesSeen.get(label);
    if (values === undefined) {
      values = new Set(column(label).flatMap((value) => (typeof value === 'string' ? [value] : [])));
      valuesSeen.set(label, values);
    }
    return values;
  };

  const namesSomethingNewer = (label: string, set: ValueSet): boolean => {
    if (newer < 0 || set.complement || !namingLabels.has(label)) return false;
    for (const value of set.values) {
      if (seen(label).has(value) || !plausible.test(value)) continue;
      if (label === instanceTypeLabel) {
        const family = value.slice(0, Math.max(0, value.indexOf('.')));
        if (findInstanceType(value) !== undefined || otherFamilies.has(family) || family === '') continue;
      }
      return true;
    }
    return false;
  };

  return {
    rows,
    newer,
    rowOf: (name) => byName.get(name),
    label: (row, label) => column(label)[row],
    mask(label, set) {
      let text = signatures.get(set);
      if (text === undefined) signatures.set(set, (text = signature(set)));
      const key = `${label} ${text}`;
      let mask = masks.get(key);
      if (mask === undefined) {
        const yes = emptyBits(rows.length);
        const possible = emptyBits(rows.length);
        const values = column(label);
        const named = namesSomethingNewer(label, set);
        rows.forEach((row, index) => {
          const value = values[index];
          // The GPUs of the types that the catalogue lacks (M60, GB200) are in none of those that it has.
          const otherGpu =
            label === 'instance-gpu-name' && row.kind === 'other' && value === undefined && !set.complement;
          const truth = otherGpu && !named ? 'no' : satisfies(row, label, value, set);
          if (truth === 'yes') addBit(yes, index);
          if (truth !== 'no') addBit(possible, index);
        });
        mask = { yes, possible, named };
        masks.set(key, mask);
      }
      return mask;
    },
  };
}
