import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';
import { familyParts, type InstanceType } from '../sizing/nodes/instances';
import { RemoteError } from './remote-error';

/** What is asked of AWS, and where. Credentials are those of the environment, as for the `aws` command. */
export interface AwsRequest {
  /** `us-east-1`. */
  readonly region: string;
  /** Other addresses of the services. */
  readonly ec2Endpoint?: string;
  readonly pricingEndpoint?: string;
  /** Milliseconds for each request. */
  readonly timeout?: number;
}

/** Regions in which the Pricing API itself runs; it tells the prices of all. */
const pricingRegions: readonly string[] = ['us-east-1', 'eu-central-1', 'ap-south-1'];

/**
 * Reads the instance types of a region with `ec2:DescribeInstanceTypes`, and their on-demand prices with
 * `pricing:GetProducts`.
 *
 * @throws {RemoteError} with a message for the user.
 */
export async function readInstanceTypes(request: AwsRequest): Promise<readonly InstanceType[]> {
  if (!/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(request.region)) {
    throw new RemoteError(`"${request.region}" is no region of AWS; it is written as us-east-1`);
  }
  // Which Node the program runs on is nothing that its user chose.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const types = await told('ec2:DescribeInstanceTypes', request, () => describedTypes(request));
  const prices = await told('pricing:GetProducts', request, () => onDemandPrices(request));
  return types.flatMap((info) => instanceTypeOf(info, prices) ?? []);
}

async function describedTypes(request: AwsRequest): Promise<readonly InstanceTypeInfo[]> {
  const { EC2Client, paginateDescribeInstanceTypes } = await import('@aws-sdk/client-ec2');
  const client = new EC2Client({
    region: request.region,
    maxAttempts: 3,
    requestHandler: { requestTimeout: request.timeout ?? 30_000, connectionTimeout: 10_000 },
    ...(request.ec2Endpoint === undefined ? {} : { endpoint: request.ec2Endpoint }),
  });
  try {
    const found: InstanceTypeInfo[] = [];
    for await (const page of paginateDescribeInstanceTypes({ client, pageSize: 100 }, {})) {
      found.push(...(page.InstanceTypes ?? []));
    }
    return found;
  } finally {
    client.destroy();
  }
}

/** USD per hour by instance type. */
async function onDemandPrices(request: AwsRequest): Promise<ReadonlyMap<string, number>> {
  const { PricingClient, paginateGetProducts } = await import('@aws-sdk/client-pricing');
  const client = new PricingClient({
    region: pricingRegions.includes(request.region) ? request.region : 'us-east-1',
    maxAttempts: 3,
    requestHandler: { requestTimeout: request.timeout ?? 30_000, connectionTimeout: 10_000 },
    ...(request.pricingEndpoint === undefined ? {} : { endpoint: request.pricingEndpoint }),
  });
  const equal = (Field: string, Value: string): { Type: 'TERM_MATCH'; Field: string; Value: string } => ({
    Type: 'TERM_MATCH',
    Field,
    Value,
  });
  try {
    const prices = new Map<string, number>();
    const pages = paginateGetProducts(
      { client, pageSize: 100 },
      {
        ServiceCode: 'AmazonEC2',
        Filters: [
          equal('regionCode', request.region),
          equal('operatingSystem', 'Linux'),
          equal('tenancy', 'Shared'),
          equal('preInstalledSw', 'NA'),
          equal('capacitystatus', 'Used'),
          equal('licenseModel', 'No License required'),
        ],
      },
    );
    for await (const page of pages) {
      for (const product of page.PriceList ?? []) {
        const found = priceOf(String(product));
        if (found !== undefined) prices.set(found.name, found.usd);
      }
    }
    return prices;
  } finally {
    client.destroy();
  }
}

interface Product {
  readonly product?: { readonly attributes?: { readonly instanceType?: unknown } };
  readonly terms?: {
    readonly OnDemand?: Readonly<
      Record<
        string,
        {
          readonly priceDimensions?: Readonly<
            Record<string, { readonly unit?: unknown; readonly pricePerUnit?: { readonly USD?: unknown } }>
          >;
        }
      >
    >;
  };
}

/** One product of the price list, which is JSON in a text. */
function priceOf(text: string): { readonly name: string; readonly usd: number } | undefined {
  let read: Product;
  try {
    read = JSON.parse(text) as Product;
  } catch {
    return undefined;
  }
  const name = read.product?.attributes?.instanceType;
  const dimensions = Object.values(read.terms?.OnDemand ?? {}).flatMap(({ priceDimensions }) =>
    Object.values(priceDimensions ?? {}),
  );
  const hourly = dimensions.find(({ unit }) => unit === 'Hrs')?.pricePerUnit?.USD;
  const usd = typeof hourly === 'string' ? Number(hourly) : NaN;
  return typeof name === 'string' && usd > 0 ? { name, usd } : undefined;
}

/** As Karpenter writes names into labels. */
function labelOf(name: string | undefined): string {
  return (name ?? '').trim().toLowerCase().replace(/\s+/g, '-');
}

const makers = new Map<string, 'intel' | 'amd' | 'aws'>([
  ['intel', 'intel'],
  ['amd', 'amd'],
  ['aws', 'aws'],
]);

