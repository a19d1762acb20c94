import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folder, healthyPod, plimsoll } from './host';

const GiB = 2 ** 30;

interface Bounds {
  readonly low: number;
  readonly expected: number;
  readonly high: number;
}

interface Answer {
  readonly weights: Bounds;
  readonly weightsPerGpu: Bounds;
  readonly kvPerToken: Bounds | null;
  readonly kvAvailable: Bounds | null;
  readonly host: Bounds;
  readonly maxModelLen: number | null;
  readonly fits: string;
  readonly verdict: string;
  readonly reasons: readonly string[];
  readonly precision: string;
  readonly instanceTypes: readonly {
    readonly instanceType: string;
    readonly gpu: string;
    readonly tensorParallel: number;
    readonly pricePerHour: number | null;
    readonly maxModelLen: number | null;
    readonly fits: string;
  }[];
  readonly priceDate: string;
}

async function answer(cwd: string, argv: readonly string[]): Promise<Answer> {
  const { code, stdout, stderr } = await plimsoll(cwd, ['size', ...argv, '--format', 'json']);
  assert.equal(stderr, '');
  assert.equal(code, 0);
  return JSON.parse(stdout) as Answer;
}

const isOrdered = ({ low, expected, high }: Bounds): boolean => low <= expected && expected <= high;

test('Llama 3.1 8B with its own length on an A10G: vLLM refuses, and the largest length is named', async () => {
  const argv = ['size', 'meta-llama/Llama-3.1-8B-Instruct', '--gpu', 'a10g', '--max-model-len', '131072'];
  const { code, stdout, stderr } = await plimsoll('/', argv);
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.match(stdout, /vLLM refuses to start: a request of 131,072 tokens needs 16 GiB of KV cache/);
  const largest = /the largest length that fits is about ([\d,]+) tokens/.exec(stdout)?.[1];
  const tokens = Number(largest?.replaceAll(',', ''));
  // 37,696 tokens were printed by vLLM on a GPU of that class.
  assert.ok(Math.abs(tokens - 37696) < 0.1 * 37696, `${tokens} tokens`);
});

test('what the engine is told to fill, and a smaller cache, count', async () => {
  const argv = ['meta-llama/Llama-3.1-8B-Instruct', '--gpu', 'a10g', '--max-model-len', '8192'];
  const usual = await answer('/', argv);
  const more = await answer('/', [...argv, '--gpu-memory-utilization', '0.95']);
  const half = await answer('/', [...argv, '--kv-cache-dtype', 'fp8']);
  const gained = (more.kvAvailable?.expected ?? 0) - (usual.kvAvailable?.expected ?? 0);
  // 22.1 GiB to fill: from the default of vLLM, 0.9 to 0.92 by its version.
  assert.ok(gained > 0.6 * GiB && gained < 1.2 * GiB, `${gained / GiB} GiB more`);
  assert.equal(half.kvPerToken?.expected, 65536);
  const { code, stderr } = await plimsoll('/', ['size', ...argv, '--gpu-memory-utilization', '95']);
  assert.equal(code, 2);
  assert.match(stderr, /--gpu-memory-utilization takes a share above 0 and up to 1; got "95"/);
});

test('JSON has every size as low, expected and high in bytes', async () => {
  const found = await answer('/', [
    'meta-llama/Llama-3.1-8B-Instruct',
    '--gpu',
    'a10g',
    '--max-model-len',
    '131072',
  ]);
  for (const bounds of [
    found.weights,
    found.weightsPerGpu,
    found.kvPerToken,
    found.kvAvailable,
    found.host,
  ]) {
    assert.ok(bounds !== null && isOrdered(bounds), JSON.stringify(bounds));
  }
  assert.ok(Math.abs(found.weights.expected - 14.96 * GiB) < 0.02 * 14.96 * GiB);
  assert.deepEqual(found.kvPerToken, { low: 131072, expected: 131072, high: 131072 });
  assert.equal(found.fits, 'no');
  assert.ok(found.maxModelLen !== null && found.maxModelLen > 30000 && found.maxModelLen < 42000);
  assert.ok(found.reasons.some((reason) => reason.includes('8.03 billion parameters')));
});

