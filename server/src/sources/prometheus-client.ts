import { createSigner, credentialsOf, type AwsAccess } from './aws';
import { SourceError, asSourceError, firstLine, type RbacRule } from './failure';
import { jsonOf, textOf, type Http } from './http';
import { at, isRecord, listAt, textAt, textsAt } from './json';
import type { KubeWorld } from './kube-world';
import type { Redactor } from './redact';
import { within, type Clock } from './runtime';

/** Where a Prometheus is. */
export type PrometheusPlace =
  /** By its URL, which may have a path before `/api/v1`. */
  | {
      readonly kind: 'url';
      readonly url: string;
      /** The value of an Authorization header, such as `Bearer ...`; asked for with each request, never kept. */
      readonly authorization?: () => Promise<string | undefined>;
      /** Mimir and Cortex ask for a tenant. */
      readonly tenant?: string | undefined;
    }
  /** A Service of the cluster, through the API server's proxy. */
  | {
      readonly kind: 'service';
      readonly world: KubeWorld;
      readonly namespace: string;
      readonly service: string;
      /** Number or name. */
      readonly port: string;
      readonly scheme?: 'http' | 'https';
      readonly path?: string | undefined;
    }
  /** Amazon Managed Service for Prometheus. */
  | {
      readonly kind: 'amp';
      readonly workspace: string;
      readonly access: AwsAccess;
      /** In the place of the endpoint of the region. */
      readonly endpoint?: string | undefined;
    };

/** `monitoring/prometheus-operated:9090`: a Service, by its namespace and port. */
export function serviceIn(
  text: string,
): { readonly namespace: string; readonly service: string; readonly port: string } | undefined {
  const match = /^([a-z0-9-]+)\/([a-z0-9-]+):([a-z0-9-]+)$/.exec(text);
  if (match === null) return undefined;
  const [, namespace = '', service = '', port = ''] = match;
  return { namespace, service, port };
}

export interface PrometheusRuntime {
  readonly http: Http;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly timeoutMs?: number;
}

/** One series of an answer: times in milliseconds, values that are finite. */
export interface PrometheusSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [at: number, value: number])[];
}

export interface PrometheusAnswer {
  readonly series: readonly PrometheusSeries[];
  readonly warnings: readonly string[];
}

export interface PrometheusClient {
  /** For people; without credentials. */
  readonly endpoint: string;
  instant(query: string, at: number, signal: AbortSignal): Promise<PrometheusAnswer>;
  /** `from` and `to` in milliseconds, both included. */
  range(
    query: string,
    from: number,
    to: number,
    stepMs: number,
    signal: AbortSignal,
  ): Promise<PrometheusAnswer>;
}

const maxBytes = 64 * 2 ** 20;

type Ask = (path: string, params: URLSearchParams, what: string, signal: AbortSignal) => Promise<unknown>;

/** Only GET is used: the query's length is bounded by the URL, but reading never needs a right to write. */
export function prometheusClient(place: PrometheusPlace, runtime: PrometheusRuntime): PrometheusClient {
  const { clock, timeoutMs = 10_000, redactor } = runtime;
  const { ask, endpoint } = askerOf(place, runtime);
  const run = async (
    path: string,
    params: URLSearchParams,
    signal: AbortSignal,
  ): Promise<PrometheusAnswer> => {
    const what = `query of ${endpoint}`;
    try {
      params.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`);
      return answerOf(
        await within(clock, timeoutMs, signal, (inner) => ask(path, params, what, inner)),
        what,
        redactor,
      );
    } catch (error) {
      if (signal.aborted) throw new SourceError('cancelled', `${what}: cancelled`);
      throw asSourceError(error, what, redactor.redact);
    }
  };
  const seconds = (ms: number): string => String(ms / 1000);
  return {
    endpoint,
    instant: (query, when, signal) =>
      run('/api/v1/query', new URLSearchParams({ query, time: seconds(when) }), signal),
    range: (query, from, to, stepMs, signal) =>
      run(
        '/api/v1/query_range',
        new URLSearchParams({ query, start: seconds(from), end: seconds(to), step: seconds(stepMs) }),
        signal,
      ),
  };
}

function askerOf(
  place: PrometheusPlace,
  runtime: PrometheusRuntime,
): { readonly ask: Ask; readonly endpoint: string } {
  const { http, redactor, clock } = runtime;
  switch (place.kind) {
    case 'service': {
      const { world, namespace, service, port, scheme, path: prefix = '' } = place;
      const target = `${scheme === 'https' ? 'https:' : ''}${encodeURIComponent(service)}:${encodeURIComponent(port)}`;
      const base = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${target}/proxy${prefix.replace(/\/$/, '')}`;
      const rule: RbacRule = { apiGroup: '', resource: 'services/proxy', verb: 'get', namespace };
      return {
        endpoint: `service ${namespace}/${service}:${port}, through the API server`,
        ask: async (path, params, _, signal) => {
          world.touch();
          const client = await world.client();
          return client.json(`${base}${path}?${params.toString()}`, rule, signal);
        },
      };
    }
    case 'url': {
      const base = baseUrl(place.url);
      const endpoint = shown(base);
      return {
        endpoint,
        ask: async (path, params, what, signal) => {
          const url = joined(base, path, params);
          const authorization = (await place.authorization?.()) ?? basicOf(base);
          redactor.add(authorization?.replace(/^\w+\s+/, ''));
          redactor.add(decodeURIComponent(base.password));
          return send(
            http,
            url,
            {
              ...(authorization === undefined ? {} : { authorization }),
              ...(place.tenant === undefined ? {} : { 'x-scope-orgid': place.tenant }),
            },
            what,
            signal,
            redactor,
            (status) =>
              new SourceError(
                status === 401 ? 'unauthenticated' : 'denied',
                `${what}: ${status === 401 ? '401 Unauthorized' : '403 Forbidden'}`,
              ),
          );
        },
      };
    }
    case 'amp': {
      const { workspace, access } = place;
      const base = baseUrl(
        place.endpoint ??
          `https://aps-workspaces.${access.region}.${access.region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}/workspaces/${workspace}`,
      );
      const signer = createSigner('aps', access.region, credentialsOf(access, redactor), clock);
      return {
        endpoint: shown(base),
        ask: async (path, params, what, signal) => {
          const url = joined(base, path, params);
          const { host, ...headers } = await signer.sign(url);
          void host;
          return send(http, url, headers, what, signal, redactor, (status, words) => {
            // AMP answers 403 to a signature it cannot use, too, and says so.
            const isSignature = status === 401 || /signature|security token|credential|expired/i.test(words);
            return isSignature
              ? new SourceError(
                  'unauthenticated',
                  `${what}: AWS does not accept the credentials${words === '' ? '' : `: ${words}`}`,
                )
              : new SourceError('denied', `${what}: 403 Forbidden`, {
                  kind: 'iam',
                  action: 'aps:QueryMetrics',
                  resource: `arn:aws:aps:${access.region}:*:workspace/${workspace}`,
                });
          });
        },
      };
    }
  }
}

