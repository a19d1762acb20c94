import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { ranges, type RangeName } from '../live/want';
import type { PresetName } from '../protocol/settings';

export type OutputFormat = 'text' | 'json' | 'sarif' | 'junit' | 'github';

export interface LintCommand {
  readonly command: 'lint';
  readonly paths: readonly string[];
  readonly format: OutputFormat;
  readonly config: string | undefined;
  readonly preset: PresetName | undefined;
  readonly fix: boolean;
  readonly unsafe: boolean;
  readonly maxWarnings: number;
  readonly stdinFilename: string | undefined;
  /** `undefined`: decided by the terminal and the environment. */
  readonly color: boolean | undefined;
  readonly gitignore: boolean;
  /** Charts and kustomizations are rendered, by programs on the PATH. */
  readonly render: boolean;
  /** A file of known findings: to tell them from new ones, or to write. */
  readonly baseline: { readonly file: string; readonly write: boolean } | undefined;
}

export interface RulesCommand {
  readonly command: 'rules';
  readonly format: 'text' | 'json';
}

export interface ExplainCommand {
  readonly command: 'explain';
  readonly rule: string;
}

export interface SizeCommand {
  readonly command: 'size';
  /** `undefined` with files. */
  readonly model: string | undefined;
  readonly files: readonly string[];
  /** A GPU's name or an instance type. */
  readonly gpu: string | undefined;
  readonly tensorParallel: number | undefined;
  readonly dtype: string | undefined;
  readonly quantization: string | undefined;
  /** Tokens. */
  readonly maxModelLen: number | undefined;
  /** A share of the memory of each GPU. */
  readonly utilization: number | undefined;
  readonly kvCacheDtype: string | undefined;
  readonly format: 'text' | 'json';
}

export interface ModelCommand {
  readonly command: 'model';
  readonly repository: string;
  readonly revision: string | undefined;
  readonly write: boolean;
  /** A configuration file; `undefined` for the nearest one. */
  readonly config: string | undefined;
  readonly format: 'text' | 'json';
}

export interface RefreshCommand {
  readonly command: 'refresh-instances';
  readonly region: string | undefined;
  readonly output: string | undefined;
}

export interface FitCommand {
  readonly command: 'fit';
  readonly paths: readonly string[];
  /** `name` or `namespace/name`; `undefined` for all workloads. */
  readonly workload: string | undefined;
  readonly format: 'text' | 'json';
  readonly gitignore: boolean;
}

export interface ReadinessCommand {
  readonly command: 'readiness';
  readonly paths: readonly string[];
  /** `name` or `namespace/name`; `undefined` for all that serves or is scaled. */
  readonly workload: string | undefined;
  readonly config: string | undefined;
  readonly format: 'text' | 'json' | 'markdown';
  readonly gitignore: boolean;
}

export interface StatusCommand {
  readonly command: 'status';
  /** `undefined`: every workload of the namespace that asks for an accelerator. */
  readonly object: { readonly kind: string | undefined; readonly name: string } | undefined;
  readonly namespace: string | undefined;
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
  /** A URL, or `namespace/service:port`. */
  readonly prometheus: string | undefined;
  /** Workspace of Amazon Managed Service for Prometheus. */
  readonly amp: string | undefined;
  readonly cloudwatch: boolean;
  readonly region: string | undefined;
  readonly profile: string | undefined;
  readonly range: RangeName;
  /** Seconds between two reads; `undefined`: once. */
  readonly watch: number | undefined;
  readonly demo: boolean;
  readonly format: 'text' | 'json';
}

export interface DiffCommand {
  readonly command: 'diff';
  readonly paths: readonly string[];
  /** The name of the text on standard input, which stands for the one file that is compared. */
  readonly stdinFilename: string | undefined;
  readonly namespace: string | undefined;
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly config: string | undefined;
  readonly format: 'text' | 'json';
  readonly gitignore: boolean;
}

export interface SchemasCommand {
  readonly command: 'schemas';
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
  /** The folder that they are written to. */
  readonly output: string | undefined;
}

export type Command =
  | SchemasCommand
  | DiffCommand
  | StatusCommand
  | ReadinessCommand
  | LintCommand
  | FitCommand
  | ModelCommand
  | RefreshCommand
  | SizeCommand
  | RulesCommand
  | ExplainCommand
  | { readonly command: 'help'; readonly topic: string | undefined }
  | { readonly command: 'version' };

