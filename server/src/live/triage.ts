import type { LogExcerpt, PodView } from './cluster';
import { bytesText, counted, durationText, percentText, whenText } from './format';
import { failuresOf } from './pods';
import type { Failure } from './pods';
import { absent } from './reading';
import type { Absent, Instant, Observed } from './reading';
import { isSamePod } from './readings';
import type { Readings } from './readings';
import type { MetricId } from './vocabulary';
import { unitOf } from './vocabulary';

/** What a container died of, as far as its end and its log tell. */
export type Cause =
  | 'memory-limit'
  | 'gpu-memory'
  | 'kv-cache-too-small'
  | 'nccl'
  | 'shared-memory'
  | 'disk-full'
  | 'gpu-fault'
  | 'driver'
  | 'dtype'
  | 'access'
  | 'arguments'
  | 'port'
  | 'killed'
  | 'unknown';

interface LogPattern {
  readonly cause: Cause;
  readonly pattern: RegExp;
  /** What such a line means. */
  readonly meaning: string;
}

/** Lines of engines' logs that tell a cause; the first that matches a line counts. */
export const logPatterns: readonly LogPattern[] = [
  {
    cause: 'kv-cache-too-small',
    pattern:
      /No available memory for the cache blocks|larger than the (available KV cache|maximum number of tokens that can be stored in KV cache)|KV cache is needed, which is larger/i,
    meaning: 'after the weights there is too little GPU memory left for the KV cache of one request',
  },
  {
    cause: 'gpu-memory',
    pattern:
      /CUDA (error: )?out of memory|torch\.(cuda\.)?OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|HIP out of memory|Free memory on device .* is less than desired/i,
    meaning: 'a GPU has less free memory than was asked for',
  },
  {
    cause: 'shared-memory',
    pattern:
      /bus error|insufficient shared memory|unable to allocate shared memory|\/dev\/shm.*No space left|No space left.*\/dev\/shm/i,
    meaning: '/dev/shm is too small for what the workers exchange',
  },
  {
    cause: 'disk-full',
    pattern: /No space left on device|disk quota exceeded/i,
    meaning: 'a volume or the disk of the node is full',
  },
  {
    cause: 'nccl',
    pattern:
      /NCCL (WARN|error)|nccl(UnhandledCudaError|SystemError|InternalError|RemoteError)|Watchdog caught collective operation timeout|DistBackendError/i,
    meaning: 'the GPUs of one model could not exchange data',
  },
  {
    cause: 'gpu-fault',
    pattern:
      /\bXid\b|CUDA error: (an illegal memory access|unspecified launch failure|device-side assert|uncorrectable ECC)|GPU has fallen off the bus/i,
    meaning: 'a GPU or a kernel on it failed',
  },
  {
    cause: 'driver',
    pattern:
      /CUDA driver version is insufficient|no kernel image is available|forward compatibility was attempted|libcuda\.so.*(not found|cannot open)|No CUDA GPUs are available|Found no NVIDIA driver/i,
    meaning: 'the image and the GPU or its driver do not go together',
  },
  {
    cause: 'dtype',
    pattern:
      /Bfloat16 is only supported on GPUs with compute capability|fp8.*(not supported|requires compute capability)/i,
    meaning: 'the GPU cannot compute with this precision',
  },
  {
    cause: 'access',
    pattern:
      /gated repo|401 Client Error|403 Client Error|Access to model .* is restricted|RepositoryNotFoundError|Unable to locate credentials|AccessDenied/i,
    meaning: 'the model could not be fetched: a token or permission is missing',
  },
  {
    cause: 'arguments',
    pattern: /unrecognized arguments|error: argument |invalid choice:|ValidationError/i,
    meaning: 'the engine does not accept its arguments',
  },
  { cause: 'port', pattern: /address already in use/i, meaning: 'the port is taken' },
  {
    cause: 'killed',
    pattern: /SIGKILL|exit code -9|signal 9\b|\bKilled\b/,
    meaning: 'a process was killed from outside: for memory, or by a probe',
  },
];

export interface LogFinding {
  readonly line: string;
  readonly cause: Cause;
  readonly meaning: string;
}

/** The lines that matter, in the order of the log, each text once; the first cause of the table leads. */
export function linesThatMatter(lines: readonly string[], limit = 8): readonly LogFinding[] {
  const seen = new Set<string>();
  const found: LogFinding[] = [];
  for (const line of lines) {
    const match = logPatterns.find(({ pattern }) => pattern.test(line));
    const text = line.trim().slice(0, 400);
    // Timestamps and process ids differ where the same thing is said by each worker.
    const shape = text.replace(/\d+/g, '#');
    if (match === undefined || seen.has(shape)) continue;
    seen.add(shape);
    found.push({ line: text, cause: match.cause, meaning: match.meaning });
  }
  return found.slice(-limit);
}

/** What a resource was just before a container ended. */
export interface Before {
  readonly title: string;
  readonly metric: MetricId;
  readonly observed: Observed;
  /** Of which limit or total, in the same unit. */
  readonly of?: { readonly value: number; readonly what: string };
  /** `31.8 GiB of 32 GiB (99.4 %)`. */
  readonly text: string;
}

