import { instanceTypes } from '../../sizing/nodes/instances';
import { getIn, isScalar, itemsIn, textIn } from '../../yaml/node';
import { typeDetail } from './requirements';
import { regions, zonesOf } from './label-details';
import type { Suggestion, SuggestionSource } from './suggestion';

/** Instance types, zones and regions of an eksctl `ClusterConfig`. */
export const eksctlSuggestions: SuggestionSource = ({ cursor, unfinished, current }) => {
  if (unfinished.kind !== 'ClusterConfig' || cursor.kind !== 'value') return [];
  const { path } = cursor;
  const last = path.findLast((step) => typeof step === 'string');
  const holder = path.slice(0, path.lastIndexOf(last ?? ''));
  const written = (key: string): ReadonlySet<string> =>
    new Set(
      itemsIn(current?.root, ...holder, key).flatMap((node, index) =>
        isScalar(node) && node.text !== '' && index !== path.at(-1) ? [node.text] : [],
      ),
    );
  switch (last) {
    case 'instanceType':
    case 'instanceTypes':
    case 'spotInstanceTypes': {
      const isGroup = path[0] === 'managedNodeGroups' || path[0] === 'nodeGroups';
      return isGroup ? typeSuggestions(written(last)) : [];
    }
    case 'availabilityZones': {
      const region = textIn(getIn(current?.root ?? unfinished.root, 'metadata'), 'region');
      const taken = written(last);
      return (region === undefined ? regions : [region])
        .flatMap(zonesOf)
        .filter((zone) => !taken.has(zone))
        .map((label) => ({ label, kind: 'value' }));
    }
    case 'region':
      return path[0] === 'metadata' ? regions.map((label) => ({ label, kind: 'value' })) : [];
    default:
      return [];
  }
};

function typeSuggestions(taken: ReadonlySet<string>): readonly Suggestion[] {
  return instanceTypes()
    .filter(({ name }) => !taken.has(name))
    .map((type) => ({
      label: type.name,
      kind: 'value',
      detail: typeDetail(type),
      order: `${type.gpus === undefined && type.accelerators === undefined ? 1 : 0}${(type.onDemandPrice ?? 9999).toFixed(4).padStart(10, '0')}`,
    }));
}