/** The command line cannot be understood; the message says what and how to do it right. */
export class UsageError extends Error {}

/** Where known findings are recorded when nobody says where to. */
export const defaultBaseline = '.plimsoll-baseline.json';

export const help: Readonly<Record<string, string>> = {
  '': `Usage: plimsoll <command> [options]

Tells whether AI workloads on Kubernetes will fit: GPUs, host RAM, autoscaling, Karpenter.

Commands:
  lint [paths]      Check manifests (files and folders; default: the current folder)
  size <model>      Tell what a model needs, and where it fits; -f reads it from manifests
  baseline [paths]  Record the findings that are there, so that lint --baseline fails on new ones only
  model <repo>      Read a model's figures from the Hugging Face hub, for .plimsoll.yaml
  refresh-instances Read instance types and prices of a region from AWS
  fit [paths]       Say on which instance types the workloads can run, at what price, and else why not
  readiness [paths] Go through the production-readiness checklist for each workload
  schemas           Read what a cluster knows of its kinds, to check manifests against its versions
  status [workload] Say how a workload in a cluster is doing, and what to do
  diff [paths]      Compare manifests with a cluster, by dry runs: what would change, what would be rejected
  rules             List all rules
  explain <rule>    Print the documentation of a rule

Options:
  -h, --help        Help, also of a command: plimsoll lint --help
  -V, --version     Print the version

Exit codes: 0 clean, 1 findings, 2 bad usage or a failure
`,
  lint: `Usage: plimsoll lint [paths] [options]

Checks the Kubernetes manifests in files and folders. Without paths: the current folder. The path - is standard input.

Options:
  --format <format>         text (default), json, sarif, junit or github
  --config <file>           Use this configuration instead of the nearest .plimsoll.yaml
  --preset <name>           recommended (default), strict or minimal
  --render                  Render Helm charts (with their default values, and with each values-*.yaml) and
                            kustomizations by helm, kustomize or kubectl on the PATH, and judge what they make; what is
                            found stands where it comes from. Nothing is fetched and no file is changed
  --fix                     Apply the fixes that do not change what the author meant
  --unsafe                  With --fix: the others too, the first one that a finding offers
  --max-warnings <n>        More warnings than this fail the run (default 0); errors always do
  --baseline <file>         Findings recorded there by plimsoll baseline are known and fail nothing
  --stdin-filename <path>   Read one file from standard input and check it as if it were this one
  --color, --no-color       Colours in the text format (default: when printing to a terminal)
  --no-gitignore            Also read what .gitignore names in folders

Exit codes: 0 clean, 1 errors or too many warnings (infos and hints do not fail a run), 2 bad usage or a failure
`,
  size: `Usage: plimsoll size <model> [options]
       plimsoll size -f <file> [-f <file>...] [options]

Reckons the memory of a model server: weights, KV cache, host memory, and the instance types on which it fits, cheapest
first. The model is named as its server names it: a repository, a path, an Ollama tag, a NIM. With -f, models, options
and GPUs are read from manifests (files and folders).

Options:
  -f, --file <path>         Read the model servers in this manifest
  --gpu <name>              On this GPU (l40s, h100, ...) or instance type (g5.12xlarge)
  --tp <n>                  Tensor parallel: GPUs over which the model is spread (default 1; in the list of instance
                            types the smallest number that fits)
  --dtype <type>            auto, bfloat16, float16 or float32
  --quantization <method>   Quantise the weights: awq, gptq, fp8, bitsandbytes, ... (default: what the model's name says)
  --max-model-len <n>       Longest request in tokens, also 32k (default: the model's own maximum)
  --gpu-memory-utilization <share>
                            How much of each GPU the engine fills, 0 to 1 (default: the engine's own)
  --kv-cache-dtype <type>   auto, or fp8 for half of it
  --format <format>         text (default) or json

In JSON all sizes are {low, expected, high} in bytes: weights of the whole model; weightsPerGpu, kvPerToken and
kvAvailable on one GPU; host memory of a pod while it loads. maxModelLen is the longest request that fits, in tokens.

Exit codes: 0 answered, whatever the answer is; 2 bad usage, an unknown model or a failure
`,
  baseline: `Usage: plimsoll baseline [paths] [options]

Records the findings in files and folders, so that plimsoll lint --baseline fails on new ones only. A finding is
recognised by its rule, its object and its field, not by its line: edits around it, and moving its file, make it no new
one. Run again, it forgets what was repaired; findings in files that were not looked at stay recorded.

Options:
  -o, --output <file>       Where to (default: ${defaultBaseline} in the current folder)
  --render                  With what helm and kustomize render, as lint --render finds it
  --config <file>           Use this configuration instead of the nearest .plimsoll.yaml
  --preset <name>           recommended (default), strict or minimal
  --no-gitignore            Also read what .gitignore names in folders

Exit codes: 0 written, 2 bad usage or a failure
`,
  model: `Usage: plimsoll model <owner/name> [--write] [options]

Reads config.json and the headers of the safetensors files of a model from the Hugging Face hub, some kilobytes and no
weights, and prints its figures as .plimsoll.yaml has them, so that size, lint and the editor know the model.

Options:
  --write                   Add the model to the nearest .plimsoll.yaml, which is made in the current folder if there is none
  --config <path>           Write to this configuration file instead
  --revision <name>         A branch, a tag or a commit (default main)
  --format <format>         text (default) or json

A token for gated and private models is read from HF_TOKEN, and another hub's address from HF_ENDPOINT.

Exit codes: 0 read, 2 bad usage, or the hub or the configuration cannot be read
`,
  'refresh-instances': `Usage: plimsoll refresh-instances [--region <name>] [--output <path>]

Reads instance types and on-demand prices of a region from AWS (ec2:DescribeInstanceTypes, pricing:GetProducts) and keeps
them in .plimsoll/instance-types.json, which every command in that folder and the editor then use instead of the figures
that are shipped. Credentials are those of the aws command: AWS_PROFILE, the environment, single sign-on.

Options:
  --region <name>           Of this region (default AWS_REGION, else us-east-1)
  -o, --output <path>       Write to this file (default: where such a file is, else beside the nearest .plimsoll.yaml)

Exit codes: 0 written, 2 bad usage, or AWS cannot be asked or the file not be written
`,
  fit: `Usage: plimsoll fit [-f <path>]... [--workload <namespace/name>] [--format text|json]

For each workload in files and folders: the NodePools and node groups that can run its pods, the instance types with
their prices, cheapest first, and where none can, what keeps the pods out and which type comes nearest. Nothing is
asked of a cluster or of AWS. Without paths: the current folder.

Options:
  -f, --file <path>         A file or folder; may be given several times
  --workload <name>         Only this workload, by its name or as namespace/name
  --format <format>         text (default) or json
  --no-gitignore            Also read what .gitignore names in folders

Exit codes: 0 every workload fits or may, 1 one cannot run on any type, 2 bad usage or a failure
`,
  readiness: `Usage: plimsoll readiness [paths] [options]

Goes through the production-readiness checklist for autoscaling on EKS, nineteen items for each workload that answers
requests or is scaled: each passes, fails, does not apply or is unknown, with what decides it. What stands in no file
that was read is unknown, and no pass. Without paths: the current folder.

Options:
  --workload <name>         Only this workload, by its name or as namespace/name
  --format <format>         text (default), json or markdown
  --config <file>           Use this configuration instead of the nearest .plimsoll.yaml
  --no-gitignore            Also read what .gitignore names in folders

Exit codes: 0 nothing fails, 1 an item fails, 2 bad usage or a failure
`,
  status: `Usage: plimsoll status [<workload>] [options]

Reads a cluster and says how a workload is doing: the verdict with its numbers, what to do next, GPUs, latency, queue,
scaling and pods. A workload is a name, or kind/name as in kubectl: deploy/vllm, hpa/vllm, scaledobject/vllm. Without
one: each workload of the namespace that asks for an accelerator, in a line.

It only reads. With a kubeconfig and nothing else it asks the API server, and through it the pods for their metrics.

Options:
  -n, --namespace <name>    Default: the namespace of the context
  --context <name>          Context of the kubeconfig (default: the current one)
  --kubeconfig <file>       Default: KUBECONFIG, then ~/.kube/config
  --prometheus <where>      A URL, or a Service of the cluster as namespace/service:port. The environment variable
                            PLIMSOLL_PROMETHEUS_TOKEN is sent to a URL as a bearer token
  --amp <workspace>         A workspace of Amazon Managed Service for Prometheus, such as ws-0123...
  --cloudwatch              Ask CloudWatch too: Container Insights and alarms. It costs; the answer says how much
  --region, --profile       For AWS (default: what the kubeconfig says)
  --range <range>           How far back: 15m, 1h (default), 6h, 24h or 7d
  --watch[=<seconds>]       Go on, every 15 seconds
  --demo                    A cluster that is not there, with a surge under way
  --format <format>         text (default) or json

Exit codes: 0 healthy, 1 not healthy, 2 it cannot be told, bad usage or a failure
`,
  schemas: `Usage: plimsoll schemas [options]

Reads from a cluster what it knows of its kinds (/openapi/v3): those of its version of Kubernetes, and those that its
CustomResourceDefinitions add, with their validation rules. From then on lint, the language server, completion and hovers
below that folder go by the versions of the cluster instead of those that are shipped. Nothing but this command asks it.

Options:
  --context <name>          Context of the kubeconfig (default: the current one)
  --kubeconfig <file>       Default: KUBECONFIG, then ~/.kube/config
  --output <folder>         Default: .plimsoll/schemas beside the nearest .plimsoll.yaml, else here

Delete the folder to go back to what is shipped.

Exit codes: 0 written, 2 bad usage or a failure
`,
  diff: `Usage: plimsoll diff [paths] [options]

Compares the objects of manifests with those of a cluster: what applying them would change, what is not there yet, and
what the API server would reject, each on its line. It asks the API server for dry runs (--dry-run=server), so nothing
is changed; who runs it needs the right to get and patch the objects. Templates, patches and Secrets are left out.

Options:
  -n, --namespace <name>    Of objects that name none (default: the namespace of the context)
  --context <name>          Context of the kubeconfig (default: the current one)
  --kubeconfig <file>       Default: KUBECONFIG, then ~/.kube/config
  --config <file>           Use this configuration instead of the nearest .plimsoll.yaml
  --stdin-filename <file>   Read one manifest from standard input, as if it were this file
  --no-gitignore            Also read what .gitignore names in folders
  --format <format>         text (default) or json

Exit codes: 0 the cluster has what the files say, 1 it differs or rejects, 2 bad usage or something cannot be told
`,
  rules: `Usage: plimsoll rules [--format text|json]

Lists all rules with severity, needs and kinds.
`,
  explain: `Usage: plimsoll explain <rule>

Prints what a rule checks, why, and how to fix what it finds.
`,
};

