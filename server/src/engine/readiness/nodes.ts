import { acceleratorsOfPod } from '../../kube/accelerators';
import { tolerationsOf } from '../../kube/tolerations';
import { nodeDemandOf } from '../../kube/requirements';
import { allows, capacityType } from '../../rules/karpenter/pool-facts';
import { titleOf } from '../../rules/naming';
import { poolTitle, type Pool } from '../../rules/placement/surroundings';
import { listWords, someOf } from '../../rules/placement/words';
import { findInstanceType } from '../../sizing/nodes/instances';
import { entryOf, getIn, textIn, mapIn } from '../../yaml/node';
import { isPathAbsent, type Resource } from '../../kube/resource';
import { failing, worst, type Answer, type Subject, type Where } from './subject';

/** Says what there is to say where no pool is known. */
function withPools(subject: Subject, judge: (pools: readonly Pool[]) => Answer): Answer {
  const { pools } = subject;
  if (pools.noneFits) {
    return (
      failing(subject, ['no-instance-type-fits', 'gpu-taint-not-tolerated']) ?? {
        state: 'fail',
        fact: 'No NodePool or node group in these files can run its pods',
        rule: 'no-instance-type-fits',
      }
    );
  }
  return pools.usable.length === 0
    ? { state: 'unknown', fact: 'These files hold no NodePool or node group for its pods' }
    : judge(pools.usable);
}

function resourcesOf(pools: readonly Pool[]): readonly Resource[] {
  return pools.flatMap(({ resource, spec }) => (spec.kind === 'node-pool' ? [resource] : []));
}

function placeOf({ resource, group }: Pool): Where {
  return { resource, at: group ?? getIn(resource.root, 'metadata', 'name') ?? resource.root };
}

/** Fewer types to choose from, and one that is sold out stops the scaling. */
const enoughTypes = 3;

export function instanceTypes(subject: Subject): Answer {
  return withPools(subject, (pools) => {
    const { types } = subject.pools;
    const place = pools[0] === undefined ? undefined : placeOf(pools[0]);
    const families = [
      ...new Set(types.map((name) => findInstanceType(name)?.family ?? name.split('.')[0] ?? name)),
    ];
    const titles = listWords(pools.map(poolTitle));
    if (types.length >= enoughTypes) {
      return {
        state: 'pass',
        fact: `${titles} can launch ${types.length} types for it, of ${families.length === 1 ? 'the family' : 'the families'} ${someOf(families, 5)}`,
        place,
      };
    }
    const found = failing(subject, ['nodepool-single-instance-type'], resourcesOf(pools));
    if (found !== undefined) return found;
    if (types.length === 0)
      return { state: 'unknown', fact: `Which types ${titles} can launch is not known`, place };
    const isGroup = pools.every(({ spec }) => spec.kind === 'node-group');
    return isGroup
      ? { state: 'fail', fact: `${titles} can launch ${listWords(types)} only`, place }
      : {
          state: 'not-applicable',
          fact: `${titles} can launch ${listWords(types)} for it, and nothing else is meant for that`,
          place,
        };
  });
}

export function spotAndOnDemand(subject: Subject): Answer {
  return withPools(subject, (pools) => {
    const spot = pools.map((pool) => ofCapacity(pool, 'spot'));
    const onDemand = pools.map((pool) => ofCapacity(pool, 'on-demand'));
    const [some, other] = [spot.includes(true), onDemand.includes(true)];
    const place = pools[0] === undefined ? undefined : placeOf(pools[0]);
    const titles = listWords(pools.map(poolTitle));
    if (some && other) {
      return {
        state: 'pass',
        fact: `${titles} ${pools.length === 1 ? 'launches' : 'launch'} spot and on-demand nodes`,
        place,
      };
    }
    const found = failing(subject, ['nodepool-spot-only', 'nodepool-no-spot'], resourcesOf(pools));
    if (found !== undefined) return found;
    if (spot.includes(undefined) || onDemand.includes(undefined)) {
      return { state: 'unknown', fact: `Whether ${titles} may launch spot nodes is only known later`, place };
    }
    const isGroup = pools.every(({ spec }) => spec.kind === 'node-group');
    const only = some ? 'spot' : 'on-demand';
    return isGroup
      ? { state: 'fail', fact: `${titles} launches ${only} nodes only`, place }
      : {
          state: 'not-applicable',
          fact: `${titles} launches ${only} nodes only, which is usual for types of its kind`,
          place,
        };
  });
}

