import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A type as the tests describe it, as little as an answer of EC2 needs. */
export interface TestType {
  readonly name: string;
  readonly vcpu: number;
  readonly memoryMiB: number;
  readonly arch?: 'x86_64' | 'arm64';
  readonly maker?: string;
  readonly gpu?: {
    readonly name: string;
    readonly maker: string;
    readonly count: number;
    readonly memoryMiB: number;
  };
  readonly neuron?: {
    readonly name: string;
    readonly count: number;
    readonly cores: number;
    readonly memoryMiB: number;
  };
  readonly nvmeGB?: number;
  readonly efa?: number;
  /** USD per hour; absent: not in the price list. */
  readonly price?: number;
}

export interface TestAws {
  readonly url: string;
  /** Actions that were called, in order. */
  readonly calls: readonly string[];
  close(): Promise<void>;
}

/**
 * EC2's and Pricing's answers on the loopback interface, two to a page.
 *
 * @param answer stands in for all answers: an error of the service, by its code.
 */
export async function startAws(
  types: readonly TestType[],
  answer?: { readonly status: number; readonly code: string },
): Promise<TestAws> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    void body(request).then((text) => {
      const target = request.headers['x-amz-target'];
      const isPricing = typeof target === 'string';
      calls.push(
        isPricing ? String(target).replace(/^.*\./, '') : (new URLSearchParams(text).get('Action') ?? ''),
      );
      if (answer !== undefined) {
        response.writeHead(answer.status, {
          'content-type': isPricing ? 'application/x-amz-json-1.1' : 'text/xml',
        });
        response.end(
          isPricing
            ? JSON.stringify({ __type: answer.code, message: 'no' })
            : `<Response><Errors><Error><Code>${answer.code}</Code><Message>no</Message></Error></Errors><RequestID>1</RequestID></Response>`,
        );
        return;
      }
      if (isPricing) {
        const { NextToken } = JSON.parse(text) as { NextToken?: string };
        const start = Number(NextToken ?? 0);
        const priced = types.filter(({ price }) => price !== undefined);
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
        response.end(
          JSON.stringify({
            FormatVersion: 'aws_v1',
            PriceList: priced.slice(start, start + 2).map(product),
            ...(start + 2 < priced.length ? { NextToken: String(start + 2) } : {}),
          }),
        );
        return;
      }
      const start = Number(new URLSearchParams(text).get('NextToken') ?? 0);
      const next = start + 2 < types.length ? `<nextToken>${start + 2}</nextToken>` : '';
      response.writeHead(200, { 'content-type': 'text/xml' });
      response.end(
        `<?xml version="1.0" encoding="UTF-8"?><DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>1</requestId><instanceTypeSet>${types
          .slice(start, start + 2)
          .map(item)
          .join('')}</instanceTypeSet>${next}</DescribeInstanceTypesResponse>`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function body(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function product({ name, price }: TestType): string {
  return JSON.stringify({
    product: { attributes: { instanceType: name, regionCode: 'us-east-1' } },
    terms: {
      OnDemand: {
        'A.B': { priceDimensions: { 'A.B.C': { unit: 'Hrs', pricePerUnit: { USD: price?.toFixed(10) } } } },
      },
    },
  });
}

function item({
  name,
  vcpu,
  memoryMiB,
  arch = 'x86_64',
  maker = 'Intel',
  gpu,
  neuron,
  nvmeGB,
  efa,
}: TestType): string {
  return [
    `<item><instanceType>${name}</instanceType><bareMetal>${String(name.endsWith('.metal'))}</bareMetal><hypervisor>nitro</hypervisor>`,
    `<processorInfo><supportedArchitectures><item>${arch}</item></supportedArchitectures><manufacturer>${maker}</manufacturer></processorInfo>`,
    `<vCpuInfo><defaultVCpus>${vcpu}</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>${memoryMiB}</sizeInMiB></memoryInfo>`,
    nvmeGB === undefined
      ? ''
      : `<instanceStorageInfo><totalSizeInGB>${nvmeGB}</totalSizeInGB><nvmeSupport>required</nvmeSupport></instanceStorageInfo>`,
    `<ebsInfo><ebsOptimizedInfo><maximumBandwidthInMbps>4750</maximumBandwidthInMbps></ebsOptimizedInfo></ebsInfo>`,
    `<networkInfo><maximumNetworkInterfaces>4</maximumNetworkInterfaces><maximumNetworkCards>1</maximumNetworkCards><defaultNetworkCardIndex>0</defaultNetworkCardIndex>`,
    `<networkCards><item><networkCardIndex>0</networkCardIndex><maximumNetworkInterfaces>4</maximumNetworkInterfaces><baselineBandwidthInGbps>2.5</baselineBandwidthInGbps></item></networkCards>`,
    `<ipv4AddressesPerInterface>15</ipv4AddressesPerInterface>`,
    efa === undefined ? '' : `<efaInfo><maximumEfaInterfaces>${efa}</maximumEfaInterfaces></efaInfo>`,
    `</networkInfo>`,
    gpu === undefined
      ? ''
      : `<gpuInfo><gpus><item><name>${gpu.name}</name><manufacturer>${gpu.maker}</manufacturer><count>${gpu.count}</count><memoryInfo><sizeInMiB>${gpu.memoryMiB}</sizeInMiB></memoryInfo></item></gpus></gpuInfo>`,
    neuron === undefined
      ? ''
      : `<neuronInfo><neuronDevices><item><count>${neuron.count}</count><name>${neuron.name}</name><coreInfo><count>${neuron.cores}</count><version>2</version></coreInfo><memoryInfo><sizeInMiB>${neuron.memoryMiB}</sizeInMiB></memoryInfo></item></neuronDevices></neuronInfo>`,
    `</item>`,
  ].join('');
}