export interface Triage {
  readonly failure: Failure;
  readonly cause: Cause;
  /** `OOMKilled (exit code 137), 3 restarts`. */
  readonly title: string;
  /** Step 1. */
  readonly termination: string;
  /** Step 2: lines that matter, or why there is no log. */
  readonly log:
    { readonly kind: 'known'; readonly findings: readonly LogFinding[]; readonly read: number } | Absent;
  /** Step 3. */
  readonly before: readonly Before[];
  /** Step 4: what helps, as a statement. */
  readonly advice: string;
  /** Rules whose finding on the same container, if there is one, carries the fix; the likeliest first. */
  readonly rules: readonly string[];
}

/** The runbook, filled in, for each container that failed within `within` or is failing; the newest first. */
export function triage(readings: Readings, now: Instant, within: number): readonly Triage[] {
  return failuresOf(readings.pods ?? [])
    .filter(
      ({ termination, looping }) =>
        looping || termination.finishedAt === undefined || now - termination.finishedAt <= within,
    )
    .map((failure) => triageOf(failure, readings, now))
    .sort((a, b) => (b.failure.termination.finishedAt ?? 0) - (a.failure.termination.finishedAt ?? 0));
}

function triageOf(failure: Failure, readings: Readings, now: Instant): Triage {
  const { container, termination } = failure;
  const log = logOf(failure, readings);
  const message = termination.message === undefined ? [] : linesThatMatter(termination.message.split('\n'));
  const findings = log.kind === 'known' ? log.findings : [];
  const cause = causeOf(failure, [...findings, ...message]);
  const { advice, rules } = remedies[cause];
  const restarts = container.restarts > 0 ? `, ${counted(container.restarts, 'restart')}` : '';
  const word = termination.reason === '' ? 'Ended' : termination.reason;
  return {
    failure,
    cause,
    title: `${word} (exit code ${termination.exitCode})${restarts}`,
    termination: terminationText(failure, now),
    log,
    before: beforeEnd(failure, readings),
    advice: cause === 'memory-limit' ? memoryAdvice(failure) : advice,
    rules,
  };
}

function causeOf({ kind, termination }: Failure, findings: readonly LogFinding[]): Cause {
  if (kind === 'oom') return 'memory-limit';
  const causes = new Set(findings.map(({ cause }) => cause));
  // What comes first in the table explains what comes later: a worker out of memory also breaks NCCL.
  const first = logPatterns.find(({ cause }) => causes.has(cause));
  if (first !== undefined) return first.cause;
  return termination.exitCode === 137 ? 'killed' : 'unknown';
}

const signals: Readonly<Record<number, string>> = {
  1: 'an error of the program',
  2: 'a misuse of the program',
  126: 'the command cannot be executed',
  127: 'the command does not exist',
  134: 'SIGABRT, the program gave up',
  135: 'SIGBUS, often a full /dev/shm',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  143: 'SIGTERM',
};