const formats: readonly OutputFormat[] = ['text', 'json', 'sarif', 'junit', 'github'];
const presets: readonly PresetName[] = ['recommended', 'strict', 'minimal'];

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new UsageError(`${option} takes ${allowed.join(', ')}; got "${value}"`);
  return found;
}

function parse<T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Node adds advice on escaping after the first sentence, which only confuses here.
    throw new UsageError(reason.split('. ')[0] ?? reason);
  }
}

function parseLint(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    format: { type: 'string' },
    config: { type: 'string' },
    preset: { type: 'string' },
    fix: { type: 'boolean' },
    unsafe: { type: 'boolean' },
    'max-warnings': { type: 'string' },
    baseline: { type: 'string' },
    render: { type: 'boolean' },
    'stdin-filename': { type: 'string' },
    color: { type: 'boolean' },
    'no-color': { type: 'boolean' },
    'no-gitignore': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'lint' };
  const max = values['max-warnings'] ?? '0';
  if (!/^\d+$/.test(max)) throw new UsageError(`--max-warnings takes a whole number; got "${max}"`);
  if (values.unsafe === true && values.fix !== true)
    throw new UsageError('--unsafe only widens --fix; add --fix');
  if (positionals.includes('-') && positionals.length > 1) {
    throw new UsageError('- (standard input) cannot be combined with other paths');
  }
  if (values['stdin-filename'] !== undefined && positionals.some((path) => path !== '-')) {
    throw new UsageError('--stdin-filename reads standard input and cannot be combined with paths');
  }
  if (values.render === true && (values['stdin-filename'] !== undefined || positionals.includes('-'))) {
    throw new UsageError(
      '--render reads charts and kustomizations in folders; it cannot read standard input',
    );
  }
  const stdin = values['stdin-filename'] ?? (positionals.includes('-') ? 'stdin.yaml' : undefined);
  return {
    command: 'lint',
    paths: stdin !== undefined ? [] : positionals,
    format: oneOf('--format', values.format ?? 'text', formats),
    config: values.config,
    preset: values.preset === undefined ? undefined : oneOf('--preset', values.preset, presets),
    fix: values.fix === true,
    unsafe: values.unsafe === true,
    maxWarnings: Number(max),
    stdinFilename: stdin,
    color: values['no-color'] === true ? false : values.color,
    gitignore: values['no-gitignore'] !== true,
    render: values.render === true,
    baseline: values.baseline === undefined ? undefined : { file: values.baseline, write: false },
  };
}