/** A type as EC2 describes it; `undefined` where its name or its figures are of no form that is known. */
export function instanceTypeOf(
  info: InstanceTypeInfo,
  prices: ReadonlyMap<string, number>,
): InstanceType | undefined {
  const name = info.InstanceType ?? '';
  const dot = name.indexOf('.');
  const family = name.slice(0, dot);
  const parts = familyParts(family);
  const architectures = info.ProcessorInfo?.SupportedArchitectures ?? [];
  const arch = architectures.includes('arm64')
    ? 'arm64'
    : architectures.includes('x86_64')
      ? 'amd64'
      : undefined;
  const vcpu = info.VCpuInfo?.DefaultVCpus;
  const memoryMiB = info.MemoryInfo?.SizeInMiB;
  if (dot < 1 || parts === undefined || arch === undefined || vcpu === undefined || memoryMiB === undefined) {
    return undefined;
  }
  const maker = makers.get(labelOf(info.ProcessorInfo?.Manufacturer));
  const network = info.NetworkInfo;
  const cards = network?.NetworkCards ?? [];
  const main =
    cards.find((card) => card.NetworkCardIndex === (network?.DefaultNetworkCardIndex ?? 0)) ?? cards[0];
  const gigabits = cards.reduce((sum, card) => sum + (card.BaselineBandwidthInGbps ?? 0), 0);
  const nvmeGB =
    info.InstanceStorageInfo?.NvmeSupport === 'unsupported'
      ? undefined
      : info.InstanceStorageInfo?.TotalSizeInGB;
  const ebsMbps = info.EbsInfo?.EbsOptimizedInfo?.MaximumBandwidthInMbps;
  const total = network?.MaximumNetworkInterfaces;
  const onDemandPrice = prices.get(name);
  return {
    name,
    family,
    size: name.slice(dot + 1),
    category: parts.category,
    generation: parts.generation,
    arch,
    hypervisor: info.BareMetal === true ? '' : info.Hypervisor === 'xen' ? 'xen' : 'nitro',
    ...(maker === undefined ? {} : { cpuManufacturer: maker }),
    vcpu,
    memoryMiB,
    ...devicesOf(info),
    ...(nvmeGB === undefined || nvmeGB === 0 ? {} : { nvmeGB }),
    ...(gigabits === 0 ? {} : { networkMbps: Math.round(gigabits * 1000) }),
    ...(ebsMbps === undefined ? {} : { ebsMbps }),
    efaInterfaces: network?.EfaInfo?.MaximumEfaInterfaces ?? 0,
    interfaces: {
      ...(total === undefined ? {} : { total }),
      ipv4Each: network?.Ipv4AddressesPerInterface ?? 0,
      ...(network?.MaximumNetworkCards === undefined ? {} : { networkCards: network.MaximumNetworkCards }),
      onDefaultCard: main?.MaximumNetworkInterfaces ?? total ?? 0,
    },
    ...(onDemandPrice === undefined ? {} : { onDemandPrice }),
  };
}

function devicesOf(info: InstanceTypeInfo): Partial<Pick<InstanceType, 'gpus' | 'accelerators'>> {
  const [gpu] = info.GpuInfo?.Gpus ?? [];
  if (gpu !== undefined) {
    const manufacturer = labelOf(gpu.Manufacturer);
    if (manufacturer !== 'nvidia' && manufacturer !== 'amd' && manufacturer !== 'habana') return {};
    return {
      gpus: {
        name: labelOf(gpu.Name),
        manufacturer,
        count: gpu.Count ?? 0,
        memoryMiBEach: gpu.MemoryInfo?.SizeInMiB ?? 0,
      },
    };
  }
  const [neuron] = info.NeuronInfo?.NeuronDevices ?? [];
  if (neuron !== undefined) {
    return {
      accelerators: {
        name: labelOf(neuron.Name),
        manufacturer: 'aws',
        devices: neuron.Count ?? 0,
        ...(neuron.CoreInfo?.Count === undefined ? {} : { coresPerDevice: neuron.CoreInfo.Count }),
        ...(neuron.MemoryInfo?.SizeInMiB === undefined
          ? {}
          : { memoryMiBPerDevice: neuron.MemoryInfo.SizeInMiB }),
      },
    };
  }
  const [other] = info.InferenceAcceleratorInfo?.Accelerators ?? [];
  const manufacturer = labelOf(other?.Manufacturer);
  return other === undefined || (manufacturer !== 'aws' && manufacturer !== 'qualcomm')
    ? {}
    : { accelerators: { name: labelOf(other.Name), manufacturer, devices: other.Count ?? 0 } };
}

/** Turns what went wrong into a sentence that says what to do. Credentials are in none of it. */
async function told<T>(action: string, { region }: AwsRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { name } = error;
    const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata
      ?.httpStatusCode;
    if (/^(?:CredentialsProviderError|TokenProviderError)$/.test(name)) {
      throw new RemoteError('there are no AWS credentials; set AWS_PROFILE, or sign in with aws sso login');
    }
    if (
      /^(?:ExpiredToken|RequestExpired|ExpiredTokenException|UnrecognizedClientException|InvalidClientTokenId|AuthFailure|SignatureDoesNotMatch)/.test(
        name,
      )
    ) {
      throw new RemoteError(`AWS does not take the credentials (${name}); sign in again`);
    }
    if (/^(?:UnauthorizedOperation|AccessDenied)/.test(name)) {
      throw new RemoteError(`the credentials may not call ${action}; allow it, and read again`);
    }
    if (/^(?:Throttling|RequestLimitExceeded|TooManyRequests)/.test(name)) {
      throw new RemoteError(`AWS has had too many requests for ${action}; try again later`);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (name === 'TimeoutError' || code === 'ETIMEDOUT') {
      throw new RemoteError(
        `AWS in ${region} did not answer ${action} in time; check the network and its proxy`,
      );
    }
    if (typeof code === 'string' && /^E[A-Z_]+$/.test(code)) {
      throw new RemoteError(
        `AWS in ${region} cannot be reached (${code}); check the network, its proxy and the region`,
      );
    }
    if (status !== undefined) {
      throw new RemoteError(`AWS answered ${action} with status ${status} (${name})`);
    }
    throw error;
  }
}