test('instance types come cheapest first, with the date of their prices', async () => {
  const found = await answer('/', ['meta-llama/Llama-3.3-70B-Instruct', '--max-model-len', '8192']);
  const prices = found.instanceTypes.map(({ pricePerHour }) => pricePerHour ?? Infinity);
  assert.ok(prices.length > 3);
  assert.deepEqual(
    prices,
    prices.toSorted((a, b) => a - b),
  );
  assert.match(found.priceDate, /^20\d\d-\d\d-\d\d$/);
  // 131 GiB fit on no GPU of 80 GB alone.
  for (const type of found.instanceTypes) {
    assert.ok(type.tensorParallel > 1 || /b300|b200|h200/.test(type.gpu), JSON.stringify(type));
    assert.equal(type.fits, 'yes');
  }
  const { stdout } = await plimsoll('/', [
    'size',
    'meta-llama/Llama-3.3-70B-Instruct',
    '--max-model-len',
    '8192',
  ]);
  assert.ok(stdout.includes(`USD per hour, ${found.priceDate}`));
});

test('a GPU and tensor parallel that are asked for hold for the list too', async () => {
  const found = await answer('/', [
    'Qwen/Qwen2.5-32B-Instruct',
    '--gpu',
    'l40s',
    '--tp',
    '2',
    '--max-model-len',
    '8192',
  ]);
  assert.equal(found.fits, 'yes');
  assert.ok(found.weightsPerGpu.expected < 0.55 * found.weights.expected);
  assert.ok(found.instanceTypes.length > 0);
  assert.ok(found.instanceTypes.every(({ gpu, tensorParallel }) => gpu === 'l40s' && tensorParallel === 2));
});

test('--gpu takes an instance type', async () => {
  const byType = await answer('/', ['Qwen/Qwen3-8B', '--gpu', 'g6e.xlarge']);
  const byName = await answer('/', ['Qwen/Qwen3-8B', '--gpu', 'l40s']);
  assert.deepEqual(byType.kvAvailable, byName.kvAvailable);
});

test('precisions that only the name says are recognised, and --quantization overrules plain weights', async () => {
  const names: readonly (readonly [string, RegExp, number])[] = [
    ['casperhansen/llama-3.3-70b-instruct-awq', /AWQ/, 37],
    ['neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8', /FP8/, 67],
    ['TheBloke/Llama-2-70B-chat-GPTQ', /GPTQ/, 34],
    ['nvidia/Llama-3.3-70B-Instruct-NVFP4', /NVFP4/, 38],
    ['llama3.1:70b-instruct-q4_K_M', /Q4_K_M/, 40],
    ['bartowski/Llama-3.3-70B-Instruct-Q8_0.gguf', /Q8_0/, 70],
  ];
  for (const [name, precision, gigabytes] of names) {
    const found = await answer('/', [name]);
    assert.match(found.precision, precision);
    assert.ok(
      Math.abs(found.weights.expected / GiB - gigabytes) < 0.06 * gigabytes,
      `${name}: ${found.weights.expected / GiB}`,
    );
  }
  const plain = await answer('/', ['mistralai/Mistral-7B-Instruct-v0.3']);
  const quantised = await answer('/', [
    'mistralai/Mistral-7B-Instruct-v0.3',
    '--quantization',
    'bitsandbytes',
  ]);
  const full = await answer('/', ['mistralai/Mistral-7B-Instruct-v0.3', '--dtype', 'float32']);
  assert.ok(quantised.weights.expected < 0.35 * plain.weights.expected);
  assert.ok(Math.abs(full.weights.expected / plain.weights.expected - 2) < 0.01);
});

