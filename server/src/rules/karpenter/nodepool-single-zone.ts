import { defineRule } from '../rule';
import { allows, isDynamic, isReserved, placeOf, requirementsOn, standsInFor } from './pool-facts';

const zone = 'topology.kubernetes.io/zone';

/** Not a placeholder that somebody fills in. */
const name = /^[a-z]{2}(?:-[a-z]+)+-\d[a-z]$/;

export default defineRule({
  id: 'nodepool-single-zone',
  summary: 'A pool launches nodes in more than one zone',
  severity: 'info',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (!isDynamic(resource) || isReserved(resource)) return;
    const [requirement, ...others] = requirementsOn(resource, zone);
    const [value] = requirement?.values ?? [];
    if (requirement === undefined || others.length > 0 || value === undefined) return;
    if (requirement.operator !== 'In' || requirement.values?.length !== 1 || !name.test(value)) return;
    // A pool for each zone is one way to spread.
    const elsewhere = workspace
      .near(resource, 'NodePool', 'karpenter.sh')
      .some(
        (other) => other !== resource && allows(other, zone, value) === false && standsInFor(other, resource),
      );
    if (elsewhere) return;
    report({
      at: placeOf(requirement),
      message: `NodePool "${resource.name ?? ''}" launches nodes in ${value} only: an outage of the zone, or of its capacity for these types, takes all of its pods`,
    });
  },
});
