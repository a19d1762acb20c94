import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, test } from 'node:test';
import { readInstanceTypes } from '../../server/src/remote/aws';
import { RemoteError } from '../../server/src/remote/remote-error';
import { instanceTypes, useCatalogue } from '../../server/src/sizing/nodes/instances';
import {
  catalogueJson,
  catalogueTextOf,
  mergeTypes,
  readCatalogue,
} from '../../server/src/sizing/nodes/refreshed';
import { catalogueText } from '../../server/src/sizing/nodes/catalogue-data';
import { startAws, type TestType } from './aws-server';

/** Instance types and prices of AWS: on the loopback interface, never the real one. */

const root = resolve(__dirname, '..', '..');
const credentials = {
  AWS_ACCESS_KEY_ID: 'AKIATEST',
  AWS_SECRET_ACCESS_KEY: 'nobody-sees-this',
  AWS_EC2_METADATA_DISABLED: 'true',
};
Object.assign(process.env, credentials);

const types: readonly TestType[] = [
  {
    name: 'g5.xlarge',
    vcpu: 4,
    memoryMiB: 16384,
    maker: 'AMD',
    gpu: { name: 'A10G', maker: 'NVIDIA', count: 1, memoryMiB: 22888 },
    nvmeGB: 250,
    price: 0.5,
  },
  {
    name: 'g9.4xlarge',
    vcpu: 16,
    memoryMiB: 65536,
    gpu: { name: 'RTX PRO 9000', maker: 'NVIDIA', count: 2, memoryMiB: 98304 },
    efa: 1,
    price: 9.25,
  },
  {
    name: 'trn2.48xlarge',
    vcpu: 192,
    memoryMiB: 2097152,
    neuron: { name: 'Trainium2', count: 16, cores: 8, memoryMiB: 98304 },
    price: 40,
  },
  { name: 'm7g.large', vcpu: 2, memoryMiB: 8192, arch: 'arm64', maker: 'AWS', price: 0.08 },
  { name: 'q1.large', vcpu: 2, memoryMiB: 8192 },
];

async function refused(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof RemoteError, String(error));
    assert.ok(!error.message.includes('nobody-sees-this'));
    return error.message;
  }
  assert.fail('nothing was refused');
}

const ask = (url: string, timeout?: number): Promise<readonly unknown[]> =>
  readInstanceTypes({
    region: 'us-east-1',
    ec2Endpoint: url,
    pricingEndpoint: url,
    ...(timeout === undefined ? {} : { timeout }),
  });

describe('instance types of AWS', () => {
  test('are read page by page, with their prices', async () => {
    const aws = await startAws(types);
    const read = await readInstanceTypes({
      region: 'us-east-1',
      ec2Endpoint: aws.url,
      pricingEndpoint: aws.url,
    });
    assert.deepEqual(aws.calls, [
      'DescribeInstanceTypes',
      'DescribeInstanceTypes',
      'DescribeInstanceTypes',
      'GetProducts',
      'GetProducts',
    ]);
    assert.equal(read.length, 5);
    assert.deepEqual(read[0], {
      name: 'g5.xlarge',
      family: 'g5',
      size: 'xlarge',
      category: 'g',
      generation: 5,
      arch: 'amd64',
      hypervisor: 'nitro',
      cpuManufacturer: 'amd',
      vcpu: 4,
      memoryMiB: 16384,
      gpus: { name: 'a10g', manufacturer: 'nvidia', count: 1, memoryMiBEach: 22888 },
      nvmeGB: 250,
      networkMbps: 2500,
      ebsMbps: 4750,
      efaInterfaces: 0,
      interfaces: { total: 4, ipv4Each: 15, networkCards: 1, onDefaultCard: 4 },
      onDemandPrice: 0.5,
    });
    assert.deepEqual(read[2]?.accelerators, {
      name: 'trainium2',
      manufacturer: 'aws',
      devices: 16,
      coresPerDevice: 8,
      memoryMiBPerDevice: 98304,
    });
    assert.equal(read[1]?.gpus?.name, 'rtx-pro-9000');
    assert.equal(read[4]?.onDemandPrice, undefined);
    await aws.close();
  });

  test('what goes wrong is told', async () => {
    for (const [status, code, wanted] of [
      [403, 'UnauthorizedOperation', /may not call ec2:DescribeInstanceTypes/],
      [401, 'AuthFailure', /does not take the credentials/],
      [400, 'InvalidParameterValue', /answered ec2:DescribeInstanceTypes with status 400/],
    ] as const) {
      const aws = await startAws(types, { status, code });
      assert.match(await refused(ask(aws.url)), wanted);
      await aws.close();
    }
    const gone = await startAws(types);
    await gone.close();
    assert.match(await refused(ask(gone.url)), /cannot be reached \(ECONNREFUSED\)/);
    assert.match(await refused(readInstanceTypes({ region: 'mars' })), /no region of AWS/);
  });
});