test('tensor parallel that does not divide the heads never fits', async () => {
  const found = await answer('/', ['Qwen/Qwen2.5-14B-Instruct', '--gpu', 'l40s', '--tp', '3']);
  assert.equal(found.fits, 'no');
  assert.match(found.verdict, /tensor parallel 3 does not divide the model.s 40 attention heads/);
});

test("a length above the model's own is told where it fits", async () => {
  const at = (length: string): Promise<{ readonly verdict: string }> =>
    answer('/', ['Qwen/Qwen2.5-7B-Instruct', '--gpu', 'l40s', '--max-model-len', length]);
  assert.equal((await at('32768')).verdict, 'It fits, with requests of 32,768 tokens');
  assert.match((await at('65536')).verdict, /65,536 tokens; the model was made for 32,768 tokens/);
});

test('a model of which only the size is known has wide bounds and no verdict about its cache', async () => {
  const found = await answer('/', ['acme/secret-13b', '--gpu', 'l40s']);
  assert.ok(found.weights.high > found.weights.low);
  assert.notEqual(found.fits, 'no');
  assert.equal(found.maxModelLen, null);
});

test('what cannot be understood is said with a way out, and exits 2', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['size'], /takes a model, or -f/],
    [['size', 'a', 'b'], /takes one model; got "a" and "b"/],
    [['size', 'a', '-f', 'x.yaml'], /not both/],
    [['size', 'acme/secret'], /is not known, and its name does not say a size/],
    [['size', 'Qwen/Qwen3-8C'], /did you mean Qwen\/Qwen3-8B\?/],
    [['size', 'Qwen/Qwen3-8B', '--gpu', 'l40z'], /--gpu takes a GPU such as .*did you mean l40/],
    [['size', 'Qwen/Qwen3-8B', '--gpu', 'm7i.large'], /that instance type has no GPU/],
    [['size', 'Qwen/Qwen3-8B', '--tp', '0'], /--tp takes a whole number of GPUs; got "0"/],
    [['size', 'Qwen/Qwen3-8B', '--tp', '1.5'], /--tp takes a whole number/],
    [['size', 'Qwen/Qwen3-8B', '--max-model-len', 'long'], /--max-model-len takes a number of tokens/],
    [['size', 'Qwen/Qwen3-8B', '--quantization', 'magic'], /--quantization takes .*; got "magic"/],
    [['size', 'Qwen/Qwen3-8B', '--dtype', 'int3'], /--dtype takes auto, bfloat16/],
    [['size', 'Qwen/Qwen3-8B', '--format', 'xml'], /--format takes text, json/],
    [['size', 'Qwen/Qwen3-8B', '--nonsense'], /--nonsense/],
  ];
  for (const [argv, message] of cases) {
    const { code, stdout, stderr } = await plimsoll('/', argv);
    assert.equal(code, 2, argv.join(' '));
    assert.equal(stdout, '', argv.join(' '));
    assert.match(stderr, message, argv.join(' '));
  }
});

test('lengths are read as vLLM reads them: 32k of 1000, 32K of 1024', async () => {
  const large = await plimsoll('/', ['size', 'Qwen/Qwen3-8B', '--gpu', 'l40s', '--max-model-len', '32K']);
  assert.match(large.stdout, /a request of 32,768 tokens/);
  const small = await plimsoll('/', ['size', 'Qwen/Qwen3-8B', '--gpu', 'l40s', '--max-model-len', '32k']);
  assert.match(small.stdout, /a request of 32,000 tokens/);
});

test('help says what the command is for', async () => {
  const { code, stdout } = await plimsoll('/', ['size', '--help']);
  assert.equal(code, 0);
  assert.match(stdout, /^Usage: plimsoll size <model>/);
  assert.match((await plimsoll('/', ['--help'])).stdout, /size <model>/);
});

const server = (args: string, extra = ''): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  selector:
    matchLabels: { app: chat }
  template:
    metadata:
      labels: { app: chat }
    spec:
${extra}      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args: [${args}]
          resources:
            limits: { nvidia.com/gpu: 1 }
