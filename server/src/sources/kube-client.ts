import { Agent as HttpsAgent, type AgentOptions, type RequestOptions } from 'node:https';
import { Agent as HttpAgent } from 'node:http';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Rejection } from '../live/comparison';
import { execCredential, runProgram, type ExecCredential, type RunProgram } from './exec-credential';
import { RefusedError, SourceError, asSourceError, firstLine, missingRule, type RbacRule } from './failure';
import { isRecord, listAt, textAt } from './json';
import { jsonOf, linesOf, nodeHttp, textOf, type Http, type HttpResponse } from './http';
import { contextsOf, execOf, loadKubeconfig, type KubeContext, type KubeconfigChoice } from './kubeconfig';
import { createRedactor, type Redactor } from './redact';
import { manyListeners, reasonOf, systemClock, within, type Clock } from './runtime';

/** A kind of object of the API, by what its paths are made of. */
export interface KubeResource {
  /** `''` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** An object as the API server sends it: parsed no further than that it is an object with a name. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly [key: string]: unknown;
}

export interface KubeList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly next: string | undefined;
}

/** What is asked: all of a kind, those of a namespace, or one. */
export interface Scope {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: KubeObject;
}

/**
 * The API server as one context of a kubeconfig reaches it. Only `get`, `list` and `watch` are asked, and dry runs, which
 * change nothing.
 */
export interface KubeClient {
  readonly context: KubeContext;
  readonly redactor: Redactor;
  get(
    resource: KubeResource,
    scope: Scope & { readonly name: string },
    signal: AbortSignal,
  ): Promise<KubeObject>;
  list(
    resource: KubeResource,
    scope: Scope,
    page: { readonly limit: number; readonly next?: string | undefined },
    signal: AbortSignal,
  ): Promise<KubeList>;
  /** Ends when the server ends it; a 410 throws a {@link GoneError}. */
  watch(resource: KubeResource, scope: Scope, from: string, signal: AbortSignal): AsyncIterable<WatchEvent>;
  /** Any path that answers text, such as a pod's `/metrics` through the proxy; `rule` is what it takes. */
  text(path: string, rule: RbacRule, signal: AbortSignal, options?: TextOptions): Promise<string>;
  json(path: string, rule: RbacRule, signal: AbortSignal): Promise<unknown>;
  /** What an object would be if a patch were applied to it. Throws a {@link RefusedError} where it is not accepted. */
  dryRun(
    resource: KubeResource,
    scope: Scope & { readonly name: string },
    patch: DryRunPatch,
    signal: AbortSignal,
  ): Promise<KubeObject>;
  close(): void;
}

/**
 * - `apply`: the whole object, as `kubectl apply --server-side` sends it, in the name of a field manager.
 * - `merge`: some of its fields.
 */
export type DryRunPatch =
  | { readonly kind: 'apply'; readonly object: unknown; readonly manager: string }
  | { readonly kind: 'merge'; readonly fields: unknown };

export interface TextOptions {
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** The versions that were asked for are no longer kept: list again. */
export class GoneError extends SourceError {
  constructor(what: string) {
    super('failed', `${what}: the resource version is too old`);
  }
}

export interface KubeOptions extends KubeconfigChoice {
  readonly clock?: Clock;
  readonly http?: Http;
  readonly run?: RunProgram;
  readonly redactor?: Redactor;
  /** How long a list or get may take, in milliseconds. */
  readonly timeoutMs?: number;
}

const maxListBytes = 256 * 2 ** 20;
const maxTextBytes = 32 * 2 ** 20;
/** A credential that the plugin gave no end to is asked for again after this. */
const credentialMs = 10 * 60_000;
/** So long before its end a credential is asked for again. */
const marginMs = 60_000;
/** Watches end by themselves after this; the server's own limit is between half an hour and an hour. */
const watchSeconds = 290;
/**
 * A bookmark comes about once a minute: a connection that says nothing for so long is dead, though nobody has told us, as
 * after a laptop has slept.
 */
const silenceMs = 150_000;
/** Certificates and token files are read again after this; a mounted token is replaced about once an hour. */
const materialMs = 60_000;

/** Where a version of a group is served. */
export function pathOfVersion(group: string, version: string): string {
  const at = encodeURIComponent(version);
  return group === '' ? `/api/${at}` : `/apis/${encodeURIComponent(group)}/${at}`;
}

export function pathOf({ group, version, plural }: KubeResource, { namespace, name }: Scope): string {
  const base = pathOfVersion(group, version);
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${base}${scope}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

export function ruleOf(resource: KubeResource, verb: RbacRule['verb'], { namespace, name }: Scope): RbacRule {
  return { apiGroup: resource.group, resource: resource.plural, verb, namespace, name };
}

/**
 * Makes a client. Reads the kubeconfig; runs no plugin and opens no connection before the first request.
 * Throws a {@link SourceError} when the kubeconfig or the context cannot be used.
 */
export async function openKube(options: KubeOptions): Promise<KubeClient> {
  const config = await loadKubeconfig(options);
  const context = contextsOf(config).find(({ isCurrent }) => isCurrent);
  if (context === undefined) {
    const names = config.contexts.map(({ name }) => name);
    throw new SourceError(
      'not-found',
      (config.currentContext ?? '') === ''
        ? 'the kubeconfig has no current context; choose one'
        : `the kubeconfig has no context "${config.currentContext}"; it has ${names.length === 0 ? 'none' : names.slice(0, 10).join(', ')}`,
    );
  }
  if (context.server === '')
    throw new SourceError(
      'malformed',
      `context ${context.name} names the cluster "${context.cluster}", which the kubeconfig does not have`,
    );
  return clientOf(config, context, options);
}

interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly options: RequestOptions;
  readonly madeAt: number;
}

function clientOf(config: KubeConfig, context: KubeContext, choice: KubeOptions): KubeClient {
  const { env, clock = systemClock, run = runProgram, timeoutMs = 20_000 } = choice;
  const redactor = choice.redactor ?? createRedactor();
  const own = choice.http === undefined ? nodeHttp() : undefined;
  const http = choice.http ?? own?.http ?? nodeHttp().http;
  const cluster = config.getCurrentCluster();
  const base = serverUrl(cluster?.server ?? '', context);
  const exec = execOf(config, context.user);
  let credential: { readonly value: ExecCredential; readonly at: number } | undefined;
  let asking: Promise<ExecCredential> | undefined;
  let access: Access | undefined;
  let agent: HttpAgent | HttpsAgent | undefined;
  let agentKey = '';

  const pluginCredential = async (signal: AbortSignal): Promise<ExecCredential | undefined> => {
    if (exec?.command === undefined) return undefined;
    const until =
      credential === undefined ? 0 : (credential.value.expiresAt ?? credential.at + credentialMs) - marginMs;
    if (credential !== undefined && clock.now() < until) return credential.value;
    // Whoever comes meanwhile waits for the same run; it is not ended by the first of them going away.
    asking ??= within(clock, timeoutMs, undefined, (inner) =>
      execCredential(
        {
          apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1beta1',
          command: exec.command ?? '',
          args: (exec.args ?? []).map(String),
          env: exec.env ?? [],
          installHint: exec.installHint,
          cluster:
            exec.provideClusterInfo === true
              ? { server: base.toString(), caData: cluster?.caData }
              : undefined,
        },
        env,
        run,
        redactor,
        inner,
      ),
    )
      .catch((error: unknown) => {
        throw asSourceError(error, `credential plugin "${exec.command ?? ''}"`, redactor.redact);
      })
      .finally(() => (asking = undefined));
    const value = await abortable(asking, signal);
    credential = { value, at: clock.now() };
    return value;
  };

  const accessNow = async (signal: AbortSignal): Promise<Access> => {
    const fromPlugin = await pluginCredential(signal);
    const isOld = access === undefined || clock.now() - access.madeAt > materialMs;
    if (!isOld && access !== undefined && exec === undefined) return access;
    const options: RequestOptions = {};
    try {
      await withoutPlugin(config).applyToHTTPSOptions(options);
    } catch (error) {
      throw new SourceError(
        'unauthenticated',
        `the credentials of context ${context.name} cannot be used: ${firstLine(redactor.redact(error instanceof Error ? error.message : String(error)))}`,
      );
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(
      (options.headers ?? {}) as Readonly<Record<string, unknown>>,
    )) {
      if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
    }
    if (typeof options.auth === 'string') {
      redactor.add(options.auth.slice(options.auth.indexOf(':') + 1));
      headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    }
    if (fromPlugin?.token !== undefined) headers['authorization'] = `Bearer ${fromPlugin.token}`;
    if (fromPlugin?.certificate !== undefined) options.cert = fromPlugin.certificate;
    if (fromPlugin?.key !== undefined) options.key = fromPlugin.key;
    redactor.add(headers['authorization']?.replace(/^\w+\s+/, ''));
    const { ca, cert, key, rejectUnauthorized, servername } = options;
    const tls: AgentOptions = {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      ...(servername === undefined ? {} : { servername }),
    };
    const newKey = [ca, cert, key]
      .map((each) => (each === undefined ? '' : String(each as Buffer | string)))
      .join('\0');
    if (agent === undefined || newKey !== agentKey) {
      agent?.destroy();
      agentKey = newKey;
      if (cluster?.proxyUrl !== undefined && cluster.proxyUrl !== '') agent = options.agent as HttpsAgent;
      else if (base.protocol === 'http:') agent = new HttpAgent({ keepAlive: true });
      // Each watch holds a connection, so their number is bounded by what is asked, not here.
      else agent = new HttpsAgent({ ...tls, keepAlive: true, maxFreeSockets: 16 });
    }
    access = { headers, options: { ...tls, agent }, madeAt: clock.now() };
    return access;
  };

  /** Sends; an answer other than a success is an error that says what is missing. */
  const send = async (
    path: string,
    rule: RbacRule,
    accept: string,
    signal: AbortSignal,
    patch?: { readonly type: string; readonly body: string },
  ): Promise<HttpResponse> => {
    const what = describeRequest(rule);
    for (let attempt = 0; ; attempt++) {
      const { headers, options } = await accessNow(signal);
      // The base may have a path of its own, as behind Rancher.
      const url = new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base);
      const response = await http({
        url,
        headers: { accept, ...headers, ...(patch === undefined ? {} : { 'content-type': patch.type }) },
        options,
        signal,
        ...(patch === undefined ? {} : { method: 'PATCH', body: patch.body }),
      });
      if (response.status >= 200 && response.status < 300) return response;
      // A token that ran out early is asked for once more.
      if (response.status === 401 && attempt === 0) {
        credential = undefined;
        access = undefined;
        await drain(response);
        continue;
      }
      throw await errorOf(response, rule, what, context, redactor);
    }
  };

