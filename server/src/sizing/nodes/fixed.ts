import { isWindows } from './allocatable';
import { capacityTypeLabel, labelMeaning, osLabel, windowsBuildLabel, zoneLabel } from './labels';
import type { LabelMeaning, Provider } from './labels';
import type { FitOptions } from './options';
import type { PoolSpec } from './pool';
import { absent, admits, agree } from '../../kube/value-set';
import type { ValueSet } from '../../kube/value-set';

const capacityTypeOrder = ['reserved', 'spot', 'on-demand'] as const;

/** What the machines of a pool carry for labels that are the same for all its types. */
export interface Fixed {
  readonly zones: readonly string[] | undefined;
  readonly capacityTypes: readonly string[];
  readonly reserved: 'no' | 'unknown';
  readonly os: 'linux' | 'windows' | undefined;
}

/** The labels that every machine of a pool carries alike. */
export function fixedOf(pool: PoolSpec, options: FitOptions): Fixed {
  if (pool.kind === 'node-group') {
    const windows = pool.amiFamily !== undefined && isWindows(pool.amiFamily);
    return {
      zones: pool.zones !== undefined && pool.zones.length > 0 ? pool.zones : options.zones,
      capacityTypes: [pool.spot === true ? 'spot' : 'on-demand'],
      reserved: 'no',
      os: windows ? 'windows' : 'linux',
    };
  }
  const nodeClass = pool.nodeClass ?? { kind: 'unknown' };
  const family = nodeClass.kind === 'EC2NodeClass' ? nodeClass.spec.amiFamily : undefined;
  return {
    zones: options.zones,
    capacityTypes: ['spot', 'on-demand'],
    reserved: nodeClass.kind === 'unknown' || nodeClass.reservations ? 'unknown' : 'no',
    os:
      pool.provider === 'auto-mode'
        ? 'linux'
        : nodeClass.kind === 'unknown'
          ? undefined
          : family !== undefined && isWindows(family)
            ? 'windows'
            : 'linux',
  };
}

/** Whether the fixed labels of a pool's machines satisfy a requirement on a label that is not of the instance. */
export function fixedSatisfies(key: string, set: ValueSet, fixed: Fixed): 'yes' | 'no' | 'unknown' {
  switch (key) {
    case zoneLabel:
      if (fixed.zones === undefined) return set.complement || set.values.size > 0 ? 'yes' : 'no';
      return fixed.zones.some((zone) => admits(set, zone)) ? 'yes' : 'no';
    case capacityTypeLabel:
      if (fixed.capacityTypes.some((type) => admits(set, type))) return 'yes';
      return fixed.reserved === 'unknown' && admits(set, 'reserved') ? 'unknown' : 'no';
    case osLabel:
      if (fixed.os === undefined) return admits(set, 'linux') ? 'yes' : 'unknown';
      return admits(set, fixed.os) ? 'yes' : 'no';
    case windowsBuildLabel:
      if (fixed.os === 'windows') return 'unknown';
      return agree(absent, set) ? 'yes' : fixed.os === undefined ? 'unknown' : 'no';
    case 'topology.kubernetes.io/region': {
      const regions = fixed.zones?.map((zone) => zone.replace(/[a-z]$/, ''));
      if (regions === undefined) return 'unknown';
      return regions.some((region) => admits(set, region)) ? 'yes' : 'no';
    }
    case 'karpenter.sh/nodepool':
      return 'yes';
    default:
      return 'unknown';
  }
}

/** Labels that node groups carry and that come from their fixed properties. */
const fixedOfNodeGroups: ReadonlySet<string> = new Set([zoneLabel, osLabel, 'topology.kubernetes.io/region']);

/** The meaning of a label to a provider, with the labels that node groups get from their fixed properties. */
export function meaningOf(key: string, provider: Provider): LabelMeaning {
  const meaning = labelMeaning(key, provider);
  return provider === 'node-group' && fixedOfNodeGroups.has(key) ? { kind: 'well-known' } : meaning;
}

/** The capacity types that a requirement leaves open, in Karpenter's order of preference. */
export function remainingCapacityTypes(set: ValueSet | undefined, fixed: Fixed): readonly string[] {
  const offered = fixed.reserved === 'unknown' ? ['reserved', ...fixed.capacityTypes] : fixed.capacityTypes;
  return capacityTypeOrder.filter(
    (type) => offered.includes(type) && (set === undefined || admits(set, type)),
  );
}