`;

const selector = '      nodeSelector: { karpenter.k8s.aws/instance-gpu-name: a10g }\n';

test('a manifest: model, options, version and GPU are those of the server', async (t) => {
  const cwd = folder(t, {
    'chat.yaml': server('"--model=meta-llama/Llama-3.1-8B-Instruct", "--max-model-len=131072"', selector),
  });
  const { code, stdout } = await plimsoll(cwd, ['size', '-f', 'chat.yaml']);
  assert.equal(code, 0);
  assert.match(stdout, /^chat\.yaml: Deployment "chat", container "vllm" \(vLLM\)/);
  assert.match(stdout, /memory of NVIDIA A10G/);
  assert.match(stdout, /vLLM refuses to start/);
  const found = (await answer(cwd, ['-f', 'chat.yaml'])) as Answer & { readonly servers: readonly Answer[] };
  assert.equal(found.fits, 'no');
  assert.equal(found.servers.length, 1);
  const shorter = await answer(cwd, ['-f', 'chat.yaml', '--max-model-len', '8192']);
  assert.equal(shorter.fits, 'yes');
  const larger = await answer(cwd, ['-f', 'chat.yaml', '--gpu', 'h100']);
  assert.equal(larger.fits, 'yes');
});

test('the GPUs of a manifest come from the pools beside it', async (t) => {
  const cwd = folder(t, {
    'chat.yaml': server('"--model=meta-llama/Llama-3.1-8B-Instruct", "--max-model-len=8192"'),
    'pool.yaml': `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: gpu
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
      requirements:
        - { key: karpenter.k8s.aws/instance-family, operator: In, values: [g4dn, g6] }
`,
  });
  const { stdout } = await plimsoll(cwd, ['size', '-f', 'chat.yaml']);
  assert.match(stdout, /memory of NVIDIA T4/);
  assert.match(stdout, /It does not fit/);
  assert.match(stdout, /on NVIDIA L4: It fits/);
});

test('several servers, and what is not known of one', async (t) => {
  const cwd = folder(t, {
    'a.yaml': server('"--model=Qwen/Qwen3-8B"', selector),
    'b.yaml': server('"--model=${MODEL}"', selector),
    'c.yaml': server('"--model=acme/secret"', selector),
    'pod.yaml': healthyPod,
  });
  const found = (await answer(cwd, ['-f', '.'])) as unknown as {
    readonly fits?: string;
    readonly servers: readonly { readonly fits: string; readonly reasons: readonly string[] }[];
  };
  assert.equal(found.fits, undefined);
  assert.equal(found.servers.length, 3);
  assert.deepEqual(
    found.servers.slice(1).map(({ fits, reasons }) => [fits, ...reasons]),
    [
      ['unknown', 'the manifest does not tell the model'],
      ['unknown', 'the model "acme/secret" is not known, and its name does not say a size'],
    ],
  );
});

test('a path whose name says no precision is not said to fit for certain', async (t) => {
  const cwd = folder(t, {
    'chat.yaml': server('"--model=/models/qwen3-8b", "--max-model-len=4096"', selector),
  });
  assert.equal((await answer(cwd, ['-f', 'chat.yaml'])).fits, 'unknown');
});

test('files without a server, and files that are not there', async (t) => {
  const cwd = folder(t, { 'pod.yaml': healthyPod });
  const none = await plimsoll(cwd, ['size', '-f', 'pod.yaml']);
  assert.deepEqual(none, { code: 2, stdout: '', stderr: 'plimsoll: no model server in pod.yaml\n' });
  const missing = await plimsoll(cwd, ['size', '-f', 'nowhere.yaml']);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /^plimsoll: nowhere\.yaml: /);
});

test('control characters of a name do not reach the terminal', async () => {
  const { stdout, stderr } = await plimsoll('/', ['size', 'acme/\u001b[31mred-8b']);
  // eslint-disable-next-line no-control-regex
  assert.ok(!/[\u0000-\u0009\u000b-\u001f]/.test(stdout + stderr), JSON.stringify(stdout));
});
