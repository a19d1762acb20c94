import { createServer } from 'node:net';

/** So many different TCP ports of loopback that nobody listens on at the moment. */
export async function freePorts(count: number): Promise<readonly number[]> {
  // All are held until the last one is known, so that none is given twice.
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      servers.map(
        (server) =>
          new Promise<number>((resolve, reject) => {
            server.once('error', reject);
            server.listen(0, '127.0.0.1', () => {
              const address = server.address();
              if (address !== null && typeof address === 'object') resolve(address.port);
              else reject(new Error('a server without a port'));
            });
          }),
      ),
    );
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
