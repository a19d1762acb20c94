import { readRequirements, type NodeRequirement } from '../../kube/requirements';
import { normaliseLabel } from '../../kube/value-set';
import { explain, requirementEffects, type RequirementEffect } from '../../sizing/nodes/explain';
import { entryOf, isNull, mapIn, scalarIn } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { surroundingsOfPool } from '../placement/surroundings';
import { someOf } from '../placement/words';
import { defineRule, type Place } from '../rule';

export default defineRule({
  id: 'nodepool-matches-no-instance',
  summary: 'Some instance type passes all requirements of a NodePool',
  severity: 'error',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.group !== 'karpenter.sh' || resource.role === 'kustomize-patch') return;
    const surroundings = surroundingsOfPool(workspace, resource);
    const [pool] = surroundings.pools;
    if (pool === undefined || pool.spec.incomplete === true) return;
    const { unlimited } = surroundings;
    // Everything is tolerated and nothing asked for, so that only the requirements are left to keep it out.
    const [explanation] = explain(unlimited, {
      resources: { containers: [] },
      tolerations: [{ operator: 'Exists' }],
    });
    const inner = mapIn(resource.root, 'spec', 'template', 'spec');
    const list = entryOf(inner, 'requirements');
    if (explanation === undefined || list === undefined) return;
    const written = readRequirements(list.value);
    const patched = (): boolean => mayBePatched(workspace, resource, 'requirements');
    for (const exclusion of explanation.exclusions) {
      if (exclusion.kind === 'min-values') {
        const requirement = written.find(
          ({ key, node }) => normaliseLabel(key) === exclusion.key && !isNull(scalarIn(node, 'minValues')),
        );
        const at = scalarIn(requirement?.node, 'minValues');
        if (at === undefined || patched()) continue;
        report({
          at,
          message: `NodePool "${resource.name ?? ''}" wants ${exclusion.wanted} values of ${exclusion.key} left to choose from, and its requirements leave ${exclusion.left}: Karpenter launches nothing`,
        });
      }
      if (exclusion.kind !== 'empty-pool' || patched()) continue;
      const effects = requirementEffects(unlimited, pool.spec.name).flatMap((effect): Effect[] => {
        const own = written.filter(({ key }) => normaliseLabel(key) === effect.key);
        return effect.freed.length === 0 || own.length === 0 ? [] : [{ ...effect, own }];
      });
      const best = effects.find(({ key }) => !names.test(key)) ?? effects[0];
      const [culprit] = best?.own ?? [];
      if (best === undefined || culprit === undefined) {
        report({
          at: list,
          message: `No instance type passes the requirements of NodePool "${resource.name ?? ''}", nor all but any one of them: it launches nothing`,
        });
        continue;
      }
      const others = effects.filter((effect) => effect !== best);
      report({
        at: placeOf(culprit),
        message: `No instance type passes all requirements of NodePool "${resource.name ?? ''}": ${[best, ...others.slice(0, 1)].map(without).join(', ')}; as it is, it launches nothing`,
        related: others.flatMap(({ own }) =>
          own.slice(0, 1).map((other) => ({
            resource,
            at: other.keyNode,
            message: `It is required together with ${words(other)}`,
          })),
        ),
      });
    }
  },
});

interface Effect extends RequirementEffect {
  /** The requirements on the key, as written. */
  readonly own: readonly NodeRequirement[];
}

/**
 * Labels by which people say what they want; the mistake is more often in what they add to it. Of several of either, the
 * one that frees most types comes first.
 */
const names =
  /\/instance-(?:type|family|category|gpu-name|gpu-manufacturer|accelerator-name|accelerator-manufacturer)$/;

function without({ own, freed }: Effect): string {
  return `without ${own.map(words).join(' and ')} ${freed.length} would (${someOf(freed)})`;
}

function words({ key, operator, values }: NodeRequirement): string {
  return values === undefined || values.length === 0
    ? `${key} ${operator ?? ''}`
    : `${key} ${operator ?? ''} [${someOf(values, 6, 'and')}]`;
}

function placeOf({ keyNode, valueNodes }: NodeRequirement): Place {
  const [value] = valueNodes;
  return value !== undefined && valueNodes.length === 1 ? value : keyNode;
}