/** A lint whose findings are recorded. */
function parseBaseline(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    output: { type: 'string', short: 'o' },
    render: { type: 'boolean' },
    config: { type: 'string' },
    preset: { type: 'string' },
    'no-gitignore': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'baseline' };
  if (positionals.includes('-')) {
    throw new UsageError('plimsoll baseline records where findings are; it reads no standard input');
  }
  return {
    command: 'lint',
    paths: positionals,
    format: 'text',
    config: values.config,
    preset: values.preset === undefined ? undefined : oneOf('--preset', values.preset, presets),
    fix: false,
    unsafe: false,
    maxWarnings: 0,
    stdinFilename: undefined,
    color: undefined,
    gitignore: values['no-gitignore'] !== true,
    render: values.render === true,
    baseline: { file: values.output ?? defaultBaseline, write: true },
  };
}

/** Types that `--dtype` of the engines takes. */
const dtypes = ['auto', 'bfloat16', 'float16', 'half', 'float32', 'float'] as const;

/** Types that `--kv-cache-dtype` of vLLM takes. */
const kvDtypes = ['auto', 'bfloat16', 'float16', 'fp8', 'fp8_e4m3', 'fp8_e5m2', 'int8'] as const;

function parseSize(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    file: { type: 'string', short: 'f', multiple: true },
    gpu: { type: 'string' },
    tp: { type: 'string' },
    'tensor-parallel-size': { type: 'string' },
    dtype: { type: 'string' },
    quantization: { type: 'string' },
    'max-model-len': { type: 'string' },
    'gpu-memory-utilization': { type: 'string' },
    'kv-cache-dtype': { type: 'string' },
    format: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'size' };
  const [model, extra] = positionals;
  const files = values.file ?? [];
  if (extra !== undefined)
    throw new UsageError(`plimsoll size takes one model; got "${model ?? ''}" and "${extra}"`);
  if (model === undefined && files.length === 0)
    throw new UsageError(
      'plimsoll size takes a model, or -f with a manifest; plimsoll size --help tells more',
    );
  if (model !== undefined && files.length > 0)
    throw new UsageError('plimsoll size takes a model or -f with a manifest, not both');
  const written = values.tp ?? values['tensor-parallel-size'];
  if (written !== undefined && !/^[1-9]\d{0,3}$/.test(written))
    throw new UsageError(`--tp takes a whole number of GPUs; got "${written}"`);
  const { dtype } = values;
  const share = values['gpu-memory-utilization'];
  if (share !== undefined && !(Number(share) > 0 && Number(share) <= 1))
    throw new UsageError(`--gpu-memory-utilization takes a share above 0 and up to 1; got "${share}"`);
  const kvCacheDtype = values['kv-cache-dtype'];
  return {
    command: 'size',
    model,
    files,
    gpu: values.gpu,
    tensorParallel: written === undefined ? undefined : Number(written),
    dtype: dtype === undefined ? undefined : oneOf('--dtype', dtype, dtypes),
    quantization: values.quantization,
    maxModelLen: values['max-model-len'] === undefined ? undefined : tokenCount(values['max-model-len']),
    utilization: share === undefined ? undefined : Number(share),
    kvCacheDtype: kvCacheDtype === undefined ? undefined : oneOf('--kv-cache-dtype', kvCacheDtype, kvDtypes),
    format: oneOf('--format', values.format ?? 'text', ['text', 'json'] as const),
  };
}

