import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendJson, startLoopback, type Received } from './loopback';

export interface FakeObject {
  metadata: { name: string; namespace?: string; [key: string]: unknown };
  [key: string]: unknown;
}

/** Says how a request is answered in place of the usual; `false`: as usual. */
export type Fault = (request: Received, response: ServerResponse) => boolean;

export interface FakeApiServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** Objects by the path of their list across namespaces, such as `/api/v1/pods`. */
  put(list: string, object: FakeObject): void;
  remove(list: string, object: FakeObject): void;
  bookmark(list: string): void;
  /** Ends all watches of a list; with a 410 event before when they are too old. */
  endWatches(list: string, how: 'end' | 'gone' | 'reset'): void;
  readonly watches: number;
  fault: Fault;
  /** A kubeconfig with one context, `test`. */
  kubeconfig(user?: Readonly<Record<string, unknown>>): string;
  close(): Promise<void>;
}

interface OpenWatch {
  readonly list: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly response: ServerResponse;
}

export const token = 'planted-kube-token-7f3a';

/** As much of an API server as lists and watches need, so that it can be told to misbehave. */
export async function startFakeApiServer(): Promise<FakeApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kube-'));
  const lists = new Map<string, Map<string, FakeObject>>();
  const watches = new Set<OpenWatch>();
  let version = 100;
  const known = new Set<string>();
  const server: { fault: Fault } = { fault: () => false };

  const log: {
    readonly version: number;
    readonly list: string;
    readonly type: string;
    readonly object: FakeObject;
  }[] = [];
  const tell = (watch: OpenWatch, list: string, type: string, object: FakeObject): void => {
    if (watch.list !== list) return;
    if (watch.namespace !== undefined && watch.namespace !== object.metadata.namespace) return;
    if (watch.name !== undefined && watch.name !== object.metadata.name) return;
    watch.response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const send = (list: string, type: string, object: FakeObject): void => {
    log.push({ version, list, type, object });
    for (const watch of watches) tell(watch, list, type, object);
  };

  const loopback = await startLoopback((request, response) => {
    if (server.fault(request, response)) return;
    if (request.path === '/version') {
      sendJson(response, 200, { gitVersion: 'v1.36.1' });
      return;
    }
    const match =
      /^((?:\/api\/v1|\/apis\/[^/]+\/[^/]+))(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?$/.exec(
        request.path,
      );
    const [, base = '', namespace, plural = '', name] = match ?? [];
    const list = `${base}/${plural}`;
    const objects = lists.get(list);
    if (match === null || (objects === undefined && !known.has(list))) {
      sendJson(response, 404, {
        kind: 'Status',
        message: 'the server could not find the requested resource',
      });
      return;
    }
    if (name !== undefined) {
      const found = objects?.get(`${namespace ?? ''}/${name}`);
      if (found === undefined)
        sendJson(response, 404, { kind: 'Status', message: `${plural} "${name}" not found` });
      else sendJson(response, 200, found);
      return;
    }
    const field = /metadata\.name=([^,]+)/.exec(request.query.get('fieldSelector') ?? '')?.[1];
    if (request.query.get('watch') === 'true') {
      response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
      response.flushHeaders();
      const watch: OpenWatch = { list, namespace, name: field, response };
      watches.add(watch);
      const since = Number(request.query.get('resourceVersion'));
      for (const event of log) if (event.version > since) tell(watch, event.list, event.type, event.object);
      response.on('close', () => watches.delete(watch));
      return;
    }
    const all = [...(objects?.values() ?? [])].filter(
      ({ metadata }) =>
        (namespace === undefined || metadata.namespace === namespace) &&
        (field === undefined || metadata.name === field),
    );
    const limit = Number(request.query.get('limit') ?? all.length);
    const from = Number(request.query.get('continue') ?? 0);
    const next = from + limit < all.length ? String(from + limit) : undefined;
    sendJson(response, 200, {
      kind: 'List',
      metadata: { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) },
      items: all.slice(from, from + limit),
    });
  });

  const ofList = (list: string): Map<string, FakeObject> => {
    const found = lists.get(list) ?? new Map<string, FakeObject>();
    lists.set(list, found);
    return found;
  };

  return {
    url: loopback.url,
    received: loopback.received,
    put: (list, object) => {
      const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
      const isNew = !ofList(list).has(key);
      const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } };
      ofList(list).set(key, stored);
      send(list, isNew ? 'ADDED' : 'MODIFIED', stored);
    },
    remove: (list, object) => {
      ofList(list).delete(`${object.metadata.namespace ?? ''}/${object.metadata.name}`);
      send(list, 'DELETED', {
        ...object,
        metadata: { ...object.metadata, resourceVersion: String(++version) },
      });
    },
    bookmark: (list) => {
      version++;
      for (const { list: of, response } of watches) {
        if (of === list)
          response.write(
            `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } })}\n`,
          );
      }
    },
    endWatches: (list, how) => {
      for (const watch of [...watches]) {
        if (watch.list !== list) continue;
        watches.delete(watch);
        if (how === 'gone')
          watch.response.write(
            `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' } })}\n`,
          );
        if (how === 'reset') watch.response.destroy();
        else watch.response.end();
      }
    },
    get watches() {
      return watches.size;
    },
    get fault() {
      return server.fault;
    },
    set fault(fault: Fault) {
      server.fault = fault;
    },
    kubeconfig: (user = { token }) => {
      const path = join(folder, `config-${Math.random().toString(36).slice(2)}`);
      writeFileSync(
        path,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          'current-context': 'test',
          clusters: [{ name: 'test', cluster: { server: loopback.url } }],
          users: [{ name: 'test', user }],
          contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'chat' } }],
        }),
      );
      return path;
    },
    close: async () => {
      rmSync(folder, { recursive: true, force: true });
      await loopback.close();
    },
  };
}

export function forbid(response: ServerResponse, message = 'forbidden'): true {
  sendJson(response, 403, { kind: 'Status', status: 'Failure', reason: 'Forbidden', message, code: 403 });
  return true;
}
