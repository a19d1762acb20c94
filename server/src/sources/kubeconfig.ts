import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { SourceError, firstLine } from './failure';

/** Which kubeconfig to read. */
export interface KubeconfigChoice {
  /** Paths as in `KUBECONFIG`; without it, that variable, then `~/.kube/config`, then the pod this runs in. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An EKS cluster, as far as the names in a kubeconfig tell. */
export interface EksCluster {
  readonly name: string | undefined;
  readonly region: string | undefined;
  readonly account: string | undefined;
  /** The profile of the AWS configuration that its credential plugin uses. */
  readonly profile: string | undefined;
}

/** A context, with nothing in it that is secret. */
export interface KubeContext {
  readonly name: string;
  readonly cluster: string;
  readonly server: string;
  readonly user: string | undefined;
  readonly namespace: string;
  readonly isCurrent: boolean;
  /** The program that is run to get a credential, with its arguments. */
  readonly plugin: string | undefined;
  readonly eks: EksCluster | undefined;
}

/**
 * Reads a kubeconfig. Runs nothing and contacts nobody. Of several files, the first that names a cluster, user or
 * context wins, as kubectl has it. Throws a {@link SourceError} that says which file cannot be used.
 */
export async function loadKubeconfig({ kubeconfig, context, env }: KubeconfigChoice): Promise<KubeConfig> {
  const { KubeConfig } = await import('./sdk/kubernetes');
  const config = new KubeConfig();
  const listed = (kubeconfig ?? env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const home = env['HOME'] ?? env['USERPROFILE'];
  const standard = home === undefined ? undefined : join(home, '.kube', 'config');
  const paths = listed.length > 0 ? listed : standard !== undefined && existsSync(standard) ? [standard] : [];
  // Of the list in KUBECONFIG, kubectl skips what is not there.
  const present = paths.filter((path) => existsSync(path));
  if (paths.length > 0 && present.length === 0)
    throw new SourceError('not-found', `there is no kubeconfig at ${paths.join(', ')}`);
  if (present.length === 0) {
    if (env['KUBERNETES_SERVICE_HOST'] === undefined)
      throw new SourceError(
        'not-found',
        `there is no kubeconfig: KUBECONFIG is not set and ~/.kube/config does not exist`,
      );
    config.loadFromCluster();
    return config;
  }
  for (const path of present) {
    const one = new KubeConfig();
    try {
      one.loadFromString(readFileSync(path, 'utf8'));
    } catch (error) {
      // A YAML error quotes the lines around it, which may hold a token.
      const reason =
        error instanceof Error ? ((error as { readonly reason?: string }).reason ?? error.message) : '';
      throw new SourceError('malformed', `kubeconfig ${path} cannot be read: ${firstLine(reason)}`);
    }
    one.makePathsAbsolute(dirname(path));
    config.clusters = merged(config.clusters, one.clusters);
    config.users = merged(config.users, one.users);
    config.contexts = merged(config.contexts, one.contexts);
    config.currentContext ??= one.currentContext;
  }
  if (context !== undefined) config.setCurrentContext(context);
  config.clusters = config.clusters.map((cluster) => {
    const proxyUrl = cluster.proxyUrl ?? proxyFor(cluster.server, env);
    return proxyUrl === undefined ? cluster : { ...cluster, proxyUrl };
  });
  return config;
}

/**
 * The proxy that the environment names for an address, as kubectl has it: `HTTPS_PROXY` and `HTTP_PROXY`, also in small
 * letters, but for this machine and for what `NO_PROXY` lists (names with their subdomains, addresses, `*`).
 */
export function proxyFor(
  server: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  let url: URL;
  try {
    url = new URL(server);
  } catch {
    return undefined;
  }
  const of = (name: string): string | undefined => {
    const value = env[name] ?? env[name.toLowerCase()];
    return value === undefined || value === '' ? undefined : value;
  };
  const proxy = of(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (proxy === undefined || host === 'localhost' || host === '::1' || host.startsWith('127.'))
    return undefined;
  const excepted = (of('NO_PROXY') ?? '').split(',').map((each) => each.trim().toLowerCase());
  const isExcepted = excepted.some((each) => {
    const [, name = '', port] = /^\.?(.*?)(?::(\d+))?$/.exec(each) ?? [];
    if (each === '*') return true;
    if (name === '' || (port !== undefined && port !== (url.port === '' ? '443' : url.port))) return false;
    return host === name || host.endsWith(`.${name}`) || inNetwork(host, each);
  });
  if (isExcepted) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** Whether an IPv4 address is in a network such as `10.0.0.0/8`. */
function inNetwork(host: string, network: string): boolean {
  const match = /^([\d.]+)\/(\d{1,2})$/.exec(network);
  const numberOf = (address: string): number | undefined => {
    const parts = address.split('.').map(Number);
    if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255))
      return undefined;
    return parts.reduce((sum, part) => sum * 256 + part, 0);
  };
  const address = numberOf(host);
  const base = numberOf(match?.[1] ?? '');
  if (match === null || address === undefined || base === undefined) return false;
  const size = 2 ** (32 - Number(match[2]));
  return Math.floor(address / size) === Math.floor(base / size);
}

function merged<T extends { readonly name: string }>(first: readonly T[], more: readonly T[]): T[] {
  const names = new Set(first.map(({ name }) => name));
  return [...first, ...more.filter(({ name }) => !names.has(name))];
}

export function contextsOf(config: KubeConfig): readonly KubeContext[] {
  return config.contexts.map(({ name, cluster, user, namespace }) => {
    const { server = '' } = config.getCluster(cluster) ?? {};
    const { command, args = [] } = execOf(config, user) ?? {};
    return {
      name,
      cluster,
      server: withoutUserInfo(server),
      user,
      namespace: namespace ?? 'default',
      isCurrent: name === config.currentContext,
      plugin: command === undefined ? undefined : [command, ...args].join(' '),
      eks: eksOf({ names: [cluster, name], server, ...pluginWords(config, user) }),
    };
  });
}

/** The contexts of a kubeconfig, for a choice of one; the current first. */
export async function readContexts(choice: KubeconfigChoice): Promise<readonly KubeContext[]> {
  const contexts = contextsOf(await loadKubeconfig(choice));
  return [...contexts].sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent));
}

