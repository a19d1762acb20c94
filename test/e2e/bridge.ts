import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Reply, Request, Result } from './protocol';

export interface Bridge {
  /** Where the suite sends its requests. */
  readonly url: string;
  readonly results: readonly Result[];
  close(): Promise<void>;
}

/**
 * The launcher's end of the line to the suite: a loopback server that collects results and passes gestures to `act`.
 * The suite runs in the extension host, which cannot touch the window; the launcher can.
 */
export async function openBridge(act: (request: Request) => Promise<unknown>): Promise<Bridge> {
  const results: Result[] = [];
  const server = createServer((incoming, outgoing) => {
    void answer(incoming).then((reply) => outgoing.end(JSON.stringify(reply)));
  });

  async function answer(incoming: IncomingMessage): Promise<Reply> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const request = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Request;
      if (request.kind === 'result') {
        results.push(request.result);
        return { value: null };
      }
      return { value: (await act(request)) ?? null };
    } catch (error) {
      return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    results,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
