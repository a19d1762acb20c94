import { readAmounts, containers, type Container, type ResourceAmount } from '../../kube/containers';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { allRequirements } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { renameKey, type Edit } from '../../yaml/edit';
import { mapIn, type MapNode } from '../../yaml/node';
import { nearest } from '../nearest';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Fix, type Report } from '../rule';

export default defineRule({
  id: 'neuron-resource-unknown',
  summary: 'Neuron, EFA and MIG resources have the names that their device plugins offer',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier', 'NodePool'],
  fixable: 'suggest',
  check(resource, { report }) {
    if (resource.kind === 'NodePool') {
      const limits = mapIn(resource.root, 'spec', 'limits');
      for (const amount of resource.group === 'karpenter.sh' ? readAmounts(limits) : []) {
        const about = misnamed(amount.name, true);
        if (about === undefined) continue;
        report({
          at: amount.entry,
          message: `NodePool "${resource.name ?? ''}" limits ${amount.name}, ${about.why}: the limit never holds`,
          severity: 'warning',
          fixes: [fix(resource, [limits], amount.name, about.instead)],
        });
      }
      return;
    }
    for (const template of podTemplates(resource)) {
      const karpenter = isForKarpenter(template);
      for (const container of containers(template)) checkContainer(container, karpenter, report);
    }
  },
});

function checkContainer(container: Container, karpenter: boolean, report: (report: Report) => void): void {
  const seen = new Set<string>();
  // Of a name in both places the limit is shown, which is what a device is asked for with.
  const amounts: readonly ResourceAmount[] = [...container.limits, ...container.requests];
  for (const { name, entry } of amounts) {
    const about = misnamed(name, karpenter);
    if (about === undefined || seen.has(name)) continue;
    seen.add(name);
    const maps = [mapIn(container.resources, 'limits'), mapIn(container.resources, 'requests')];
    report({
      at: entry,
      message: `${containerTitle(container)} asks for ${name}, ${about.why}: the pod stays pending`,
      severity: about.still ? 'warning' : 'error',
      ...containerField(container),
      fixes: [fix(container.template.resource, maps, name, about.instead)],
    });
  }
}

interface Misnamed {
  readonly why: string;
  readonly instead: string | undefined;
  /** Some nodes may still offer it. */
  readonly still: boolean;
}

/** What the device plugins of AWS Neuron, EFA and the VPC CNI offer. */
const offered: readonly string[] = [
  'aws.amazon.com/neuron',
  'aws.amazon.com/neuroncore',
  'vpc.amazonaws.com/efa',
  'vpc.amazonaws.com/pod-eni',
  'vpc.amazonaws.com/PrivateIPv4Address',
  'vpc.amazonaws.com/CIDRBlock',
];

/** Domains that are AWS's, or written for it. */
const ofAws = /^(?:[\w-]+\.)*(?:amazon\.com|amazonaws\.com|aws\.com|aws)$/;

/** A MIG profile, with compute instances and attributes (`1c.3g.20gb`, `1g.10gb.me`). */
const migProfile = /^mig-(?:\d+c\.)?\d+g\.\d+gb(?:[.+-][a-z.]+)?$/;

function misnamed(name: string, karpenter: boolean): Misnamed | undefined {
  if (offered.includes(name)) return undefined;
  const slash = name.indexOf('/');
  const domain = slash < 0 ? '' : name.slice(0, slash);
  const device = name.slice(slash + 1);
  if (name === 'aws.amazon.com/neurondevice') {
    const instead = 'aws.amazon.com/neuron';
    return karpenter
      ? {
          why: `which Karpenter does not know (the Neuron device plugin calls it ${instead})`,
          instead,
          still: false,
        }
      : {
          why: `the old name of ${instead}, which newer Neuron device plugins do not offer`,
          instead,
          still: true,
        };
  }
  if (domain === 'nvidia.com') return misnamedNvidia(device);
  if (!ofAws.test(domain) && domain !== '') return undefined;
  if (domain === '' && !/^(?:neuron|efa)/i.test(device)) return undefined;
  const instead = meant(device);
  return instead === undefined
    ? undefined
    : { why: `which no node offers (${instead} is meant)`, instead, still: false };
}

/** The resource that a name speaks of. */
function meant(device: string): string | undefined {
  if (/core/i.test(device) && /neuron/i.test(device)) return 'aws.amazon.com/neuroncore';
  if (/neuron|inferentia|trainium/i.test(device)) return 'aws.amazon.com/neuron';
  if (/^efa/i.test(device) || /[-_.]efa$/i.test(device)) return 'vpc.amazonaws.com/efa';
  const near = nearest(
    device,
    offered.map((name) => name.slice(name.indexOf('/') + 1)),
  );
  return near === undefined ? undefined : offered.find((name) => name.endsWith(`/${near}`));
}

function misnamedNvidia(device: string): Misnamed | undefined {
  if (/^gpus$/i.test(device) || (/^gpu$/i.test(device) && device !== 'gpu')) {
    const instead = 'nvidia.com/gpu';
    return { why: `which no node offers (${instead} is meant)`, instead, still: false };
  }
  if (!/^mig\b/i.test(device) || migProfile.test(device)) return undefined;
  const parts = /^mig[-_.]?(\d+)g[-_.]?(\d+)g?b?$/i.exec(device);
  const instead = parts === null ? undefined : `nvidia.com/mig-${parts[1] ?? ''}g.${parts[2] ?? ''}gb`;
  return {
    why: `which is no name of a MIG profile (${instead ?? 'nvidia.com/mig-1g.10gb'} ${instead === undefined ? 'is one' : 'is meant'})`,
    instead,
    still: false,
  };
}

/** Labels or annotations of Karpenter in the pod. */
function isForKarpenter(template: PodTemplate): boolean {
  const ofKarpenter = (key: string): boolean => /^(?:karpenter\.|eks\.amazonaws\.com\/instance-)/.test(key);
  return (
    allRequirements(template).some(({ key }) => ofKarpenter(key)) ||
    [...template.annotations.values.keys()].some(ofKarpenter)
  );
}

/** Renames the key wherever the container has it. */
function fix(
  resource: Resource,
  maps: readonly (MapNode | undefined)[],
  name: string,
  instead: string | undefined,
): Fix | undefined {
  if (instead === undefined) return undefined;
  const edits: Edit[] = [];
  for (const map of maps) {
    const entry = map?.entries.find(({ key }) => key.text === name);
    if (map === undefined || entry === undefined) continue;
    if (map.entries.some(({ key }) => key.text === instead)) return undefined;
    const rename = renameKey(resource.placed.document, entry, instead);
    if (rename === undefined) return undefined;
    edits.push(...rename);
  }
  return edits.length === 0 ? undefined : { title: `Ask for ${instead}`, safe: false, edits };
}
