import { otherCloud } from '../../kube/clouds';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { renameKey } from '../../yaml/edit';
import { mapIn, type MapNode } from '../../yaml/node';
import { defineRule, type Report, type Severity } from '../rule';
import { demandedLabels, requiredLabels, softLabels, type LabelPlace } from './label-places';
import { renamedLabels } from './node-labels';

export default defineRule({
  id: 'outdated-node-label',
  summary: 'Labels and annotations of nodes have the names that Karpenter and Kubernetes use today',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier', 'NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.kind === 'NodePool') {
      if (resource.group !== 'karpenter.sh') return;
      for (const place of requiredLabels(resource)) reportLabel(place, 'decides', report);
      reportAnnotations(
        resource,
        mapIn(resource.root, 'spec', 'template', 'metadata', 'annotations'),
        report,
      );
      return;
    }
    const karpenter = workspace.near(resource, 'NodePool', 'karpenter.sh').length > 0;
    for (const template of podTemplates(resource)) {
      reportAnnotations(resource, mapIn(template.metadata, 'annotations'), report);
      if (otherCloud(template) !== undefined) continue;
      const weight = karpenter ? 'decides' : 'decides on some nodes';
      for (const place of demandedLabels(template)) reportLabel(place, weight, report);
      for (const place of softLabels(template)) reportLabel(place, 'prefers', report);
    }
    if (podTemplates(resource).every(({ metadata }) => metadata !== mapIn(resource.root, 'metadata'))) {
      reportAnnotations(resource, mapIn(resource.root, 'metadata', 'annotations'), report);
    }
  },
});

interface Fate {
  readonly why: string;
  /** An error where nothing else is said. */
  readonly severity?: Severity;
  /** The cloud controller still writes it on nodes of Auto Scaling groups. */
  readonly ofNodeGroups?: boolean;
}

/** What became of a label. */
const told: Readonly<Record<string, Fate>> = {
  'karpenter.sh/provisioner-name': {
    why: 'Karpenter 0.32 replaced Provisioners by NodePools, and no node carries it any more',
  },
  'beta.kubernetes.io/instance-type': {
    why: 'it was replaced in Kubernetes 1.17, and nodes that Karpenter launches on EKS 1.26 and later lack it',
    ofNodeGroups: true,
  },
  'failure-domain.beta.kubernetes.io/zone': {
    why: 'it was replaced in Kubernetes 1.17, and nodes that Karpenter launches on EKS 1.26 and later lack it',
    ofNodeGroups: true,
  },
  'failure-domain.beta.kubernetes.io/region': {
    why: 'it was replaced in Kubernetes 1.17, and nodes that Karpenter launches on EKS 1.26 and later lack it',
    ofNodeGroups: true,
  },
  'beta.kubernetes.io/arch': {
    why: 'it was replaced in Kubernetes 1.14 and still works, until the kubelet stops writing it',
    severity: 'warning',
  },
  'beta.kubernetes.io/os': {
    why: 'it was replaced in Kubernetes 1.14 and still works, until the kubelet stops writing it',
    severity: 'warning',
  },
};

/** `prefers`: a preference or a spread, which keeps no pod from running. `decides on some nodes`: no NodePool is known. */
type Weight = 'decides' | 'decides on some nodes' | 'prefers';

function reportLabel(place: LabelPlace, weight: Weight, report: (report: Report) => void): void {
  const to = renamedLabels[place.key];
  const about = told[place.key];
  if (to === undefined || about === undefined) return;
  const edits = place.rename(to);
  const mild = weight === 'prefers' || (weight === 'decides on some nodes' && about.ofNodeGroups === true);
  const severity = about.severity ?? (mild ? 'warning' : undefined);
  report({
    at: place.node,
    message: `${place.key} is called ${to} today: ${about.why}`,
    ...(severity !== undefined && { severity }),
    fixes: [edits === undefined ? undefined : { title: `Use ${to}`, safe: true, edits }],
  });
}

/** Annotations that became `karpenter.sh/do-not-disrupt`, which blocks more than consolidation. */
const annotations: Readonly<Record<string, { readonly why: string; readonly same: boolean }>> = {
  'karpenter.sh/do-not-evict': { why: 'Karpenter 0.32 renamed it, and later versions ignore it', same: true },
  'karpenter.sh/do-not-consolidate': {
    why: 'Karpenter 0.32 put it in one with others, and later versions ignore it',
    same: false,
  },
};

const doNotDisrupt = 'karpenter.sh/do-not-disrupt';

function reportAnnotations(
  resource: Resource,
  map: MapNode | undefined,
  report: (report: Report) => void,
): void {
  for (const entry of map?.entries ?? []) {
    const about = annotations[entry.key.text];
    if (about === undefined || entry.key.unknown) continue;
    const exists = map?.entries.some(({ key }) => key.text === doNotDisrupt) === true;
    const edits = exists ? undefined : renameKey(resource.placed.document, entry, doNotDisrupt);
    report({
      at: entry,
      message: `${entry.key.text} is ${doNotDisrupt} today: ${about.why}, so the pod can be disrupted`,
      fixes: [edits === undefined ? undefined : { title: `Use ${doNotDisrupt}`, safe: about.same, edits }],
    });
  }
}