/** `131072`, `128k` (thousands) and `128K` (of 1024), as vLLM reads them. */
function tokenCount(text: string): number {
  const match = /^(\d{1,9}(?:\.\d+)?)([kmKM]?)$/.exec(text);
  const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, K: 1024, M: 1024 ** 2 };
  const count = Math.trunc(Number(match?.[1]) * (factors[match?.[2] ?? ''] ?? 1));
  if (match === null || !(count >= 1))
    throw new UsageError(`--max-model-len takes a number of tokens such as 8192 or 32k; got "${text}"`);
  return count;
}

function parseModel(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    revision: { type: 'string' },
    write: { type: 'boolean' },
    config: { type: 'string' },
    format: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'model' };
  const [repository, extra] = positionals;
  if (repository === undefined || extra !== undefined)
    throw new UsageError('plimsoll model takes one repository of the Hugging Face hub, such as owner/name');
  if (values.config !== undefined && values.write !== true)
    throw new UsageError('--config says where --write writes; add --write');
  return {
    command: 'model',
    repository,
    revision: values.revision,
    write: values.write === true,
    config: values.config,
    format: oneOf('--format', values.format ?? 'text', ['text', 'json'] as const),
  };
}

function parseRefresh(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    region: { type: 'string' },
    output: { type: 'string', short: 'o' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'refresh-instances' };
  if (positionals.length > 0)
    throw new UsageError(`plimsoll refresh-instances takes no "${positionals[0] ?? ''}"`);
  return { command: 'refresh-instances', region: values.region, output: values.output };
}