function withoutUserInfo(server: string): string {
  try {
    const url = new URL(server);
    url.username = '';
    url.password = '';
    return url.toString().replace(/\/$/, '');
  } catch {
    return server;
  }
}

export interface ExecSection {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
}

export function execOf(config: KubeConfig, user: string | undefined): ExecSection | undefined {
  const found = user === undefined ? undefined : config.getUser(user);
  return (found?.exec as ExecSection | null | undefined) ?? undefined;
}

function pluginWords(
  config: KubeConfig,
  user: string | undefined,
): { args: readonly string[]; env: ExecSection['env'] } {
  const exec = execOf(config, user);
  return { args: (exec?.args ?? []).map(String), env: exec?.env ?? [] };
}

interface EksHints {
  readonly names: readonly string[];
  readonly server: string;
  readonly args: readonly string[];
  readonly env: ExecSection['env'];
}

/** From the ARN that `aws eks update-kubeconfig` writes, the plugin's arguments, and the endpoint's host name. */
function eksOf({ names, server, args, env }: EksHints): EksCluster | undefined {
  const arn = names
    .map((name) => /^arn:aws[\w-]*:eks:([\w-]+):(\d{12}):cluster\/(.+)$/.exec(name))
    .find((match) => match !== null);
  const host = /\.([a-z]{2}[\w-]*-\d)\.eks\.amazonaws\.com(?:\.cn)?(?::\d+)?$/.exec(
    server.replace(/\/.*$/, (path, at: number) => (at < 9 ? path : '')),
  );
  const option = (...flags: readonly string[]): string | undefined => {
    for (const [index, word] of args.entries()) {
      for (const flag of flags) {
        if (word === flag) return args[index + 1];
        if (word.startsWith(`${flag}=`)) return word.slice(flag.length + 1);
      }
    }
    return undefined;
  };
  const variable = (name: string): string | undefined => env?.find((each) => each.name === name)?.value;
  const isPlugin = args.includes('get-token') || (args[0] === 'token' && option('-i') !== undefined);
  if (arn === undefined && host === null && !isPlugin) return undefined;
  const eksctl = names
    .map((name) => /^(?:[^@]+@)?([\w-]+)\.([\w-]+)\.eksctl\.io$/.exec(name))
    .find((each) => each !== null);
  return {
    name: arn?.[3] ?? option('--cluster-name', '--cluster-id', '-i') ?? eksctl?.[1],
    region: arn?.[1] ?? option('--region') ?? variable('AWS_REGION') ?? eksctl?.[2] ?? host?.[1],
    account: arn?.[2],
    profile: option('--profile') ?? variable('AWS_PROFILE'),
  };
}
