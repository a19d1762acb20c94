import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** An API server that denies everything, and counts who comes; and a kubeconfig that leads to it. */
export interface DenyingCluster {
  readonly kubeconfig: string;
  contacts(): number;
  close(): Promise<void>;
}

/** Is in the kubeconfig, and must be nowhere else. */
export const plantedToken = 'planted-5f3c9d1e7a';

export async function openCluster(folder: string): Promise<DenyingCluster> {
  let contacts = 0;
  const server = createServer((request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    const message = `${request.url ?? ''} is forbidden: User "tester" cannot do this`;
    response.end(
      JSON.stringify({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'Forbidden',
        message,
        code: 403,
      }),
    );
  });
  server.on('connection', () => (contacts += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(folder, 'kubeconfig.yaml');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'denying',
    clusters: [{ name: 'denying-cluster', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'tester', user: { token: plantedToken } }],
    contexts: [
      { name: 'denying', context: { cluster: 'denying-cluster', user: 'tester', namespace: 'llm' } },
    ],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    contacts: () => contacts,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