function parseFit(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    file: { type: 'string', short: 'f', multiple: true },
    workload: { type: 'string' },
    format: { type: 'string' },
    'no-gitignore': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'fit' };
  const paths = [...(values.file ?? []), ...positionals];
  if (paths.includes('-')) {
    throw new UsageError(
      'plimsoll fit compares workloads with NodePools of several files; it reads no standard input',
    );
  }
  return {
    command: 'fit',
    paths,
    workload: values.workload,
    format: oneOf('--format', values.format ?? 'text', ['text', 'json'] as const),
    gitignore: values['no-gitignore'] !== true,
  };
}

function parseReadiness(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    workload: { type: 'string' },
    format: { type: 'string' },
    config: { type: 'string' },
    'no-gitignore': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'readiness' };
  if (positionals.includes('-')) {
    throw new UsageError('plimsoll readiness looks at several files together; it reads no standard input');
  }
  return {
    command: 'readiness',
    paths: positionals,
    workload: values.workload,
    config: values.config,
    format: oneOf('--format', values.format ?? 'text', ['text', 'json', 'markdown'] as const),
    gitignore: values['no-gitignore'] !== true,
  };
}

function parseSchemas(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    context: { type: 'string' },
    kubeconfig: { type: 'string' },
    output: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'schemas' };
  if (positionals.length > 0)
    throw new UsageError(`plimsoll schemas takes no "${positionals[0] ?? ''}"; for another folder: --output`);
  const { context, kubeconfig, output } = values;
  return { command: 'schemas', context, kubeconfig, output };
}

