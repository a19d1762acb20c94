import type { Resource } from '../../kube/resource';
import {
  commentBehind,
  insertPath,
  removeEntry,
  renameKey,
  replaceScalar,
  type Edit,
  type Edits,
} from '../../yaml/edit';
import {
  entryOf,
  getIn,
  isMap,
  isNull,
  isScalar,
  mapIn,
  scalarIn,
  textIn,
  type Entry,
  type MapNode,
} from '../../yaml/node';
import { defineRule, type Fix, type Place, type Severity } from '../rule';

/** One field of an older version that the present one does not have. */
interface Outdated {
  readonly at: Place;
  readonly message: string;
  readonly fix?: Fix | undefined;
  readonly severity?: Severity;
}

export default defineRule({
  id: 'nodepool-outdated-field',
  summary: 'NodePool, NodeClaim and EC2NodeClass are written with the fields of karpenter.sh/v1',
  severity: 'error',
  needs: 'document',
  kinds: ['NodePool', 'NodeClaim', 'EC2NodeClass', 'Provisioner', 'AWSNodeTemplate', 'Machine'],
  fixable: 'suggest',
  apiServerRejects: true,
  check(resource, { report }) {
    for (const { at, message, fix, severity } of outdated(resource)) {
      report({ at, message, fixes: [fix], ...(severity === undefined ? {} : { severity }) });
    }
  },
});

/** What took the place of each kind of the alpha versions. */
const successor: Readonly<Record<string, string>> = {
  Provisioner: 'NodePool',
  AWSNodeTemplate: 'EC2NodeClass',
  Machine: 'NodeClaim',
};

function outdated(resource: Resource): readonly Outdated[] {
  if (resource.group !== 'karpenter.sh' && resource.group !== 'karpenter.k8s.aws') return [];
  const next = successor[resource.kind];
  const kind = scalarIn(resource.root, 'kind');
  if (next !== undefined && kind !== undefined) {
    return [
      {
        at: kind,
        message: `${resource.kind} was replaced by ${next} in Karpenter 0.32; Karpenter 1 ignores it`,
      },
    ];
  }
  if (resource.version === 'v1beta1') {
    const version = scalarIn(resource.root, 'apiVersion');
    // Fine on a cluster with an old Karpenter, which the file does not tell.
    return version === undefined
      ? []
      : [
          {
            at: version,
            message: `${resource.apiVersion} is not served since Karpenter 1.1`,
            severity: 'warning',
          },
        ];
  }
  if (resource.version !== 'v1') return [];
  switch (resource.kind) {
    case 'NodePool':
      return nodePool(resource);
    case 'NodeClaim':
      return nodeClassRef(resource, mapIn(resource.root, 'spec', 'nodeClassRef'));
    case 'EC2NodeClass':
      return nodeClass(resource);
    default:
      return [];
  }
}

/** Fields of the Provisioner, and where their successors are. */
const provisionerFields: Readonly<Record<string, string>> = {
  ttlSecondsAfterEmpty: 'disruption.consolidateAfter with consolidationPolicy WhenEmpty',
  ttlSecondsUntilExpired: 'template.spec.expireAfter',
  consolidation: 'disruption.consolidationPolicy',
  requirements: 'template.spec.requirements',
  taints: 'template.spec.taints',
  startupTaints: 'template.spec.startupTaints',
  labels: 'template.metadata.labels',
  annotations: 'template.metadata.annotations',
  provider: 'an EC2NodeClass',
  providerRef: 'template.spec.nodeClassRef',
  kubeletConfiguration: 'kubelet of the EC2NodeClass',
};