function baseUrl(text: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Said below.
  }
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new SourceError('malformed', `the address of Prometheus is not an http or https URL`);
  return url;
}

function shown(base: URL): string {
  return `${base.protocol}//${base.host}${base.pathname.replace(/\/$/, '')}`;
}

function joined(base: URL, path: string, params: URLSearchParams): URL {
  const url = new URL(base);
  url.username = '';
  url.password = '';
  url.hash = '';
  // People copy the address of the API as well as that of the server.
  url.pathname = `${base.pathname.replace(/\/(api\/v1\/?(query(_range)?)?)?$/, '')}${path}`;
  // Spaces as %20: the signature of AWS is over that form.
  url.search = params.toString().replace(/\+/g, '%20');
  return url;
}

function basicOf({ username, password }: URL): string | undefined {
  if (username === '') return undefined;
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
}

async function send(
  http: Http,
  url: URL,
  headers: Readonly<Record<string, string>>,
  what: string,
  signal: AbortSignal,
  { redact }: Redactor,
  denied: (status: number, words: string) => SourceError,
): Promise<unknown> {
  const response = await http({ url, headers: { accept: 'application/json', ...headers }, signal });
  const { status } = response;
  if (status >= 200 && status < 300) return jsonOf(response, maxBytes, what);
  const text = await textOf(response, 1 << 20, what).catch(() => '');
  let words: string;
  try {
    const answer = JSON.parse(text) as unknown;
    words = textAt(answer, 'error') ?? textAt(answer, 'message') ?? textAt(answer, 'Message') ?? '';
  } catch {
    words = /^\s*</.test(text) ? '' : text;
  }
  words = firstLine(redact(words));
  if (status === 401 || status === 403) throw denied(status, words);
  if (status === 429) throw new SourceError('throttled', `${what}: asked too often`);
  if (status >= 300 && status < 400)
    throw new SourceError(
      'failed',
      `${what}: the server redirects, as to a log-in; credentials are not sent on`,
    );
  const kind =
    status === 404
      ? 'not-found'
      : status === 502 || status === 503 || status === 504
        ? 'unreachable'
        : 'failed';
  throw new SourceError(kind, `${what}: ${status}${words === '' ? '' : `: ${words}`}`);
}

/** An answer of the HTTP API (https://prometheus.io/docs/prometheus/latest/querying/api/). */
function answerOf(value: unknown, what: string, { redact }: Redactor): PrometheusAnswer {
  if (textAt(value, 'status') === 'error')
    throw new SourceError(
      'failed',
      `${what}: ${firstLine(redact(textAt(value, 'error') ?? 'the query failed'))}`,
    );
  const type = textAt(value, 'data', 'resultType');
  const result = at(value, 'data', 'result');
  if (textAt(value, 'status') !== 'success' || type === undefined || !Array.isArray(result))
    throw new SourceError('malformed', `${what}: the answer is not one of Prometheus`);
  const warnings = listAt(value, 'warnings')
    .filter((each): each is string => typeof each === 'string')
    .map((each) => firstLine(redact(each)));
  if (type === 'scalar') {
    const point = pointOf(result);
    return { series: point === undefined ? [] : [{ labels: {}, points: [point] }], warnings };
  }
  if (type !== 'vector' && type !== 'matrix')
    throw new SourceError('malformed', `${what}: the answer is of type ${firstLine(redact(type), 40)}`);
  const series = (result as readonly unknown[]).map((each): PrometheusSeries => {
    if (!isRecord(each) || !isRecord(each['metric']))
      throw new SourceError('malformed', `${what}: a series has no labels`);
    const points = type === 'vector' ? [each['value']] : listAt(each, 'values');
    return {
      labels: textsAt(each, 'metric'),
      points: points.flatMap((point) => {
        const one = pointOf(point);
        return one === undefined ? [] : [one];
      }),
    };
  });
  return { series, warnings };
}

/** A time in seconds and a number in words. NaN and infinity, as of a quantile of nothing, are no points. */
function pointOf(value: unknown): readonly [number, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [when, text] = value as readonly unknown[];
  const number =
    typeof text === 'string' && text.trim() !== '' ? Number(text) : typeof text === 'number' ? text : NaN;
  return typeof when === 'number' && Number.isFinite(number) ? [Math.round(when * 1000), number] : undefined;
}
