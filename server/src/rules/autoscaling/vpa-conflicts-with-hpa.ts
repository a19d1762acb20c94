import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { isAbsent, isPathAbsent, type Resource } from '../../kube/resource';
import { targetNameOf } from '../../workspace/links';
import { targetRefOf } from '../../workspace/references';
import { entryOf, isMap, isScalar, itemsIn, mapIn, scalarIn, textIn } from '../../yaml/node';
import { listWords } from '../placement/words';
import { titleOf } from '../naming';
import { defineRule, type Place } from '../rule';

export default defineRule({
  id: 'vpa-conflicts-with-hpa',
  summary: 'A VerticalPodAutoscaler does not change the requests that a horizontal one measures by',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['VerticalPodAutoscaler'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.group !== 'autoscaling.k8s.io' || resource.role === 'kustomize-patch') return;
    const changes = changesPods(resource);
    const { kind, name } = targetNameOf(resource);
    if (changes === undefined || kind === undefined || name === undefined) return;
    const controlled = controlledResources(resource);
    for (const each of autoscalerKinds) {
      for (const other of workspace.near(resource, each)) {
        const target = targetNameOf(other);
        if (target.kind !== kind || target.name !== name) continue;
        const both = (autoscalerOf(other)?.resourceMetrics ?? []).filter((metric) =>
          controlled.includes(metric.name),
        );
        const [first] = both;
        if (first === undefined) continue;
        const names = [...new Set(both.map((metric) => metric.name))];
        report({
          at: changes.at,
          message: `${titleOf(resource)} (updateMode ${changes.mode}) sets the ${listWords(names)} requests of ${kind} "${textIn(targetRefOf(resource), 'name') ?? ''}", and ${titleOf(other)} scales on the same: each undoes what the other does`,
          related: [
            {
              resource: other,
              at: first.at ?? scalarIn(targetRefOf(other), 'name') ?? other.root,
              message: `${titleOf(other)} scales on ${first.name}${first.at === undefined ? ' (the default)' : ''}`,
            },
          ],
        });
        return;
      }
    }
  },
});

interface Changes {
  readonly mode: string;
  readonly at: Place;
}

/** How pods that run are changed; `undefined` when they are not, or that is only known later. */
function changesPods(resource: Resource): Changes | undefined {
  const spec = mapIn(resource.root, 'spec');
  const mode = scalarIn(spec, 'updatePolicy', 'updateMode');
  if (mode !== undefined && mode.value !== null) {
    // `off` without quotes is a boolean.
    const isPassive = mode.unknown || /^(off|initial|false)$/i.test(mode.text);
    return isPassive ? undefined : { mode: mode.text, at: mode };
  }
  const at = entryOf(spec, 'targetRef');
  if (at === undefined || !isPathAbsent(resource, resource.root, 'spec', 'updatePolicy', 'updateMode'))
    return undefined;
  return { mode: 'Auto, the default', at };
}

const all: readonly string[] = ['cpu', 'memory'];

/** What it may set on some container. Containers without a policy of their own follow that of `*`. */
function controlledResources(resource: Resource): readonly string[] {
  const policy = mapIn(resource.root, 'spec', 'resourcePolicy');
  const list = entryOf(policy, 'containerPolicies')?.value;
  if (policy === undefined || list === undefined)
    return isPathAbsent(resource, resource.root, 'spec', 'resourcePolicy', 'containerPolicies') ? all : [];
  if (list.kind !== 'sequence' || list.open) return [];
  const found = new Set<string>();
  let others = false;
  for (const item of itemsIn(list)) {
    if (!isMap(item)) return [];
    const name = textIn(item, 'containerName');
    others ||= name === '*';
    const mode = scalarIn(item, 'mode');
    if (mode !== undefined && (mode.unknown || /^(off|false)$/i.test(mode.text))) continue;
    const named = entryOf(item, 'controlledResources')?.value;
    if (named?.kind !== 'sequence') {
      if (isAbsent(resource, item, 'controlledResources')) for (const one of all) found.add(one);
      continue;
    }
    for (const one of named.items) if (isScalar(one) && !one.unknown) found.add(one.text);
  }
  // A list without `*` leaves the other containers to the default; whether there are any is not known here.
  return others || found.size > 0 ? [...found] : [];
}