describe('a refreshed catalogue', () => {
  test('has the form of the one that is shipped', () => {
    const read = readCatalogue(
      catalogueJson({ region: 'us-east-1', date: '2026-07-20', types: instanceTypes() }),
    );
    assert.ok('text' in read, JSON.stringify(read));
    const lines = (text: string): readonly string[] =>
      text
        .split('\n')
        .filter((line) => line !== '')
        // A number is a number, however many zeros it ends with.
        .map((line) => line.replace(/\.0$/, ''))
        .sort();
    assert.deepEqual(lines(catalogueTextOf(instanceTypes())), lines(catalogueText));
    assert.deepEqual(read.prices, { basis: 'us-east-1 on-demand Linux, USD per hour', date: '2026-07-20' });
  });

  test('keeps what the region does not tell', async () => {
    const aws = await startAws(types);
    const merged = mergeTypes(
      instanceTypes(),
      await readInstanceTypes({ region: 'us-east-1', ec2Endpoint: aws.url, pricingEndpoint: aws.url }),
    );
    await aws.close();
    const of = (name: string): (typeof merged)[number] | undefined =>
      merged.find((type) => type.name === name);
    const shipped = instanceTypes().find(({ name }) => name === 'g5.xlarge');
    assert.equal(of('g5.xlarge')?.onDemandPrice, 0.5);
    assert.equal(of('g5.xlarge')?.measuredOverheadMiB, shipped?.measuredOverheadMiB);
    assert.equal(of('g9.4xlarge')?.gpus?.count, 2);
    // Elsewhere it may be had.
    assert.ok(of('p5.48xlarge') !== undefined && of('p5.48xlarge')?.onDemandPrice === undefined);
    // A family that is not shipped counts for its accelerators only.
    assert.equal(of('q1.large'), undefined);
    assert.equal(new Set(merged.map(({ name }) => name)).size, merged.length);
  });

  test('that is none is not taken', () => {
    const good = JSON.parse(
      catalogueJson({ region: 'us-east-1', date: '2026-07-20', types: instanceTypes().slice(0, 3) }),
    ) as { types: string[] };
    for (const [bad, wanted] of [
      ['', /not JSON/],
      ['{}', /no catalogue/],
      [JSON.stringify({ ...good, format: 2 }), /no catalogue/],
      [JSON.stringify({ ...good, date: 'today' }), /region or date/],
      [JSON.stringify({ ...good, types: [] }), /has no types/],
      [JSON.stringify({ ...good, types: [...good.types, ' huge many'] }), /line 5 of its types/],
      [JSON.stringify({ ...good, types: [3] }), /line 1 of its types/],
    ] as const) {
      const read = readCatalogue(bad);
      assert.match('problem' in read ? read.problem : '', wanted, bad.slice(0, 60));
    }
    // Nor is one when answers were given already.
    assert.equal(useCatalogue({ text: '\nx amd64 - -\n', prices: { basis: '', date: '' } }), false);
  });
});

/** The program in a process of its own: a catalogue is taken once for a process. */
function run(
  cwd: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const tsx = pathToFileURL(require.resolve('tsx')).href;
    const child = spawn(
      process.execPath,
      ['--import', tsx, join(root, 'server', 'src', 'cli', 'main.ts'), ...argv],
      { cwd, env: { ...process.env, ...env } },
    );
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
}

describe('plimsoll refresh-instances', () => {
  test('writes beside the configuration what other commands then use', async (t) => {
    const aws = await startAws(types);
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-aws-'));
    t.after(async () => {
      rmSync(folder, { recursive: true, force: true });
      await aws.close();
    });
    writeFileSync(join(folder, '.plimsoll.yaml'), 'preset: recommended\n');
    mkdirSync(join(folder, 'deploy'));
    const below = join(folder, 'deploy');
    const before = await run(below, ['size', 'Qwen/Qwen2.5-7B-Instruct', '--gpu', 'a10g']);
    assert.match(before.stdout, /g5\.xlarge .*\$1\.01/);
    const { code, stdout, stderr } = await run(below, ['refresh-instances', '--region', 'us-east-1'], {
      AWS_ENDPOINT_URL_EC2: aws.url,
      AWS_ENDPOINT_URL_PRICING: aws.url,
    });
    assert.equal(stderr, '');
    assert.equal(code, 0);
    assert.match(stdout, /1 new \(g9\.4xlarge\), .* with another price/);
    const after = await run(below, ['size', 'Qwen/Qwen2.5-7B-Instruct', '--gpu', 'a10g']);
    assert.equal(after.stderr, '');
    assert.match(after.stdout, /g5\.xlarge .*\$0\.50/);
    assert.match(after.stdout, new RegExp(`USD per hour, ${new Date().toISOString().slice(0, 7)}`));
    const path = join(folder, '.plimsoll', 'instance-types.json');
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 100));
    const broken = await run(below, ['size', 'Qwen/Qwen2.5-7B-Instruct', '--gpu', 'a10g']);
    assert.match(
      broken.stderr,
      /instance-types\.json: it is not JSON; the instance types that are shipped are used/,
    );
    assert.match(broken.stdout, /g5\.xlarge .*\$1\.01/);
  });

  test('writes nothing where AWS tells nothing, or cannot be asked', async (t) => {
    const empty = await startAws([]);
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-aws-'));
    t.after(async () => {
      rmSync(folder, { recursive: true, force: true });
      await empty.close();
    });
    const nothing = await run(folder, ['refresh-instances'], {
      AWS_ENDPOINT_URL_EC2: empty.url,
      AWS_ENDPOINT_URL_PRICING: empty.url,
    });
    assert.equal(nothing.code, 2);
    assert.match(nothing.stderr, /told 0 instance types .* nothing is written/);
    assert.throws(() => readFileSync(join(folder, '.plimsoll', 'instance-types.json')), /ENOENT/);
    const wrong = await run(folder, ['refresh-instances', 'now']);
    assert.match(wrong.stderr, /takes no "now"/);
  });
});