function parseDiff(args: readonly string[]): Command {
  const { values, positionals } = parse(args, {
    namespace: { type: 'string', short: 'n' },
    context: { type: 'string' },
    kubeconfig: { type: 'string' },
    config: { type: 'string' },
    'stdin-filename': { type: 'string' },
    'no-gitignore': { type: 'boolean' },
    format: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return { command: 'help', topic: 'diff' };
  if (values['stdin-filename'] !== undefined && positionals.length > 0)
    throw new UsageError('--stdin-filename names what is compared; leave the paths out');
  return {
    command: 'diff',
    paths: positionals,
    stdinFilename: values['stdin-filename'],
    namespace: values.namespace,
    context: values.context,
    kubeconfig: values.kubeconfig,
    config: values.config,
    format: oneOf('--format', values.format ?? 'text', ['text', 'json'] as const),
    gitignore: values['no-gitignore'] !== true,
  };
}

function parseStatus(args: readonly string[]): Command {
  // `--watch` alone and `--watch=5`: the option may have a value, which parseArgs does not know.
  const watch = args.map((word) => /^--watch(?:=(.*))?$/.exec(word)).find((match) => match !== null);
  const { values, positionals } = parse(
    args.filter((word) => !/^--watch(=|$)/.test(word)),
    {
      namespace: { type: 'string', short: 'n' },
      context: { type: 'string' },
      kubeconfig: { type: 'string' },
      prometheus: { type: 'string' },
      amp: { type: 'string' },
      cloudwatch: { type: 'boolean' },
      region: { type: 'string' },
      profile: { type: 'string' },
      range: { type: 'string' },
      demo: { type: 'boolean' },
      format: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  );
  if (values.help === true) return { command: 'help', topic: 'status' };
  // As kubectl takes it: `deploy vllm` is `deploy/vllm`.
  const [first, second, extra] = positionals;
  if (extra !== undefined) throw new UsageError(`plimsoll status takes one workload; got "${extra}" as well`);
  const written = second === undefined ? first : `${first ?? ''}/${second}`;
  const [kindOrName = '', name, ...more] = (written ?? '').split('/');
  if (more.length > 0 || (written !== undefined && (name ?? kindOrName) === ''))
    throw new UsageError(`a workload is a name or kind/name, such as deploy/vllm; got "${written ?? ''}"`);
  const seconds = watch?.[1];
  if (seconds !== undefined && !/^[1-9]\d{0,4}$/.test(seconds))
    throw new UsageError(`--watch takes seconds; got "${seconds}"`);
  if (values.prometheus !== undefined && values.amp !== undefined)
    throw new UsageError('--prometheus and --amp name two; take one');
  return {
    command: 'status',
    object:
      written === undefined
        ? undefined
        : name === undefined
          ? { kind: undefined, name: kindOrName }
          : { kind: kindOrName, name },
    namespace: values.namespace,
    context: values.context,
    kubeconfig: values.kubeconfig,
    prometheus: values.prometheus,
    amp: values.amp,
    cloudwatch: values.cloudwatch === true,
    region: values.region,
    profile: values.profile,
    range: oneOf('--range', values.range ?? '1h', Object.keys(ranges) as readonly RangeName[]),
    watch: watch === undefined ? undefined : Number(seconds ?? 15),
    demo: values.demo === true,
    format: oneOf('--format', values.format ?? 'text', ['text', 'json'] as const),
  };
}

/** Reads the arguments after the program's name. Throws {@link UsageError}. */
export function parseArguments(argv: readonly string[]): Command {
  const [first, ...rest] = argv;
  switch (first) {
    case undefined:
    case 'help':
      return { command: 'help', topic: rest[0] };
    case '-h':
    case '--help':
      return { command: 'help', topic: undefined };
    case '-V':
    case '--version':
      return { command: 'version' };
    case 'lint':
      return parseLint(rest);
    case 'baseline':
      return parseBaseline(rest);
    case 'fit':
      return parseFit(rest);
    case 'schemas':
      return parseSchemas(rest);
    case 'diff':
      return parseDiff(rest);
    case 'status':
      return parseStatus(rest);
    case 'readiness':
      return parseReadiness(rest);
    case 'size':
      return parseSize(rest);
    case 'model':
      return parseModel(rest);
    case 'refresh-instances':
      return parseRefresh(rest);
    case 'rules': {
      const { values, positionals } = parse(rest, {
        format: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      });
      if (values.help === true) return { command: 'help', topic: 'rules' };
      if (positionals.length > 0)
        throw new UsageError(
          `plimsoll rules takes no "${positionals[0] ?? ''}"; for one rule: plimsoll explain <rule>`,
        );
      return {
        command: 'rules',
        format: oneOf('--format', values.format ?? 'text', ['text', 'json'] as const),
      };
    }
    case 'explain': {
      const { values, positionals } = parse(rest, { help: { type: 'boolean', short: 'h' } });
      if (values.help === true) return { command: 'help', topic: 'explain' };
      const [rule, extra] = positionals;
      if (rule === undefined || extra !== undefined)
        throw new UsageError('plimsoll explain takes one rule; plimsoll rules lists them');
      return { command: 'explain', rule };
    }
    default:
      throw new UsageError(`unknown command "${first}"; plimsoll --help lists the commands`);
  }
}