function nodePool(resource: Resource): readonly Outdated[] {
  const { document } = resource.placed;
  const found: Outdated[] = [];
  const spec = mapIn(resource.root, 'spec');
  for (const entry of spec?.entries ?? []) {
    const place = provisionerFields[entry.key.text];
    if (place === undefined || isNull(entry.value)) continue;
    found.push({
      at: entry,
      message: `spec.${entry.key.text} is a field of the Provisioner; a NodePool has ${place}, and the API server rejects it`,
    });
  }
  const limits = mapIn(spec, 'limits');
  const nested = entryOf(limits, 'resources');
  if (limits !== undefined && nested !== undefined && isMap(nested.value)) {
    found.push({
      at: nested,
      message:
        'spec.limits.resources is a field of the Provisioner; in a NodePool the amounts stand right below limits, so here nothing is limited',
      fix: made('Move the amounts right below limits', true, unnest(resource, limits, nested)),
    });
  }
  const disruption = mapIn(spec, 'disruption');
  const expire = entryOf(disruption, 'expireAfter');
  if (disruption !== undefined && expire !== undefined && !isNull(expire.value)) {
    found.push({
      at: expire,
      message:
        'spec.disruption.expireAfter moved to spec.template.spec.expireAfter in karpenter.sh/v1; the API server rejects it here',
      fix: made('Move expireAfter to template.spec', true, moveExpireAfter(resource, disruption, expire)),
    });
  }
  const policy = scalarIn(disruption, 'consolidationPolicy');
  if (policy !== undefined && !policy.unknown && policy.text === 'WhenUnderutilized') {
    found.push({
      at: policy,
      message:
        'consolidationPolicy WhenUnderutilized is called WhenEmptyOrUnderutilized in karpenter.sh/v1; the API server rejects it',
      fix: made(
        'Use WhenEmptyOrUnderutilized',
        true,
        replaceScalar(document, policy, 'WhenEmptyOrUnderutilized'),
      ),
    });
  }
  const template = mapIn(spec, 'template', 'spec');
  const kubelet = entryOf(template, 'kubelet');
  if (kubelet !== undefined && !isNull(kubelet.value)) {
    found.push({
      at: kubelet,
      message:
        'spec.template.spec.kubelet moved to spec.kubelet of the EC2NodeClass in karpenter.sh/v1; the API server rejects it here',
    });
  }
  return [...found, ...nodeClassRef(resource, mapIn(template, 'nodeClassRef'))];
}

function nodeClassRef(resource: Resource, reference: MapNode | undefined): readonly Outdated[] {
  const entry = entryOf(reference, 'apiVersion');
  if (reference === undefined || entry === undefined || !isScalar(entry.value) || isNull(entry.value))
    return [];
  const hasGroup = entryOf(reference, 'group') !== undefined;
  const group = entry.value.unknown ? undefined : entry.value.text.split('/')[0];
  const { document } = resource.placed;
  const edits = hasGroup
    ? removeEntry(document, reference, 'apiVersion')
    : group === undefined
      ? undefined
      : both(renameKey(document, entry, 'group'), replaceScalar(document, entry.value, group));
  return [
    {
      at: entry,
      message:
        'nodeClassRef names a group without a version in karpenter.sh/v1; the API server rejects apiVersion here',
      fix: made(hasGroup ? 'Remove apiVersion' : `Write group: ${group ?? ''}`, true, edits),
    },
  ];
}

/** Fields of AWSNodeTemplate and EC2NodeClass v1beta1 that v1 does not have. */
const nodeClassFields: Readonly<Record<string, string>> = {
  launchTemplate: 'the fields of the EC2NodeClass itself',
  launchTemplateName: 'the fields of the EC2NodeClass itself',
  subnetSelector: 'subnetSelectorTerms',
  securityGroupSelector: 'securityGroupSelectorTerms',
  amiSelector: 'amiSelectorTerms',
};

/** Families of AMIs that were never one, or are none any more, and what picks the GPU image instead. */
const amiFamilies: Readonly<Record<string, { readonly use: string; readonly why: string }>> = {
  AL2023_GPU: { use: 'AL2023', why: 'AL2023 picks its GPU image by itself' },
  AL2_GPU: { use: 'AL2', why: 'AL2 picks its GPU image by itself' },
  AL2023_x86_64_NVIDIA: {
    use: 'AL2023',
    why: 'that is a type of a managed node group; AL2023 picks its GPU image by itself',
  },
  BOTTLEROCKET_x86_64_NVIDIA: {
    use: 'Bottlerocket',
    why: 'that is a type of a managed node group; Bottlerocket picks its GPU image by itself',
  },
};

