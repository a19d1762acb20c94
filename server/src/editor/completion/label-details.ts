/** What the values of a label are, for people who choose among them. */
interface LabelDetail {
  readonly detail: string;
  /** Its values are whole numbers, so that bounds make sense. */
  readonly numeric?: true;
  /** Asked for often, so listed first. */
  readonly common?: true;
}

/** By the name of the label without its provider's prefix, or in full where it has none. */
const details: Readonly<Record<string, LabelDetail>> = {
  'node.kubernetes.io/instance-type': { detail: 'instance type: g5.2xlarge', common: true },
  'topology.kubernetes.io/zone': { detail: 'availability zone: us-east-1a', common: true },
  'topology.kubernetes.io/region': { detail: 'region: us-east-1' },
  'topology.k8s.aws/zone-id': { detail: 'zone id, the same in all accounts: use1-az1' },
  'kubernetes.io/arch': { detail: 'architecture: amd64 or arm64', common: true },
  'kubernetes.io/os': { detail: 'operating system: linux or windows', common: true },
  'karpenter.sh/capacity-type': { detail: 'on-demand, spot or reserved', common: true },
  'karpenter.sh/nodepool': { detail: 'name of the NodePool', common: true },
  'node.kubernetes.io/windows-build': { detail: 'build of Windows: 10.0.20348' },
  'instance-category': { detail: 'first letters of the type: g, p, inf, trn', common: true },
  'instance-family': { detail: 'g5, g6e, p5, inf2', common: true },
  'instance-generation': { detail: 'number of the family: 5 of g5', numeric: true, common: true },
  'instance-size': { detail: 'xlarge, 12xlarge, metal', common: true },
  'instance-cpu': { detail: 'vCPUs', numeric: true, common: true },
  'instance-cpu-manufacturer': { detail: 'intel, amd or aws' },
  'instance-cpu-sustained-clock-speed-mhz': { detail: 'MHz', numeric: true },
  'instance-memory': { detail: 'MiB of memory', numeric: true, common: true },
  'instance-ebs-bandwidth': { detail: 'Mbit/s to EBS at most', numeric: true },
  'instance-network-bandwidth': { detail: 'baseline Mbit/s of network', numeric: true },
  'instance-local-nvme': { detail: 'GB of local NVMe', numeric: true },
  'instance-hypervisor': { detail: 'nitro, xen, or empty for metal' },
  'instance-encryption-in-transit-supported': { detail: 'true or false' },
  'instance-capability-flex': { detail: 'true for flex types' },
  'instance-tenancy': { detail: 'default or dedicated' },
  'instance-nitro-enclaves-supported': { detail: 'true or false' },
  'instance-gpu-name': { detail: 'a10g, l4, l40s, h100', common: true },
  'instance-gpu-manufacturer': { detail: 'nvidia, amd or habana' },
  'instance-gpu-count': { detail: 'GPUs of the type', numeric: true, common: true },
  'instance-gpu-memory': { detail: 'MiB of one GPU', numeric: true, common: true },
  'instance-accelerator-name': { detail: 'inferentia2, trainium' },
  'instance-accelerator-manufacturer': { detail: 'aws' },
  'instance-accelerator-count': { detail: 'Neuron devices of the type', numeric: true },
  'capacity-reservation-id': { detail: 'id of an On-Demand Capacity Reservation' },
  'capacity-reservation-type': { detail: 'default or capacity-block' },
  'capacity-reservation-interruptible': { detail: 'true or false' },
};

export function labelDetail(key: string): LabelDetail | undefined {
  return details[key] ?? details[key.replace(/^(?:karpenter\.k8s\.aws|eks\.amazonaws\.com)\//, '')];
}

/** Zones by region: the letters that accounts can see. AWS, "Regions and Zones". */
const zones: Readonly<Record<string, string>> = {
  'us-east-1': 'abcdef',
  'us-east-2': 'abc',
  'us-west-1': 'abc',
  'us-west-2': 'abcd',
  'ca-central-1': 'abd',
  'sa-east-1': 'abc',
  'eu-west-1': 'abc',
  'eu-west-2': 'abc',
  'eu-west-3': 'abc',
  'eu-central-1': 'abc',
  'eu-north-1': 'abc',
  'eu-south-1': 'abc',
  'ap-northeast-1': 'acd',
  'ap-northeast-2': 'abcd',
  'ap-south-1': 'abc',
  'ap-southeast-1': 'abc',
  'ap-southeast-2': 'abc',
};

export const regions: readonly string[] = Object.keys(zones);

export function zonesOf(region: string): readonly string[] {
  return [...(zones[region] ?? 'abc')].map((letter) => region + letter);
}

/** The region of a zone's name; `undefined` for zone ids and local zones. */
export function regionOfZone(zone: string): string | undefined {
  return /^([a-z]{2}(?:-[a-z]+)+-\d)[a-z]$/.exec(zone)?.[1];
}