  const guarded = async <T>(
    rule: RbacRule,
    ms: number,
    signal: AbortSignal,
    work: (inner: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    try {
      return await within(clock, ms, signal, work);
    } catch (error) {
      if (signal.aborted) throw new SourceError('cancelled', `${describeRequest(rule)}: cancelled`);
      throw asSourceError(error, describeRequest(rule), redactor.redact);
    }
  };

  const json = (path: string, rule: RbacRule, signal: AbortSignal): Promise<unknown> =>
    guarded(rule, timeoutMs, signal, async (inner) =>
      jsonOf(await send(path, rule, 'application/json', inner), maxListBytes, describeRequest(rule)),
    );

  return {
    context,
    redactor,
    json,
    get: async (resource, scope, signal) => {
      const rule = ruleOf(resource, 'get', scope);
      return objectOf(await json(pathOf(resource, scope), rule, signal), describeRequest(rule));
    },
    list: async (resource, scope, { limit, next }, signal) => {
      const rule = ruleOf(resource, 'list', scope);
      const query = new URLSearchParams({ limit: String(limit), ...selectorsOf(scope) });
      if (next !== undefined) query.set('continue', next);
      const path = `${pathOf(resource, { namespace: scope.namespace })}?${query.toString()}`;
      return listOf(await json(path, rule, signal), describeRequest(rule));
    },
    async *watch(resource, scope, from, signal) {
      const rule = ruleOf(resource, 'watch', scope);
      const what = describeRequest(rule);
      const query = new URLSearchParams({
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: from,
        timeoutSeconds: String(watchSeconds),
        ...selectorsOf(scope),
      });
      const path = `${pathOf(resource, { namespace: scope.namespace })}?${query.toString()}`;
      // The connection is closed however this ends.
      const connection = new AbortController();
      manyListeners(connection.signal);
      try {
        const response = await within(clock, timeoutMs, signal, () =>
          send(path, rule, 'application/json', connection.signal),
        );
        const lines = linesOf(response, maxTextBytes, what);
        for (;;) {
          const next = await within(clock, silenceMs, signal, () => lines.next());
          if (next.done === true) return;
          yield eventOf(next.value, what);
        }
      } catch (error) {
        if (signal.aborted) throw new SourceError('cancelled', `${what}: cancelled`);
        throw asSourceError(error, what, redactor.redact);
      } finally {
        connection.abort(new SourceError('cancelled', `${what}: closed`));
      }
    },
    dryRun: (resource, scope, patch, signal) => {
      const rule = ruleOf(resource, 'patch', scope);
      const what = describeRequest(rule);
      const query = new URLSearchParams({
        dryRun: 'All',
        fieldValidation: 'Strict',
        ...(patch.kind === 'apply' ? { fieldManager: patch.manager, force: 'true' } : {}),
      });
      const sent =
        patch.kind === 'apply'
          ? { type: 'application/apply-patch+yaml', body: JSON.stringify(patch.object) }
          : { type: 'application/merge-patch+json', body: JSON.stringify(patch.fields) };
      return guarded(rule, timeoutMs, signal, async (inner) => {
        const path = `${pathOf(resource, scope)}?${query.toString()}`;
        const response = await send(path, rule, 'application/json', inner, sent);
        return objectOf(await jsonOf(response, maxListBytes, what), what);
      });
    },
    text: (path, rule, signal, { timeoutMs: ms = timeoutMs, maxBytes = maxTextBytes } = {}) =>
      guarded(rule, ms, signal, async (inner) =>
        textOf(await send(path, rule, '*/*', inner), maxBytes, describeRequest(rule)),
      ),
    close: () => {
      agent?.destroy();
      own?.close();
    },
  };
}

function serverUrl(server: string, context: KubeContext): URL {
  try {
    const url = new URL(server);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // Said below.
  }
  throw new SourceError('malformed', `the server of context ${context.name} is not a URL: ${context.server}`);
}

/** The configuration without what we do ourselves, so that the library runs no program. */
function withoutPlugin(config: KubeConfig): KubeConfig {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(config) as object) as KubeConfig, config);
  copy.users = config.users.map((user) => ({ ...user, exec: undefined }));
  // The library refuses HTTP without this, and has nothing to verify with it.
  copy.clusters = config.clusters.map((each) =>
    each.server.startsWith('http:') ? { ...each, skipTLSVerify: true } : each,
  );
  return copy;
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(reasonOf(signal));
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function selectorsOf({ labelSelector, fieldSelector, name }: Scope): Readonly<Record<string, string>> {
  const field = [
    ...(name === undefined ? [] : [`metadata.name=${name}`]),
    ...(fieldSelector === undefined ? [] : [fieldSelector]),
  ];
  return {
    ...(labelSelector === undefined || labelSelector === '' ? {} : { labelSelector }),
    ...(field.length === 0 ? {} : { fieldSelector: field.join(',') }),
  };
}

/** `list pods in namespace chat`. */
export function describeRequest({ verb, resource, namespace, apiGroup, name }: RbacRule): string {
  const group = apiGroup === '' ? '' : `.${apiGroup}`;
  const one = name === undefined ? '' : ` ${name}`;
  return `${verb} ${resource}${group}${one}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

async function drain(response: HttpResponse): Promise<void> {
  try {
    await textOf(response, 1 << 20, '');
  } catch {
    // It is not looked at.
  }
}

async function errorOf(
  response: HttpResponse,
  rule: RbacRule,
  what: string,
  context: KubeContext,
  { redact }: Redactor,
): Promise<SourceError> {
  let text = '';
  try {
    text = await textOf(response, 1 << 20, what);
  } catch {
    // The status says enough.
  }
  const words = firstLine(redact(messageIn(text)));
  const because = words === '' ? '' : `: ${words}`;
  switch (response.status) {
    case 401:
      return new SourceError(
        'unauthenticated',
        `the API server does not accept the credentials of context ${context.name}; log in again${context.plugin === undefined ? '' : ` (its plugin is ${redact(context.plugin)})`}`,
      );
    case 403:
      return new SourceError('denied', `403 Forbidden: cannot ${what}`, missingRule(rule));
    case 404:
      return new SourceError('not-found', `${what}: ${words === '' ? 'there is no such thing' : words}`);
    case 400:
    case 422:
      if (rule.verb !== 'patch') break;
      return refused(text, redact);
    case 500:
      // An apply whose object has not the form of its kind is told with this status.
      if (rule.verb !== 'patch' || !words.includes('failed to create typed patch object')) break;
      return refused(text, redact);
    case 410:
      return new GoneError(what);
    case 429:
      return new SourceError('throttled', `${what}: the API server asks to come back later`);
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return new SourceError(
        'failed',
        `${what}: the server redirects, as to a log-in; credentials are not sent on`,
      );
    case 502:
    case 503:
    case 504:
      return new SourceError('unreachable', `${what}: ${response.status}${because}`);
  }
  return new SourceError('failed', `${what}: ${response.status}${because}`);
}

function refused(text: string, redact: Redactor['redact']): RefusedError {
  const rejections = rejectionsIn(text, redact);
  return new RefusedError(rejections.map(({ message }) => message).join('; '), rejections);
}

/** What a `Status` says of each field. What is wrong with the form of an object is in a message alone. */
function rejectionsIn(text: string, redact: Redactor['redact']): readonly Rejection[] {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    return [];
  }
  const rejections = listAt(status, 'details', 'causes').flatMap((cause): readonly Rejection[] => {
    const [field = '', message = ''] = [textAt(cause, 'field'), textAt(cause, 'message')];
    // The whole object that the patch makes is quoted before the fault, with all its values.
    if (field === 'patch') return formFaults(message.slice(message.lastIndexOf('": ') + 3));
    return [{ field, message }];
  });
  const all = rejections.length > 0 ? rejections : formFaults(textAt(status, 'message') ?? '');
  return all.map(({ field, message }) => ({ field, message: firstLine(redact(message)) }));
}

/**
 * - `strict decoding error: unknown field "spec.replica", unknown field "spec.paused2"`, of a strict reader;
 * - `json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string`;
 * - `.spec.replicas: expected numeric (int or float), got string`, of the schema of an apply.
 */
function formFaults(message: string): readonly Rejection[] {
  const strict = [...message.matchAll(/(?:unknown|duplicate) field "([^"]+)"/g)];
  if (strict.length > 0) return strict.map(([words, field = '']) => ({ field, message: words }));
  const go = /Go struct field \w+\.([\w.]+) of type/.exec(message);
  if (go !== null) return [{ field: go[1] ?? '', message }];
  const typed = /\.((?:[\w-]+(?:\[[^\]]*\])?\.?)+): (.+)$/.exec(message);
  return [{ field: typed?.[1] ?? '', message: typed?.[2] ?? message }];
}

/** The message of a `Status`, else the text itself. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not a Status.
  }
  return /^\s*</.test(text) ? '' : text;
}

function objectOf(value: unknown, what: string): KubeObject {
  if (isRecord(value) && isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string')
    return value as unknown as KubeObject;
  throw new SourceError('malformed', `${what}: the answer is not a Kubernetes object`);
}

/** Items that are no objects with names are left out: one broken item does not hide the others. */
function listOf(value: unknown, what: string): KubeList {
  if (
    !isRecord(value) ||
    !isRecord(value['metadata']) ||
    !(Array.isArray(value['items']) || value['items'] === null)
  )
    throw new SourceError('malformed', `${what}: the answer is not a list`);
  const { resourceVersion, continue: next } = value['metadata'];
  const items = ((value['items'] ?? []) as readonly unknown[]).filter(
    (item): item is KubeObject =>
      isRecord(item) && isRecord(item['metadata']) && typeof item['metadata']['name'] === 'string',
  );
  return {
    items,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}

function eventOf(line: string, what: string): WatchEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new SourceError('malformed', `${what}: an event is not JSON`);
  }
  const { type, object } = isRecord(value) ? value : {};
  if (type === 'ERROR') {
    const { code, message } = isRecord(object) ? object : {};
    if (code === 410) throw new GoneError(what);
    throw new SourceError(
      'failed',
      `${what}: ${firstLine(typeof message === 'string' ? message : 'the watch ended with an error')}`,
    );
  }
  if (type === 'BOOKMARK' && isRecord(object)) return { type, object: object as unknown as KubeObject };
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')
    return { type, object: objectOf(object, what) };
  throw new SourceError('malformed', `${what}: an event of an unknown type`);
}