function nodeClass(resource: Resource): readonly Outdated[] {
  const found: Outdated[] = [];
  const spec = mapIn(resource.root, 'spec');
  for (const entry of spec?.entries ?? []) {
    const place = nodeClassFields[entry.key.text];
    if (place === undefined || isNull(entry.value)) continue;
    found.push({
      at: entry,
      message: `spec.${entry.key.text} is a field of an older version; an EC2NodeClass of karpenter.k8s.aws/v1 has ${place}, and the API server rejects it`,
    });
  }
  const family = scalarIn(spec, 'amiFamily');
  const known = family === undefined || family.unknown ? undefined : amiFamilies[family.text];
  if (family !== undefined && known !== undefined) {
    found.push({
      at: family,
      message: `amiFamily ${family.text} does not exist: ${known.why}; the API server rejects it`,
      fix: made(`Use ${known.use}`, false, replaceScalar(resource.placed.document, family, known.use)),
    });
  }
  return found;
}

function made(title: string, safe: boolean, edits: Edits): Fix | undefined {
  return edits === undefined ? undefined : { title, safe, edits };
}

function both(a: Edits, b: Edits): Edits {
  return a === undefined || b === undefined ? undefined : [...a, ...b];
}

/** Takes the key `resources` out, and its lines a level up; their text stays as it is. */
function unnest(resource: Resource, limits: MapNode, nested: Entry): Edits {
  const { text } = resource.placed.document;
  const inner = nested.value;
  if (!isMap(inner) || limits.borrowed || inner.borrowed || limits.open || inner.open) return undefined;
  if (limits.entries.length !== 1 || inner.entries.length === 0) return undefined;
  if (inner.flow) {
    if (limits.flow)
      return [{ start: limits.start, end: limits.end, newText: text.slice(inner.start, inner.end) }];
    // `limits:` in block style with `resources: {...}`: the braces stand alone in its place.
    return [{ start: nested.key.start, end: inner.start, newText: '' }];
  }
  const between = text.slice(nested.key.end, inner.start);
  const head = /^:[ \t]*/.exec(between)?.[0];
  if (head === undefined || !/^:\s*(#[^\r\n]*\s+)*$/.test(between)) return undefined;
  const columnOf = (offset: number): number => offset - lineStart(text, offset);
  const outdent = columnOf(inner.start) - columnOf(nested.key.start);
  // A comment behind the key stays where it is; without one, the first amount takes the key's place.
  const hasComment = between.includes('#');
  const from = hasComment ? nested.key.end + head.length : inner.start;
  const edits: Edit[] = [{ start: nested.key.start, end: from, newText: '' }];
  for (const match of text.slice(from, inner.end).matchAll(/(?:\r\n|\n|\r)( *)/g)) {
    const spaces = match[1] ?? '';
    const start = from + match.index + match[0].length - spaces.length;
    if (spaces.length >= outdent) edits.push({ start, end: start + outdent, newText: '' });
  }
  return edits;
}

function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

function moveExpireAfter(resource: Resource, disruption: MapNode, expire: Entry): Edits {
  const { document } = resource.placed;
  const value = textIn(disruption, 'expireAfter');
  if (value === undefined || !isScalar(expire.value)) return undefined;
  if (getIn(resource.root, 'spec', 'template', 'spec', 'expireAfter') !== undefined) return undefined;
  if (mapIn(resource.root, 'spec', 'template', 'spec') === undefined) return undefined;
  return both(
    removeEntry(document, disruption, 'expireAfter'),
    insertPath(document, resource.root, ['spec', 'template', 'spec', 'expireAfter'], value, {
      comment: commentBehind(document, expire),
    }),
  );
}