function ofCapacity({ spec, resource }: Pool, kind: 'spot' | 'on-demand'): boolean | undefined {
  if (spec.kind === 'node-pool') return allows(resource, capacityType, kind);
  return (spec.spot === true) === (kind === 'spot');
}

export function gpuPlacement(subject: Subject): Answer {
  const { resource, templates } = subject;
  const accelerated = templates.filter((template) => acceleratorsOfPod(template).length > 0);
  if (accelerated.length === 0) return { state: 'not-applicable', fact: 'It asks for no accelerator' };
  const found = failing(subject, [
    'gpu-taint-not-tolerated',
    'missing-gpu-toleration',
    'no-instance-type-fits',
    'missing-gpu-node-selector',
    'unknown-node-label',
    'outdated-node-label',
  ]);
  if (found !== undefined) return found;
  const answers = accelerated.map((template): Answer => {
    const keys = tolerationsOf(template).flatMap(({ key }) => key ?? []);
    const demands = [
      ...new Set(nodeDemandOf(template).alternatives.flatMap((all) => all.map(({ key }) => key))),
    ];
    const place = {
      resource,
      at: entryOf(template.spec, 'tolerations') ?? entryOf(template.spec, 'nodeSelector') ?? template.spec,
    };
    if (template.spec.open && (keys.length === 0 || demands.length === 0)) {
      return { state: 'unknown', fact: 'Its tolerations and selectors may be set elsewhere', place };
    }
    if (keys.length === 0 && demands.length === 0) {
      return template.operatorOwned || template.resourcesElsewhere
        ? {
            state: 'unknown',
            fact: `What the pods of ${titleOf(resource)} tolerate and select is set elsewhere`,
          }
        : {
            state: 'fail',
            fact: 'It tolerates no taint and selects no nodes: any node with its accelerators will do',
            place: { resource, at: template.spec },
            rule: 'missing-gpu-node-selector',
          };
    }
    const tolerated =
      keys.length === 0 ? 'tolerates no taint of its own' : `tolerates ${listWords([...new Set(keys)])}`;
    const selected =
      demands.length === 0 ? 'any node with its accelerators will do' : `selects by ${listWords(demands)}`;
    return { state: 'pass', fact: `It ${tolerated} and ${selected}`, place };
  });
  return worst(answers) ?? { state: 'unknown', fact: 'Its pods are only known later' };
}

/** Of Karpenter's API: `spec.template.spec.expireAfter`. */
const defaultExpiry = '720h';

export function consolidationAndExpiry(subject: Subject): Answer {
  return withPools(subject, (pools) => {
    const own = resourcesOf(pools);
    const found = failing(
      subject,
      ['nodepool-disrupts-gpu', 'nodepool-expires-too-soon', 'nodepool-never-consolidates'],
      own,
    );
    if (found !== undefined) return found;
    if (own.length === 0) {
      return { state: 'not-applicable', fact: `Nothing consolidates ${listWords(pools.map(poolTitle))}` };
    }
    const answers = own.map((resource): Answer => {
      const disruption = mapIn(resource.root, 'spec', 'disruption');
      const policy = written(
        resource,
        ['spec', 'disruption', 'consolidationPolicy'],
        'WhenEmptyOrUnderutilized (the default)',
      );
      const after = written(resource, ['spec', 'disruption', 'consolidateAfter'], '0s (the default)');
      const expiry = written(
        resource,
        ['spec', 'template', 'spec', 'expireAfter'],
        `${defaultExpiry} (the default)`,
      );
      const place = {
        resource,
        at: entryOf(getIn(resource.root, 'spec'), 'disruption') ?? disruption ?? resource.root,
      };
      const name = `NodePool "${resource.name ?? ''}"`;
      if (policy === undefined || after === undefined || expiry === undefined) {
        return {
          state: 'unknown',
          fact: `When ${name} consolidates and expires nodes is only known later`,
          place,
        };
      }
      return {
        state: 'pass',
        fact: `${name} consolidates ${policy} after ${after}, and nodes expire after ${expiry}`,
        place,
      };
    });
    return worst(answers) ?? { state: 'unknown', fact: 'Its pools are only known later' };
  });
}

function written(resource: Resource, path: readonly string[], absent: string): string | undefined {
  const text = textIn(resource.root, ...path);
  if (text !== undefined) return text;
  return isPathAbsent(resource, resource.root, ...path) ? absent : undefined;
}
