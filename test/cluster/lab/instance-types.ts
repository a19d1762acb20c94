import { allocatable } from '../../../server/src/sizing/nodes/allocatable';
import { instanceTypes, type InstanceType } from '../../../server/src/sizing/nodes/instances';
import {
  capacityTypeLabel,
  instanceLabel,
  instanceLabels,
  zoneLabel,
} from '../../../server/src/sizing/nodes/labels';

export const zones: readonly string[] = ['us-east-1a', 'us-east-1b', 'us-east-1c'];

const mebibyte = 1024 * 1024;

/** Karpenter's kwok provider takes this off what it is told, so it is told so much more. */
const takenOff = { cpu: 100, memory: 10 * mebibyte } as const;

/** Of a type whose price is not known: Karpenter takes it last. */
const unknownPrice = 1000;

/** Spot prices differ by the hour; a third of the price on demand keeps their order. */
export const spotShare = 1 / 3;

interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'DoesNotExist';
  readonly values?: readonly string[];
}

interface Offering {
  readonly Price: number;
  readonly Available: true;
  readonly Requirements: readonly Requirement[];
}

/** An element of the file that `INSTANCE_TYPES_FILE_PATH` of Karpenter's kwok provider names. */
interface KwokInstanceType {
  readonly name: string;
  readonly offerings: readonly Offering[];
  readonly architecture: string;
  readonly operatingSystems: readonly ['linux'];
  readonly resources: Readonly<Record<string, string>>;
}

/** What EC2 knows about a type, as the provider for AWS labels its nodes: a label that it lacks is known to be absent. */
function labelsOf(type: InstanceType): readonly Requirement[] {
  return instanceLabels.flatMap((label): Requirement[] => {
    const key = `karpenter.k8s.aws/${label}`;
    const value = instanceLabel(type, label);
    if (value === null) return [{ key, operator: 'DoesNotExist' }];
    return typeof value === 'string' ? [{ key, operator: 'In', values: [value] }] : [];
  });
}

function resourcesOf(type: InstanceType): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(allocatable(type))
      .filter(([, amount]) => amount > 0)
      .map(([name, amount]): [string, string] => {
        if (name === 'cpu') return [name, `${amount + takenOff.cpu}m`];
        return [name, String(name === 'memory' ? amount + takenOff.memory : amount)];
      }),
  );
}

/** The instance types of Plimsoll's own catalogue, so that what Karpenter does with them is comparable. */
export function kwokInstanceTypes(): readonly KwokInstanceType[] {
  return instanceTypes().map((type) => {
    const price = type.onDemandPrice ?? unknownPrice;
    const labels = labelsOf(type);
    const offering = (zone: string, capacityType: string, share: number): Offering => ({
      Price: price * share,
      Available: true,
      Requirements: [
        { key: capacityTypeLabel, operator: 'In', values: [capacityType] },
        { key: zoneLabel, operator: 'In', values: [zone] },
        ...labels,
      ],
    });
    return {
      name: type.name,
      offerings: zones.flatMap((zone) => [offering(zone, 'on-demand', 1), offering(zone, 'spot', spotShare)]),
      architecture: type.arch,
      operatingSystems: ['linux'],
      resources: resourcesOf(type),
    };
  });
}