function terminationText({ pod, container, termination, kind, looping }: Failure, now: Instant): string {
  const { startedAt, finishedAt, exitCode, reason } = termination;
  const meaning = signals[exitCode];
  const parts = [
    `Container ${container.name} of pod ${pod.pod.name} ended with ${reason === '' ? 'no reason given' : reason}, exit code ${exitCode}${meaning === undefined ? '' : ` (${meaning})`}`,
    finishedAt === undefined ? undefined : whenText(finishedAt, now),
    startedAt === undefined || finishedAt === undefined
      ? undefined
      : `after running for ${durationText(finishedAt - startedAt)}`,
    looping ? 'and does not run now' : undefined,
    kind === 'killed' ? 'not by its memory limit: a probe, an eviction or the node killed it' : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

function logOf({ pod, container, looping }: Failure, readings: Readings): Triage['log'] {
  const { logs } = readings.snapshot.cluster;
  if (logs.kind === 'absent') return logs;
  const own = logs.value.filter(
    (excerpt) => isSamePod(excerpt.pod, pod.pod) && excerpt.container === container.name,
  );
  const previous = own.filter((excerpt) => excerpt.previous);
  // A container that has ended and not begun anew has its last words in its present log.
  const read: readonly LogExcerpt[] =
    previous.length > 0 ? previous : looping && container.state.kind === 'terminated' ? own : [];
  if (read.length === 0) {
    return absent('no-data', 'the log of the run before is not there; the kubelet keeps only the last one');
  }
  const lines = read.flatMap((excerpt) => excerpt.lines);
  return { kind: 'known', findings: linesThatMatter(lines), read: lines.length };
}

/** Memory of the container and of its GPUs, in the last point before it ended. */
function beforeEnd({ pod, container, termination }: Failure, readings: Readings): readonly Before[] {
  const end = termination.finishedAt;
  const limit = container.limits['memory'];
  const result: Before[] = [];
  const memory = lastBefore(readings, 'memory.working-set', pod, end, container.name);
  result.push(
    describe(
      'Memory',
      'memory.working-set',
      memory,
      limit === undefined ? undefined : { value: limit, what: 'its limit' },
    ),
  );
  const total = readings
    .devices('gpu')
    .filter(({ device }) => device.pod !== undefined && isSamePod(device.pod, pod.pod))
    .map(({ of }) => of('gpu.memory.total'))
    .reduce((sum, observed) => (observed.kind === 'reading' ? sum + observed.value : sum), 0);
  const used = lastBefore(readings, 'gpu.memory.used', pod, end, undefined);
  result.push(
    describe(
      'GPU memory',
      'gpu.memory.used',
      used,
      total > 0 ? { value: total, what: 'its GPUs' } : undefined,
    ),
  );
  return result;
}

function describe(title: string, metric: MetricId, observed: Observed, of: Before['of']): Before {
  if (observed.kind === 'absent') return { title, metric, observed, text: observed.message };
  const share =
    of === undefined
      ? ''
      : ` of ${bytesText(of.value)} that ${of.what === 'its limit' ? 'its limit allows' : 'its GPUs have'} (${percentText(observed.value / of.value)})`;
  return {
    title,
    metric,
    observed,
    ...(of === undefined ? {} : { of }),
    text: `${bytesText(observed.value)}${share}`,
  };
}

/** The last point of a series of the pod at or before an instant, at most ten minutes earlier. */
function lastBefore(
  readings: Readings,
  metric: MetricId,
  { pod }: PodView,
  end: Instant | undefined,
  container: string | undefined,
): Observed {
  if (end === undefined) return absent('no-data', 'when the container ended is not known');
  const own = readings
    .series(metric)
    .filter(
      ({ subject }) =>
        (subject.kind === 'pod' &&
          isSamePod(subject.pod, pod) &&
          (container === undefined || (subject.container ?? container) === container)) ||
        (subject.kind === 'device' && subject.pod !== undefined && isSamePod(subject.pod, pod)),
    );
  let sum: number | undefined;
  let at = 0;
  let source = own[0]?.source;
  for (const series of own) {
    for (let index = series.at.length - 1; index >= 0; index--) {
      const instant = series.at[index] ?? 0;
      const value = series.values[index];
      if (instant > end || value === null || value === undefined) continue;
      if (end - instant > 600_000) break;
      sum = (sum ?? 0) + value;
      at = Math.max(at, instant);
      source = series.source;
      break;
    }
  }
  if (sum === undefined || source === undefined) {
    return absent('no-data', 'no source has a history that reaches to its end', {
      remedy: 'Set up Prometheus or CloudWatch Container Insights',
    });
  }
  return { kind: 'reading', value: sum, unit: unitOf(metric), at, window: 0, source };
}

function memoryAdvice({ container }: Failure): string {
  const limit = container.limits['memory'];
  return limit === undefined
    ? 'The container has no memory limit, so the node ran out of memory: request what it needs, and limit it'
    : `The container needed more than its memory limit of ${bytesText(limit)}: raise the limit and the request`;
}

const remedies: Readonly<Record<Cause, { readonly advice: string; readonly rules: readonly string[] }>> = {
  'memory-limit': {
    advice: 'Raise the memory limit and the request',
    rules: [
      'container-oom-killed',
      'memory-request-below-model',
      'host-memory-pinned-by-offload',
      'missing-memory-limit',
    ],
  },
  'gpu-memory': {
    advice:
      'Take a GPU with more memory, more GPUs for one model, a smaller precision, or reserve less of the memory',
    rules: ['weights-exceed-vram', 'context-exceeds-kv-cache'],
  },
  'kv-cache-too-small': {
    advice: 'Lower the maximum context length, or give the model more GPU memory',
    rules: ['context-exceeds-kv-cache', 'weights-exceed-vram'],
  },
  nccl: {
    advice:
      'Look at the line above for the first worker that failed; with several GPUs /dev/shm must be large enough',
    rules: ['missing-shared-memory', 'tensor-parallel-not-divisible'],
  },
  'shared-memory': {
    advice: 'Mount an emptyDir with medium Memory at /dev/shm',
    rules: ['missing-shared-memory'],
  },
  'disk-full': {
    advice: 'Give the node a larger root volume, or the pod a volume for the model',
    rules: ['ephemeral-storage-below-weights', 'nodeclass-root-volume-too-small'],
  },
  'gpu-fault': {
    advice: 'Drain the node if it happens again there: the GPU may be broken',
    rules: [],
  },
  driver: {
    advice: 'Use an image for the driver of the nodes, and nodes with the GPU that the image was built for',
    rules: [],
  },
  dtype: { advice: 'Choose a precision that the GPU has', rules: ['dtype-unsupported-on-gpu'] },
  access: { advice: 'Give the pod the token or the permission to fetch the model', rules: [] },
  arguments: { advice: 'Correct the arguments of the engine', rules: [] },
  port: { advice: 'Give each server of the pod a port of its own', rules: [] },
  killed: {
    advice: 'Look for a failing liveness probe or an eviction in the events',
    rules: ['liveness-kills-during-load', 'startup-budget-too-short'],
  },
  unknown: { advice: 'Read the log of the run before', rules: [] },
};
