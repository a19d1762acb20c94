import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { apiOf, type Api } from './api';
import { labsFolder } from './home';
import { ensureNamespace } from './manifest';
import { waitFor } from './wait';
import { isAlive, readState, type LabState, type User } from './state';

/** The lab as a test sees it. */
export interface Lab {
  readonly state: LabState;
  readonly admin: Api;
  as(user: User): Api;
  /** Whether the addresses of pods are this machine, so that the API server's pod proxy and Prometheus reach us. */
  readonly hasPodNetwork: boolean;
  /** Makes a namespace that no test has used before, of a name that starts so, and answers the name. */
  namespace(prefix: string): Promise<string>;
  /** Takes the namespaces of this test away, and waits until none of their pods is left to be scheduled. */
  close(): Promise<void>;
}

/** The lab of this test run, or the one that `npm run cluster -- up` has started. Throws when neither runs. */
export function useLab(): Lab {
  const folder = process.env['PLIMSOLL_LAB'] ?? join(labsFolder(), 'by-hand');
  const state = readState(folder);
  if (state?.phase !== 'ready' || !isAlive(folder)) {
    throw new Error('no cluster runs: npm run test:cluster starts one, and so does npm run cluster -- up');
  }
  const apis = new Map<User, Api>();
  const as = (user: User): Api => {
    const known = apis.get(user) ?? apiOf({ server: state.server, ca: state.ca, token: state.tokens[user] });
    apis.set(user, known);
    return known;
  };
  const admin = as('admin');
  const namespaces: string[] = [];
  return {
    state,
    admin,
    as,
    hasPodNetwork: state.namespace !== undefined && insideNetwork(state),
    namespace: async (prefix) => {
      const name = `${prefix.slice(0, 50)}-${randomBytes(4).toString('hex')}`;
      await ensureNamespace(admin, name);
      // Pods are admitted once it is there.
      await waitFor(
        `the service account of ${name}`,
        () => admin.find(`/api/v1/namespaces/${name}/serviceaccounts/default`),
        60_000,
      );
      namespaces.push(name);
      return name;
    },
    close: async () => {
      await Promise.all(namespaces.map((name) => admin.delete(`/api/v1/namespaces/${name}`)));
      for (const name of namespaces.splice(0)) {
        await waitFor(
          `the pods of ${name} are gone`,
          async () => ((await admin.list(`/api/v1/namespaces/${name}/pods`)).length === 0 ? true : undefined),
          60_000,
        );
      }
    },
  };
}

/** The launcher of the tests puts them into the lab's network. */
function insideNetwork(state: LabState): boolean {
  try {
    return readlinkSync('/proc/self/ns/net') === readlinkSync(`/proc/${state.namespace?.pid ?? 0}/ns/net`);
  } catch {
    return false;
  }
}
