import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A hub on the loopback interface: files of repositories, as `resolve` serves them. */
export interface TestHub {
  readonly url: string;
  /** Method, path and credentials of each request. */
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

export interface HubFiles {
  /** By `owner/name`, then by path. */
  readonly [repository: string]: Readonly<Record<string, string | Uint8Array>>;
}

/**
 * @param gated repositories that only this token may read.
 * @param answer stands in for the files: a status, or never an answer.
 */
export async function startHub(
  files: HubFiles,
  options: { readonly gated?: Readonly<Record<string, string>>; readonly answer?: number | 'never' } = {},
): Promise<TestHub> {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const path = decodeURIComponent((request.url ?? '').replace(/\?.*$/, ''));
    requests.push({ path, authorization: request.headers.authorization });
    if (options.answer === 'never') return;
    if (typeof options.answer === 'number') return void response.writeHead(options.answer).end();
    const match = /^\/((?:[\w.-]+\/)?[\w.-]+)\/(?:resolve|raw)\/([^/]+)\/(.+)$/.exec(path);
    const [, repository = '', , file = ''] = match ?? [];
    const token = options.gated?.[repository];
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      return void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"no"}');
    }
    const content = files[repository]?.[file];
    if (content === undefined) {
      return void response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
    }
    const bytes = Buffer.from(content);
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const headers = { etag: '"1"', 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' };
    if (range === null) {
      response.writeHead(200, { ...headers, 'content-length': bytes.length });
      return void response.end(request.method === 'HEAD' ? undefined : bytes);
    }
    const start = Number(range[1]);
    const end = Math.min(range[2] === '' ? bytes.length - 1 : Number(range[2]), bytes.length - 1);
    if (start > end)
      return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    response.writeHead(206, {
      ...headers,
      'content-range': `bytes ${start}-${end}/${bytes.length}`,
      'content-length': end - start + 1,
    });
    response.end(request.method === 'HEAD' ? undefined : bytes.subarray(start, end + 1));
  };
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** A safetensors file without its data: the header says how long that would be, and nobody reads it. */
export function safetensors(
  tensors: Readonly<Record<string, readonly [type: string, ...shape: number[]]>>,
): Uint8Array {
  const bytes: Readonly<Record<string, number>> = { BF16: 2, F16: 2, F32: 4, I32: 4, F8_E4M3: 1, U8: 1 };
  let offset = 0;
  const header = Object.fromEntries(
    Object.entries(tensors).map(([name, [type, ...shape]]) => {
      const start = offset;
      offset += shape.reduce((product, size) => product * size, 1) * (bytes[type] ?? 1);
      return [name, { dtype: type, shape, data_offsets: [start, offset] }];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.alloc(offset)]);
}
