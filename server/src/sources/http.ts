import { request as httpRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
import { SourceError } from './failure';
import { reasonOf } from './runtime';

export interface HttpRequest {
  readonly url: URL;
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Certificates, agent and the like. */
  readonly options?: RequestOptions;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed. Ends with an error when the connection breaks off before the whole body came. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends one request. Redirects are answers like any other: a credential goes nowhere but where it was meant to go. */
export type Http = (request: HttpRequest) => Promise<HttpResponse>;

export interface HttpClient {
  readonly http: Http;
  /** Closes connections that are kept for the next request. */
  close(): void;
}

/** HTTP over Node, with connections that are kept. Opens none before the first request. */
export function nodeHttp(maxSockets = 16): HttpClient {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets }),
  };
  return {
    http: (request) => send(request, request.url.protocol === 'https:' ? agents['https:'] : agents['http:']),
    close: () => {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

function send(
  { url, method, headers, body, signal, options }: HttpRequest,
  agent: HttpAgent,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(reasonOf(signal));
      return;
    }
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    // Not the option of Node: it would bind the connection to this signal too, which then serves other requests.
    let received: IncomingMessage | undefined;
    const abort = (): void => void (received ?? sending).destroy(reasonOf(signal));
    const unlisten = (): void => signal.removeEventListener('abort', abort);
    const sending = start(
      url,
      {
        agent,
        ...options,
        method: method ?? 'GET',
        headers: {
          'accept-encoding': 'gzip, deflate, br',
          'user-agent': 'plimsoll',
          ...headers,
          ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        },
      },
      (response) => {
        // Whoever reads the body gets its error; a body that nobody reads any more must not end the process with it.
        response.on('error', () => undefined);
        received = response;
        // The connection is the next request's as soon as the body has ended.
        response.once('end', unlisten);
        response.once('close', unlisten);
        resolve({
          status: response.statusCode ?? 0,
          headers: plainHeaders(response),
          body: decoded(response),
        });
      },
    );
    signal.addEventListener('abort', abort, { once: true });
    sending.once('close', unlisten);
    sending.on('error', (error) => reject(signal.aborted ? reasonOf(signal) : error));
    sending.end(body);
  });
}

function plainHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return result;
}

function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase();
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (decoder === undefined) return response;
  // Errors reach the reader through the decoder, which is destroyed with them.
  return pipeline(response, decoder, () => undefined);
}

/** The whole body as text. Throws a {@link SourceError} when there is more of it than `maxBytes`. */
export async function textOf({ body }: HttpResponse, maxBytes: number, what: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes)
      throw new SourceError(
        'malformed',
        `${what}: the answer is larger than ${Math.round(maxBytes / 2 ** 20)} MiB`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The body as JSON; half an answer, or a page of a proxy, is a {@link SourceError} that says so. */
export async function jsonOf(response: HttpResponse, maxBytes: number, what: string): Promise<unknown> {
  const text = await textOf(response, maxBytes, what);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const looksLikeHtml = /^\s*<(?:!doctype|html)/i.test(text);
    throw new SourceError(
      'malformed',
      `${what}: ${looksLikeHtml ? 'the answer is a web page, as of a log-in or a proxy, not JSON' : text.trim() === '' ? 'the answer is empty' : 'the answer is not whole JSON'}`,
    );
  }
}

/** Lines of a body as they arrive. A line that the end of the connection cut off is not among them. */
export async function* linesOf(
  { body }: HttpResponse,
  maxLineBytes: number,
  what: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf('\n', start); end !== -1; end = rest.indexOf('\n', start)) {
      if (end > start) yield rest.slice(start, end);
      start = end + 1;
    }
    rest = rest.slice(start);
    if (rest.length > maxLineBytes) throw new SourceError('malformed', `${what}: a line without an end`);
  }
}
