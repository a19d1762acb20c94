import type { Resource } from '../../kube/resource';
import { isPathAbsent } from '../../kube/resource';
import { titleOf } from '../../rules/naming';
import { entryOf, getIn, isMap, isScalar, itemsIn, mapIn, textIn, type MapNode } from '../../yaml/node';
import { failing, worst, type Answer, type Subject } from './subject';

export function topologySpread(subject: Subject): Answer {
  const { resource, templates, least } = subject;
  const found = failing(subject, ['topology-spread-selects-nothing', 'missing-topology-spread']);
  if (found !== undefined) return found;
  const answers = templates.map((template): Answer => {
    const constraints = itemsIn(template.spec, 'topologySpreadConstraints').filter(isMap);
    const list = entryOf(template.spec, 'topologySpreadConstraints');
    if (constraints.length > 0) {
      const keys = [
        ...new Set(
          constraints.map((item) => textIn(item, 'topologyKey') ?? 'a key that is only known later'),
        ),
      ];
      return {
        state: 'pass',
        fact: `Its pods are spread over ${keys.join(' and ')}`,
        place: { resource, at: list ?? template.spec },
      };
    }
    const anti = mapIn(template.spec, 'affinity', 'podAntiAffinity');
    if (anti !== undefined && anti.entries.length > 0) {
      return {
        state: 'pass',
        fact: 'Its pods keep away from each other (podAntiAffinity)',
        place: { resource, at: anti },
      };
    }
    if (least !== undefined && least < 2) return single(least);
    const absent = isPathAbsent(resource, template.spec, 'topologySpreadConstraints');
    return {
      state: absent && least !== undefined && !template.operatorOwned ? 'fail' : 'unknown',
      fact: absent
        ? least === undefined
          ? 'Nothing spreads its pods, and how many there are is only known later'
          : 'Nothing spreads its pods over zones'
        : 'How its pods are spread is only known later',
      place: { resource, at: template.spec },
    };
  });
  return worst(answers) ?? { state: 'unknown', fact: 'Its pods are only known later' };
}

function single(least: number): Answer {
  return {
    state: 'not-applicable',
    fact: least === 0 ? 'It runs with no replica while nobody asks' : 'It runs with one replica',
  };
}

export function disruptionBudget(subject: Subject): Answer {
  const { workspace, resource, least } = subject;
  const budgets = workspace.references(resource).disruptionBudgets;
  const certain = budgets.filter(({ match }) => match === 'yes').map((budget) => budget.resource);
  const found =
    failing(subject, ['pdb-blocks-drain', 'pdbs-overlap', 'pdb-below-two', 'pdb-both-bounds'], certain) ??
    failing(subject, ['missing-pdb']);
  if (found !== undefined) return found;
  const [budget] = certain;
  if (budget !== undefined) {
    const bounds = ['minAvailable', 'maxUnavailable'].flatMap((key) => {
      const value = getIn(budget.root, 'spec', key);
      return isScalar(value) ? [`${key} ${value.unknown ? 'only known later' : value.text}`] : [];
    });
    return {
      state: 'pass',
      fact: `${titleOf(budget)} protects it: ${bounds.join(', ') || 'with no bound'}`,
      place: { resource: budget, at: getIn(budget.root, 'spec') ?? budget.root },
    };
  }
  if (budgets.length > 0)
    return { state: 'unknown', fact: 'Whether a PodDisruptionBudget selects its pods is only known later' };
  if (least !== undefined && least < 2) return single(least);
  return least === undefined
    ? { state: 'unknown', fact: 'How many replicas it has is only known later' }
    : {
        state: subject.templates.some(({ operatorOwned }) => operatorOwned) ? 'unknown' : 'fail',
        fact: 'No PodDisruptionBudget in these files selects its pods',
        place: { resource, at: getIn(resource.root, 'metadata', 'name') ?? resource.root },
      };
}

/** What an alert has to look at to be the one that is meant: names of metrics in its expression. */
const watched: Readonly<Record<'scaling' | 'launch' | 'maximum', readonly RegExp[]>> = {
  // kube-state-metrics, and KEDA's own.
  scaling: [
    /\bkube_horizontalpodautoscaler_status_condition\b/,
    /\bkube_horizontalpodautoscaler_status_desired_replicas\b(?![^]*\bkube_horizontalpodautoscaler_spec_max_replicas\b)/,
    /\bkeda_(scaler|scaled_object)_errors(_total)?\b/,
    /\bkeda_scaler_active\b/,
  ],
  // Karpenter, the cluster autoscaler, and pods that wait.
  launch: [
    /\bkarpenter_nodeclaims_\w+/,
    /\bkarpenter_cloudprovider_errors_total\b/,
    /\bkarpenter_(nodes|pods|scheduler|provisioner)_\w+/,
    /\bcluster_autoscaler_(failed_scale_ups_total|unschedulable_pods_count)\b/,
    /\b(kube_pod_status_unschedulable|scheduler_pending_pods)\b/,
    /\bkube_pod_status_phase\b[^]*Pending/,
  ],
  maximum: [/\bkube_horizontalpodautoscaler_spec_max_replicas\b/],
};

interface Alert {
  readonly resource: Resource;
  readonly node: MapNode;
  readonly name: string;
  readonly expression: string;
}

/** Alerts watch a whole cluster, so those of all files count. */
function alertsOf({ workspace }: Subject): readonly Alert[] {
  return workspace.byKind('PrometheusRule', 'monitoring.coreos.com').flatMap((resource) =>
    itemsIn(resource.root, 'spec', 'groups').flatMap((group) =>
      itemsIn(group, 'rules').flatMap((node) => {
        if (!isMap(node)) return [];
        const name = textIn(node, 'alert');
        const expression = textIn(node, 'expr');
        return name === undefined || expression === undefined ? [] : [{ resource, node, name, expression }];
      }),
    ),
  );
}

function alarm(subject: Subject, what: keyof typeof watched, words: string): Answer {
  const alerts = alertsOf(subject);
  const found = alerts.find(({ expression }) => watched[what].some((pattern) => pattern.test(expression)));
  if (found !== undefined) {
    return {
      state: 'pass',
      fact: `Alert ${found.name} of ${titleOf(found.resource)} watches it`,
      place: { resource: found.resource, at: entryOf(found.node, 'alert') ?? found.node },
    };
  }
  return alerts.length === 0
    ? {
        state: 'unknown',
        fact: `These files hold no PrometheusRule with alerts; an alarm for ${words} may stand elsewhere, as in CloudWatch`,
      }
    : {
        state: 'fail',
        fact: `None of the ${alerts.length} alerts in these files watches ${words}`,
      };
}

export function alarmScaling(subject: Subject): Answer {
  return scaled(subject) ?? alarm(subject, 'scaling', 'an autoscaler that cannot scale');
}

export function alarmNodeLaunch(subject: Subject): Answer {
  return alarm(subject, 'launch', 'nodes that are not launched, or pods that wait for them');
}

export function alarmAtMaximum(subject: Subject): Answer {
  return scaled(subject) ?? alarm(subject, 'maximum', 'an autoscaler at its maximum');
}

/** Nothing to watch where nothing scales. */
function scaled({ autoscalers, mayBeScaled, operator }: Subject): Answer | undefined {
  return autoscalers.length === 0 && !mayBeScaled && operator === undefined
    ? { state: 'not-applicable', fact: 'No autoscaler in these files targets it' }
    : undefined;
}
