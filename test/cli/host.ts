import assert from 'node:assert/strict';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCli } from '../../server/src/cli/run';

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder of its own for one test, removed when the test ends. */
export function folder(
  test: { after(callback: () => void): void },
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const root = mkdtempSync(join(tmpdir(), 'plimsoll-cli-'));
  test.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return root;
}

const never = new AbortController().signal;

/** Runs the command line in this process, as if it had been started in a folder. */
export async function plimsoll(
  cwd: string,
  argv: readonly string[],
  options: {
    readonly stdin?: string | Buffer;
    readonly env?: Readonly<Record<string, string>>;
    readonly isTerminal?: boolean;
    readonly now?: () => number;
    readonly interrupted?: AbortSignal;
    readonly onOutput?: () => void;
    readonly schemaFolder?: string;
  } = {},
): Promise<CliResult> {
  let stdout = '';
  let stderr = '';
  const code = await runCli(argv, {
    cwd,
    env: options.env ?? {},
    stdout: {
      write: (text) => {
        stdout += text;
        options.onOutput?.();
      },
      isTerminal: options.isTerminal ?? false,
    },
    stderr: { write: (text) => void (stderr += text), isTerminal: false },
    readStdin: () => Promise.resolve(Buffer.from(options.stdin ?? '')),
    ruleDocument: (id) => (id === 'request-above-limit' ? '# request-above-limit\n' : undefined),
    version: '1.2.3',
    spareThreads: 0,
    startHelper: () => assert.fail('no thread is to be started'),
    ...(options.schemaFolder === undefined ? {} : { schemaFolder: options.schemaFolder }),
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.interrupted === undefined ? {} : { interrupted: () => options.interrupted ?? never }),
  });
  return { code, stdout, stderr };
}

/** A pod whose one container requests more memory than its limit: exactly one error, of request-above-limit. */
export const brokenPod = `apiVersion: v1
kind: Pod
metadata:
  name: box
spec:
  containers:
    - name: app
      image: nginx:1.29
      resources:
        requests:
          memory: 5Gi
        limits:
          memory: 4Gi
`;

export const healthyPod = brokenPod.replace('5Gi', '4Gi');
