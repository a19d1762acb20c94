import { spawnSync } from 'node:child_process';
import { createServer, connect, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * A network namespace has a loopback of its own. What stands in the file system is the same inside and outside, so a
 * socket file for each port carries connections between the two: outside, somebody listens on the port and connects
 * to the file ({@link listenOutside}); inside, this program listens on the file and connects to the port.
 *
 * `relay.ts FOLDER PORT...`, to be run inside a new namespace, which lives as long as this program. It says `ready` on
 * a line, and ends when its standard input does.
 */

/** The pods' addresses. Inside the namespace all of them are this machine. */
export const podNetwork = '10.244.0.0/16';

export function socketFile(folder: string, port: number): string {
  return join(folder, `${port}.sock`);
}

/** Carries connections to a port of this side's loopback to the other side. */
export function listenOutside(folder: string, port: number): Promise<Server> {
  return listening(
    createServer((socket) => carry(socket, connect(socketFile(folder, port)))),
    { port, host: '127.0.0.1' },
  );
}

function listening(server: Server, where: { port: number; host: string } | string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => resolve(server));
  });
}

function carry(one: ReturnType<typeof connect>, other: ReturnType<typeof connect>): void {
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.on('close', () => other.destroy());
  other.on('close', () => one.destroy());
  one.pipe(other).pipe(one);
}

async function main([folder = '', ...ports]: readonly string[]): Promise<void> {
  for (const args of [
    ['link', 'set', 'lo', 'up'],
    ['route', 'add', 'local', podNetwork, 'dev', 'lo'],
  ]) {
    const result = spawnSync('ip', args, { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`ip ${args.join(' ')}: ${result.stderr}`);
  }
  for (const port of ports.map(Number)) {
    await listening(
      createServer((socket) => carry(socket, connect(port, '127.0.0.1'))),
      socketFile(folder, port),
    );
  }
  process.stdout.write('ready\n');
  process.stdin.on('end', () => process.exit(0)).resume();
}

if (require.main === module) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
}
