import { dnsSubdomain, pathSegment } from '../../kube/names';
import { listIn, partIn, partsIn, textAt, type Part } from '../../kube/part';
import { entryOf } from '../../yaml/node';
import { shown, type Inspection } from './inspection';
import { checkSelector } from './selector';

export function checkRole(cx: Inspection, root: Part): void {
  for (const rule of partsIn(root, 'rules')) checkRule(cx, rule);
  const aggregation = partIn(root, 'aggregationRule');
  if (aggregation !== undefined && cx.isCertain && cx.lacksItems(aggregation, 'clusterRoleSelectors'))
    cx.missing(aggregation, 'clusterRoleSelectors', 'The list of selectors of the aggregation');
  for (const selector of partsIn(aggregation, 'clusterRoleSelectors'))
    checkSelector(cx, selector, 'the selector of the aggregation');
}

function checkRule(cx: Inspection, rule: Part): void {
  if (!cx.isCertain) return;
  const urls = listIn(rule, 'nonResourceURLs');
  if (urls !== undefined && urls.items.length > 0) {
    const at = entryOf(rule.map, 'nonResourceURLs') ?? rule.place;
    if (cx.resource.kind === 'Role')
      cx.add(
        'field-not-allowed',
        at,
        'A Role is about the objects of its namespace, and not about nonResourceURLs',
      );
    else if (
      ['apiGroups', 'resources', 'resourceNames'].some((key) => (listIn(rule, key)?.items.length ?? 0) > 0)
    )
      cx.add('field-not-allowed', at, 'A rule has both resources and nonResourceURLs, and takes one');
    return;
  }
  if (!cx.lacksItems(rule, 'nonResourceURLs')) return;
  if (cx.lacksItems(rule, 'apiGroups'))
    cx.missing(rule, 'apiGroups', 'The list of apiGroups of a rule ("" is the group of pods and Services)');
  if (cx.lacksItems(rule, 'resources')) cx.missing(rule, 'resources', 'The list of resources of a rule');
}

export function checkRoleBinding(cx: Inspection, root: Part): void {
  const inCluster = cx.resource.kind === 'ClusterRoleBinding';
  const role = partIn(root, 'roleRef');
  if (role !== undefined) {
    if (inCluster) cx.oneOf(role, 'kind', ['ClusterRole'], 'The kind of the role of a ClusterRoleBinding');
    cx.form(role, 'name', pathSegment, 'Name of the role');
  }
  for (const subject of partsIn(root, 'subjects')) checkSubject(cx, subject, inCluster);
}

/** What the API server wants of a ServiceAccount, which is an object; users and groups are but names. */
function checkSubject(cx: Inspection, subject: Part, inCluster: boolean): void {
  if (textAt(subject, 'kind')?.text !== 'ServiceAccount') return;
  cx.form(subject, 'name', dnsSubdomain, 'Name of the ServiceAccount');
  const api = textAt(subject, 'apiGroup');
  if (api !== undefined && api.text !== '') {
    cx.add(
      'value-unsupported',
      api.node,
      `The apiGroup of a ServiceAccount is "", and not ${shown(api.text)}`,
      { fixes: [cx.removal(subject, 'apiGroup', 'Remove apiGroup')] },
    );
  }
  if (inCluster && cx.isCertain && cx.lacksText(subject, 'namespace'))
    cx.missing(subject, 'namespace', 'Namespace of the ServiceAccount');
}
