import { spawn as nodeSpawn } from 'node:child_process';
import { SourceError, firstLine } from './failure';
import { reasonOf } from './runtime';
import type { Redactor } from './redact';

/** The `exec` of a user in a kubeconfig: a program that answers a credential, such as `aws eks get-token`. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly installHint: string | undefined;
  /** The cluster, for plugins that ask to be told. */
  readonly cluster: { readonly server: string; readonly caData: string | undefined } | undefined;
}

export interface ExecCredential {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Milliseconds since 1970; `undefined` when the plugin says none. */
  readonly expiresAt: number | undefined;
}

export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without a shell. Rejects when it cannot be started, and kills it when the signal is aborted. */
export type RunProgram = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
) => Promise<ProgramResult>;

/** More than any plugin answers. */
const maxOutput = 1 << 20;

export const runProgram: RunProgram = (command, args, env, signal) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(reasonOf(signal));
      return;
    }
    const child = nodeSpawn(command, [...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let stdout = '';
    let stderr = '';
    const kill = (): void => {
      child.kill();
      reject(reasonOf(signal));
    };
    signal.addEventListener('abort', kill, { once: true });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < maxOutput) stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < maxOutput) stderr += text;
    });
    child.on('error', (error) => {
      signal.removeEventListener('abort', kill);
      reject(error);
    });
    child.on('close', (code) => {
      signal.removeEventListener('abort', kill);
      resolve({ code, stdout, stderr });
    });
  });

/** Runs the plugin once. Its output never appears in an error; of what it complains about, one redacted line does. */
export async function execCredential(
  plugin: ExecPlugin,
  env: Readonly<Record<string, string | undefined>>,
  run: RunProgram,
  { redact, add }: Redactor,
  signal: AbortSignal,
): Promise<ExecCredential> {
  const what = `credential plugin "${plugin.command}" of the kubeconfig`;
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(plugin.cluster === undefined
        ? {}
        : {
            cluster: {
              server: plugin.cluster.server,
              ...(plugin.cluster.caData === undefined
                ? {}
                : { 'certificate-authority-data': plugin.cluster.caData }),
            },
          }),
    },
  };
  const environment: Record<string, string | undefined> = {
    ...env,
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  };
  for (const { name, value } of plugin.env) environment[name] = value;
  let result: ProgramResult;
  try {
    result = await run(plugin.command, plugin.args, environment, signal);
  } catch (error) {
    if (signal.aborted) throw reasonOf(signal);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      const hint = plugin.installHint === undefined ? '' : `; ${firstLine(redact(plugin.installHint))}`;
      throw new SourceError('unauthenticated', `${what} is not on the PATH of this process${hint}`);
    }
    throw new SourceError(
      'unauthenticated',
      `${what} could not be started: ${firstLine(redact(error instanceof Error ? error.message : String(error)))}`,
    );
  }
  if (result.code !== 0) {
    const words = firstLine(redact(result.stderr));
    throw new SourceError(
      'unauthenticated',
      `${what} ended with code ${result.code ?? 'none'}${words === '' ? '' : `: ${words}`}`,
    );
  }
  let answer: unknown;
  try {
    answer = JSON.parse(result.stdout);
  } catch {
    throw new SourceError('unauthenticated', `${what} answered no JSON`);
  }
  const status = (answer as { readonly status?: Readonly<Record<string, unknown>> } | null)?.status;
  const text = (name: string): string | undefined => {
    const value = status?.[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const token = text('token');
  const certificate = text('clientCertificateData');
  if (token === undefined && certificate === undefined)
    throw new SourceError('unauthenticated', `${what} answered neither a token nor a certificate`);
  add(token);
  const expires = Date.parse(text('expirationTimestamp') ?? '');
  return {
    token,
    certificate,
    key: text('clientKeyData'),
    expiresAt: Number.isNaN(expires) ? undefined : expires,
  };
}
