import { request } from 'node:http';
import type { Reply, Request } from '../protocol';
import { bridgeVariable } from '../protocol';

/** The suite's end of the line to its launcher. */
export function ask<T>(body: Request): Promise<T> {
  const url = process.env[bridgeVariable];
  if (url === undefined)
    return Promise.reject(new Error(`${bridgeVariable} is not set: no launcher is there`));
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST' }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const reply = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Reply;
        if ('error' in reply) reject(new Error(reply.error));
        else resolve(reply.value as T);
      });
    });
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}
