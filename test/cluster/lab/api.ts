import { Agent, request } from 'node:https';

/** JSON as the API server sends it. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** An object of the API; what tests look at beyond this they take from `spec` and `status` with {@link at}. */
export interface KubeObject extends JsonObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly uid?: string;
  };
}

/** One reason of a rejection. */
export interface Cause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

export interface Answer {
  readonly status: number;
  /** JSON where it is such, else the text. */
  readonly body: Json;
  /** Texts of `Warning` headers. */
  readonly warnings: readonly string[];
}

/** An answer that is not a success. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly causes: readonly Cause[],
  ) {
    super(message);
  }
}

export interface ApiAccess {
  readonly server: string;
  /** PEM text of the authority of the server's certificate. */
  readonly ca: string;
  readonly token: string;
}

export interface Sent {
  /** An object is sent as JSON; a text as it is. */
  readonly body?: string | JsonObject;
  readonly contentType?: string;
}

/** The API server as one user sees it. */
export interface Api {
  /** Sends a request and answers whatever came back. */
  call(method: string, path: string, sent?: Sent): Promise<Answer>;
  /** As `call`, but throws an {@link ApiError} for anything but a success. */
  send(method: string, path: string, sent?: Sent): Promise<JsonObject>;
  get(path: string): Promise<JsonObject>;
  /** `undefined` when it does not exist. */
  find(path: string): Promise<KubeObject | undefined>;
  list(path: string): Promise<readonly KubeObject[]>;
  /** A merge patch. */
  patch(path: string, body: JsonObject): Promise<JsonObject>;
  /** Also when it is not there. */
  delete(path: string): Promise<void>;
}

const timeoutMs = 30_000;

export function apiOf({ server, ca, token }: ApiAccess): Api {
  const agent = new Agent({ keepAlive: true, ca, maxSockets: 8 });
  const base = new URL(server);

  const call = (method: string, path: string, { body, contentType }: Sent = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const sending = request(
        {
          agent,
          method,
          host: base.hostname,
          port: base.port,
          path,
          timeout: timeoutMs,
          headers: {
            accept: 'application/json',
            authorization: `Bearer ${token}`,
            ...(text === undefined
              ? {}
              : {
                  'content-type': contentType ?? 'application/json',
                  'content-length': Buffer.byteLength(text),
                }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const received = Buffer.concat(chunks).toString('utf8');
            resolve({
              status: response.statusCode ?? 0,
              body: parsed(received),
              warnings: warningsIn(response.headers['warning']),
            });
          });
        },
      );
      sending.on('timeout', () => sending.destroy(new Error(`${method} ${path}: no answer`)));
      sending.on('error', reject);
      sending.end(text);
    });

  const send = async (method: string, path: string, sent?: Sent): Promise<JsonObject> => {
    const answer = await call(method, path, sent);
    if (answer.status >= 300) throw errorOf(method, path, answer);
    return answer.body as JsonObject;
  };

  return {
    call,
    send,
    get: (path) => send('GET', path),
    find: async (path) => {
      const answer = await call('GET', path);
      if (answer.status === 404) return undefined;
      if (answer.status >= 300) throw errorOf('GET', path, answer);
      return answer.body as KubeObject;
    },
    list: async (path) => ((await send('GET', path))['items'] ?? []) as readonly KubeObject[],
    patch: (path, body) => send('PATCH', path, { body, contentType: 'application/merge-patch+json' }),
    delete: async (path) => {
      const answer = await call('DELETE', path, { body: { propagationPolicy: 'Background' } });
      if (answer.status >= 300 && answer.status !== 404) throw errorOf('DELETE', path, answer);
    },
  };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** `299 - "text"`, several of them joined by commas; quotes inside are escaped. */
function warningsIn(header: string | readonly string[] | undefined): readonly string[] {
  const text = header === undefined ? '' : typeof header === 'string' ? header : header.join(', ');
  return [...text.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}

export function errorOf(method: string, path: string, { status, body }: Answer): ApiError {
  const message = at(body, 'message');
  const causes = at(body, 'details', 'causes');
  return new ApiError(
    status,
    typeof message === 'string' && message !== ''
      ? message
      : `${method} ${path}: ${status} ${typeof body === 'string' ? body.trim() : JSON.stringify(body)}`,
    Array.isArray(causes) ? (causes as unknown as readonly Cause[]) : [],
  );
}

/** The value under a path of keys and indexes; `undefined` as soon as a step is not there. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path) {
    if (here === null || typeof here !== 'object') return undefined;
    here = (here as { readonly [key: string | number]: Json | undefined })[step];
  }
  return here;
}
