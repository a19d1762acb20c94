import type { CatalogueSource, InstanceType } from './instances';

/** The folder and the file, beside the configuration, in which a refreshed catalogue is kept. */
export const catalogueFile = '.plimsoll/instance-types.json';

/** A refreshed catalogue as it is kept. */
export interface RefreshedCatalogue {
  readonly region: string;
  /** `2026-12-01`, the day on which it was read. */
  readonly date: string;
  readonly types: readonly InstanceType[];
}

const hypervisors: Readonly<Record<InstanceType['hypervisor'], string>> = { nitro: 'n', xen: 'x', '': 'm' };

function field(value: number | undefined): string {
  return value === undefined ? '-' : String(value);
}

function deviceOf({ gpus, accelerators }: InstanceType): string {
  if (gpus !== undefined) return `gpu,${gpus.name},${gpus.manufacturer}`;
  if (accelerators === undefined) return '-';
  const { name, manufacturer, coresPerDevice, memoryMiBPerDevice } = accelerators;
  return `accelerator,${name},${manufacturer},${field(coresPerDevice)},${field(memoryMiBPerDevice)}`;
}

function line(type: InstanceType): string {
  const { gpus, accelerators, interfaces } = type;
  const devices = gpus === undefined ? field(accelerators?.devices) : `${gpus.count}x${gpus.memoryMiBEach}`;
  const eni = [interfaces.total, interfaces.ipv4Each, interfaces.networkCards, interfaces.onDefaultCard];
  return [
    '',
    type.size,
    type.vcpu,
    type.memoryMiB,
    hypervisors[type.hypervisor],
    devices,
    field(type.nvmeGB),
    field(type.networkMbps),
    field(type.ebsMbps),
    type.efaInterfaces,
    eni.map(field).join('/'),
    field(type.onDemandPrice),
    field(type.measuredOverheadMiB),
  ].join(' ');
}

/** Types in the form that `catalogue-data.ts` explains: a line for each family, and one for each of its sizes. */
export function catalogueTextOf(types: readonly InstanceType[]): string {
  const families = new Map<string, InstanceType[]>();
  for (const type of types) {
    // Sizes of a family that differ in what the family's line says have a line of their own.
    const key = `${type.family} ${type.arch} ${type.cpuManufacturer ?? '-'} ${deviceOf(type)}`;
    const sizes = families.get(key);
    if (sizes === undefined) families.set(key, [type]);
    else sizes.push(type);
  }
  const lines = [...families].flatMap(([family, sizes]) => [
    family,
    ...sizes.toSorted((a, b) => a.vcpu - b.vcpu || (a.size < b.size ? -1 : 1)).map(line),
  ]);
  return `\n${lines.join('\n')}\n`;
}

export function catalogueJson({ region, date, types }: RefreshedCatalogue): string {
  const lines = catalogueTextOf(types)
    .split('\n')
    .filter((each) => each !== '');
  return `${JSON.stringify({ format: 1, region, date, types: lines }, null, 1)}\n`;
}

const familyLine =
  /^[a-z0-9-]+ (?:amd64|arm64) (?:intel|amd|aws|-) (?:-|(?:gpu|accelerator)(?:,[\w.-]+){2,4})$/;
const number = '(?:-|\\d+(?:\\.\\d+)?)';
const sizeLine = new RegExp(
  `^ [a-z0-9-]+ \\d+ \\d+ [nxm] (?:-|\\d+|\\d+x\\d+)(?: ${number}){3} \\d+ (?:-|\\d+)(?:/(?:-|\\d+)){3} ${number} ${number}$`,
);

/** Reads a file of {@link catalogueJson}; a sentence where it is none. */
export function readCatalogue(text: string): CatalogueSource | { readonly problem: string } {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return { problem: 'it is not JSON' };
  }
  const fields = typeof read === 'object' && read !== null ? (read as Readonly<Record<string, unknown>>) : {};
  const { format, region, date, types } = fields;
  if (format !== 1 || typeof region !== 'string' || typeof date !== 'string' || !Array.isArray(types)) {
    return { problem: 'it is no catalogue that this version can read' };
  }
  if (!/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(region) || !/^\d{4}-\d\d-\d\d$/.test(date)) {
    return { problem: 'its region or date is none' };
  }
  const lines = types as readonly unknown[];
  const bad = lines.findIndex(
    (each) => typeof each !== 'string' || !(each.startsWith(' ') ? sizeLine : familyLine).test(each),
  );
  if (bad >= 0) return { problem: `line ${bad + 1} of its types is none` };
  if (lines.length < 2 || String(lines[0]).startsWith(' ')) return { problem: 'it has no types' };
  return {
    text: `\n${(lines as readonly string[]).join('\n')}\n`,
    prices: { basis: `${region} on-demand Linux, USD per hour`, date },
  };
}

/**
 * The types of the catalogue that is shipped, with what a region says of them. A type that the region does not have
 * stays, without a price: a manifest may be for another region.
 *
 * @param read every type of the region; those without accelerators count for families of the catalogue only, so that a
 * pool which admits anything is not answered with a thousand types.
 */
export function mergeTypes(
  shipped: readonly InstanceType[],
  read: readonly InstanceType[],
): readonly InstanceType[] {
  const families = new Set(shipped.map(({ family }) => family));
  const before = new Map(shipped.map((type) => [type.name, type]));
  const kept = read
    .filter(
      ({ family, gpus, accelerators }) =>
        families.has(family) || gpus !== undefined || accelerators !== undefined,
    )
    .map((type): InstanceType => {
      const known = before.get(type.name);
      if (known === undefined) return type;
      // What EC2 does not tell, or tells of no running node, stays.
      const { measuredOverheadMiB, ebsMbps, networkMbps } = known;
      return {
        ...(measuredOverheadMiB === undefined ? {} : { measuredOverheadMiB }),
        ...(ebsMbps === undefined ? {} : { ebsMbps }),
        ...(networkMbps === undefined ? {} : { networkMbps }),
        ...type,
        ...(type.accelerators !== undefined && known.accelerators !== undefined
          ? { accelerators: { ...known.accelerators, ...type.accelerators } }
          : {}),
      };
    });
  const names = new Set(kept.map(({ name }) => name));
  const elsewhere = shipped
    .filter(({ name }) => !names.has(name))
    .map(({ onDemandPrice: _, ...type }): InstanceType => type);
  return [...kept, ...elsewhere].toSorted((a, b) =>
    a.family < b.family ? -1 : a.family > b.family ? 1 : a.vcpu - b.vcpu,
  );
}
