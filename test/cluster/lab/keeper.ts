import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { register } from './aggregated';
import { apiOf, at, errorOf, type Api, type JsonObject } from './api';
import { makeCertificates } from './certificates';
import * as commands from './control-plane';
import { kwokInstanceTypes } from './instance-types';
import { apply, ensureNamespace, objectsIn } from './manifest';
import { freePorts } from './ports';
import { identify } from './process-id';
import type { Programs } from './programs';
import { endProgram, startProgram, type Program, type Starter } from './programs-running';
import { startDiscovery } from './discovery';
import { listenOutside } from './relay';
import { users, writeState, type LabState, type User } from './state';
import { GivenUp, waitFor } from './wait';

/**
 * The process that starts the programs of a lab, notes their ids, and stops them: on SIGTERM, on SIGINT, when its
 * standard input ends (it is the other end of a pipe of whoever wants the lab), and when a program fails at the start.
 *
 * `keeper.ts FOLDER PROGRAMS-JSON [--own-network] [--stop-with-stdin]`
 */

/** Long enough for a machine whose two cores are busy with something else. */
const startMs = 120_000;

interface Keeper {
  readonly folder: string;
  readonly programs: Program[];
  readonly servers: Server[];
  readonly socketFolder: string | undefined;
  state: LabState;
  stopping: boolean;
  discovery: NodeJS.Timeout | undefined;
}

/** Writes the state with changes. */
function note(keeper: Keeper, changes: Partial<LabState>): void {
  keeper.state = { ...keeper.state, ...changes };
  writeState(keeper.folder, keeper.state);
}

function run(
  keeper: Keeper,
  starter: Starter,
  { name, command, args, env }: commands.Command,
  mayEnd = false,
): Program {
  const program = startProgram(starter, name, command, args, env === undefined ? {} : { env });
  keeper.programs.push(program);
  const listed = (): Partial<LabState> => ({
    programs: keeper.programs.map((each) => ({
      name: each.name,
      log: each.log,
      pid: each.pid,
      started: each.started,
    })),
  });
  note(keeper, listed());
  void program.ended.then((how) => {
    keeper.programs.splice(keeper.programs.indexOf(program), 1);
    const exits = keeper.stopping || mayEnd ? keeper.state.exits : [...keeper.state.exits, how];
    note(keeper, { ...listed(), exits });
  });
  return program;
}

/** Waits while the programs run; a program that ends by itself ends the waiting. */
function waitRunning<T>(
  keeper: Keeper,
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  return waitFor(
    what,
    () => {
      stillRunning(keeper);
      return look();
    },
    startMs,
  );
}

/** Throws when a program has ended that ought to run. */
function stillRunning(keeper: Keeper): void {
  const [exit] = keeper.state.exits;
  if (exit !== undefined) throw new GivenUp(exit);
  if (keeper.stopping) throw new GivenUp('stopped');
}

function answersHttp(url: string): Promise<true | undefined> {
  return new Promise((done) => {
    const sending = request(url, (response) => {
      response.resume();
      done(response.statusCode === 200 ? true : undefined);
    });
    sending.on('error', () => done(undefined));
    sending.end();
  });
}

async function ownNetwork(keeper: Keeper, ports: readonly number[]): Promise<number> {
  const socketFolder = keeper.socketFolder ?? '';
  const relay = startProgram(
    { folder: keeper.folder, namespacePid: undefined },
    'relay',
    'unshare',
    [
      ...['--net', '--', process.execPath, '--import', 'tsx', join(__dirname, 'relay.ts')],
      ...[socketFolder, ...ports.map(String)],
    ],
    // tsx is found from the project, not from the lab's folder.
    { stdin: 'pipe', cwd: resolve(__dirname, '../../..') },
  );
  keeper.programs.push(relay);
  let said = '';
  relay.child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  void relay.ended.then((how) => {
    if (!keeper.stopping) note(keeper, { exits: [...keeper.state.exits, how] });
  });
  await waitRunning(keeper, 'the network namespace', () => (said.includes('ready') ? true : undefined));
  note(keeper, { namespace: { pid: relay.pid, started: relay.started } });
  for (const port of ports) keeper.servers.push(await listenOutside(socketFolder, port));
  return relay.pid;
}

async function installDefinitions(api: Api, folder: string): Promise<void> {
  const texts = readdirSync(folder).flatMap((name) =>
    objectsIn(readFileSync(join(folder, name), 'utf8'))
      .filter(({ object }) => object['kind'] === 'CustomResourceDefinition')
      .map(({ object, text }) => ({ name: String(at(object, 'metadata', 'name')), text })),
  );
  const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await Promise.all(
    texts.map(async ({ name, text }) => {
      // Created rather than applied: merging such large schemas takes the API server many times as long.
      const answer = await api.call('POST', collection, { body: text, contentType: 'application/yaml' });
      if (answer.status >= 300) throw errorOf('POST', `${collection} ${name}`, answer);
    }),
  );
  await waitFor(
    'the definitions are established',
    async () => {
      const definitions = await api.list(collection);
      const established = definitions.filter((definition) => {
        const conditions = at(definition, 'status', 'conditions') as readonly JsonObject[] | undefined;
        return conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
      });
      return established.length >= texts.length ? true : undefined;
    },
    startMs,
  );
}

/** KEDA's operator makes its own certificates: it writes them into a Secret and ends; they are put where it reads them. */
async function startKeda(keeper: Keeper, starter: Starter, plan: commands.Plan, api: Api): Promise<void> {
  await ensureNamespace(api, commands.kedaNamespace);
  const certificates = join(plan.folder, 'keda-certificates');
  mkdirSync(certificates, { mode: 0o700 });
  const first = run(keeper, starter, commands.kedaOperator(plan, certificates), true);
  const data = await waitRunning(keeper, "KEDA's certificates", async () => {
    const secret = await api.find(`/api/v1/namespaces/${commands.kedaNamespace}/secrets/kedaorg-certs`);
    const found = at(secret, 'data') as Readonly<Record<string, string>> | undefined;
    return found?.['tls.crt'] === undefined ? undefined : found;
  });
  await endProgram(first, 5000);
  for (const [name, base64] of Object.entries(data))
    writeFileSync(join(certificates, name), Buffer.from(base64, 'base64'), { mode: 0o600 });
  run(keeper, starter, commands.kedaOperator(plan, certificates));
  run(keeper, starter, commands.kedaAdapter(plan, certificates));
  run(keeper, starter, commands.kedaWebhooks(plan, certificates));
  await register(
    api,
    { group: 'external.metrics.k8s.io', version: 'v1beta1', port: plan.ports.kedaAdapter },
    () => stillRunning(keeper),
  );
  await registerWebhooks(keeper, plan, api, data['ca.crt'] ?? '');
}

/** As KEDA's chart does it, on a port of this machine; what they do not answer is let through, so they are waited for. */
async function registerWebhooks(
  keeper: Keeper,
  plan: commands.Plan,
  api: Api,
  caBundle: string,
): Promise<void> {
  // The name decides which certificate the API server expects; the operator's is one of those that it has.
  const service = 'keda-operator';
  const namespace = commands.kedaNamespace;
  const kinds = ['scaledobject', 'scaledjob', 'triggerauthentication', 'clustertriggerauthentication'];
  const objects: readonly JsonObject[] = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service, namespace },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'keda-admission' },
      webhooks: kinds.map((kind) => ({
        name: `v${kind}.kb.io`,
        admissionReviewVersions: ['v1'],
        clientConfig: {
          caBundle,
          service: {
            name: service,
            namespace,
            path: `/validate-keda-sh-v1alpha1-${kind}`,
            port: plan.ports.kedaWebhooks,
          },
        },
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {
          matchExpressions: [{ key: commands.withoutWebhooksLabel, operator: 'DoesNotExist' }],
        },
        rules: [
          {
            apiGroups: ['keda.sh'],
            apiVersions: ['v1alpha1'],
            operations: ['CREATE', 'UPDATE'],
            resources: [`${kind}s`],
          },
        ],
        sideEffects: 'None',
        timeoutSeconds: 10,
      })),
    },
  ];
  await apply(api, objects.map((object) => JSON.stringify(object)).join('\n---\n'), namespace);
  const probe: JsonObject = {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'TriggerAuthentication',
    metadata: { name: 'probe', namespace },
    spec: { env: [{ parameter: 'key', name: 'KEY' }] },
  };
  await waitRunning(keeper, "KEDA's webhooks answer", async () => {
    const path = `/apis/keda.sh/v1alpha1/namespaces/${namespace}/triggerauthentications?dryRun=All`;
    const answer = await api.call('POST', path, { body: probe });
    return answer.status < 300 ? true : undefined;
  });
}

async function startKarpenter(
  keeper: Keeper,
  starter: Starter,
  plan: commands.Plan,
  api: Api,
): Promise<void> {
  const instanceTypesFile = join(plan.folder, 'instance-types.json');
  writeFileSync(instanceTypesFile, JSON.stringify(kwokInstanceTypes()));
  await apply(
    api,
    JSON.stringify({
      apiVersion: 'karpenter.kwok.sh/v1alpha1',
      kind: 'KWOKNodeClass',
      metadata: { name: 'default' },
    }),
    'default',
  );
  run(keeper, starter, commands.karpenter(plan, instanceTypesFile));
  const url = `http://127.0.0.1:${plan.ports.karpenterHealth}/readyz`;
  await waitRunning(keeper, 'Karpenter is ready', () => answersHttp(url));
}

async function start(keeper: Keeper, programs: Programs, withOwnNetwork: boolean): Promise<void> {
  const { folder } = keeper;
  const numbers = await freePorts(commands.portNames.length);
  const ports = Object.fromEntries(
    commands.portNames.map((name, index) => [name, numbers[index]]),
  ) as unknown as commands.Ports;
  const certificateFolder = join(folder, 'certificates');
  mkdirSync(certificateFolder, { mode: 0o700 });
  const certificates = makeCertificates(certificateFolder);
  const ca = readFileSync(certificates.ca, 'utf8');
  const server = `https://127.0.0.1:${ports.apiServer}`;
  const tokens = Object.fromEntries(users.map((user) => [user, randomBytes(16).toString('hex')])) as Record<
    User,
    string
  >;
  const kubeconfigs = Object.fromEntries(
    users.map((user) => [user, join(folder, user === 'admin' ? 'kubeconfig' : `kubeconfig-${user}`)]),
  ) as Record<User, string>;
  for (const user of users) {
    const text = commands.kubeconfigText(server, Buffer.from(ca).toString('base64'), user, tokens[user]);
    writeFileSync(kubeconfigs[user], text, { mode: 0o600 });
  }
  const prometheusTargets = join(folder, 'prometheus-targets.json');
  const podTargets = join(folder, 'prometheus-pods.json');
  for (const file of [prometheusTargets, podTargets]) writeFileSync(file, '[]');
  note(keeper, {
    server,
    ca,
    tokens,
    kubeconfigs,
    kubectl: programs.kubectl,
    prometheus: `http://127.0.0.1:${ports.prometheus}`,
    prometheusTargets,
    cloudWatch: `http://127.0.0.1:${ports.cloudWatch}`,
    kedaAdapterPort: ports.kedaAdapter,
  });
  const plan: commands.Plan = {
    folder,
    programs,
    ports,
    certificates,
    tokens,
    kubeconfig: kubeconfigs.admin,
  };
  const starter: Starter = {
    folder,
    namespacePid: withOwnNetwork
      ? await ownNetwork(keeper, [ports.apiServer, ports.prometheus, ports.cloudWatch, ports.karpenterHealth])
      : undefined,
  };
  const api = apiOf({ server, ca, token: tokens.admin });

  run(keeper, starter, commands.moto(plan));
  run(keeper, starter, commands.etcd(plan));
  run(keeper, starter, commands.kubeApiserver(plan));
  await waitRunning(keeper, 'the API server is ready', async () => {
    const answer = await api.call('GET', '/readyz');
    return answer.status === 200 ? true : undefined;
  });
  run(keeper, starter, commands.kubeControllerManager(plan));
  run(keeper, starter, commands.kubeScheduler(plan));
  run(keeper, starter, commands.kwok(plan));
  run(keeper, starter, commands.prometheus(plan, [prometheusTargets, podTargets]));
  await installDefinitions(api, programs.crds);
  await apply(
    api,
    JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'lab-viewer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    }),
    'default',
  );
  await Promise.all([
    startKeda(keeper, starter, plan, api),
    startKarpenter(keeper, starter, plan, api),
    waitRunning(keeper, 'Prometheus is ready', () => answersHttp(`${keeper.state.prometheus}/-/ready`)),
    waitRunning(keeper, 'moto is ready', () => answersHttp(`${keeper.state.cloudWatch}/moto-api/`)),
    waitRunning(keeper, 'the default service account', () =>
      api.find('/api/v1/namespaces/default/serviceaccounts/default'),
    ),
  ]);
  keeper.discovery = startDiscovery(api, podTargets);
  note(keeper, { phase: 'ready' });
}

/** Programs that ask the API server first, then it, then what it asks. */
async function stop(keeper: Keeper): Promise<void> {
  keeper.stopping = true;
  clearInterval(keeper.discovery);
  const named = (...names: readonly string[]): readonly Program[] =>
    keeper.programs.filter(({ name }) => names.includes(name));
  const last = ['kube-apiserver', 'etcd', 'relay'];
  for (const server of keeper.servers) server.close();
  await Promise.all(
    keeper.programs.filter(({ name }) => !last.includes(name)).map((each) => endProgram(each, 2000)),
  );
  for (const name of last) await Promise.all(named(name).map((each) => endProgram(each, 3000)));
  if (keeper.socketFolder !== undefined) rmSync(keeper.socketFolder, { recursive: true, force: true });
  rmSync(join(keeper.folder, 'data'), { recursive: true, force: true });
}

async function main([folder = '', programsFile = '', ...flags]: readonly string[]): Promise<void> {
  const own = identify(process.pid);
  if (own === undefined) throw new Error('this process cannot find itself');
  const withOwnNetwork = flags.includes('--own-network');
  const none = { admin: '', viewer: '', stranger: '' };
  const socketFolder = withOwnNetwork ? mkdtempSync(join(tmpdir(), 'plimsoll-lab-')) : undefined;
  const keeper: Keeper = {
    folder,
    programs: [],
    servers: [],
    socketFolder,
    stopping: false,
    discovery: undefined,
    state: {
      phase: 'starting',
      ...(socketFolder === undefined ? {} : { sockets: socketFolder }),
      keeper: own,
      programs: [],
      exits: [],
      server: '',
      ca: '',
      tokens: none,
      kubeconfigs: none,
      kubectl: '',
      prometheus: '',
      prometheusTargets: '',
      cloudWatch: '',
      kedaAdapterPort: 0,
    },
  };
  note(keeper, {});

  const end = (phase: 'stopped' | 'failed', message?: string): void => {
    if (keeper.stopping) return;
    void stop(keeper).then(() => {
      if (existsSync(folder))
        note(keeper, { phase, programs: [], ...(message === undefined ? {} : { message }) });
      process.exit(phase === 'failed' ? 1 : 0);
    });
  };
  process.on('SIGTERM', () => end('stopped'));
  process.on('SIGINT', () => end('stopped'));
  process.on('SIGHUP', () => end('stopped'));
  if (flags.includes('--stop-with-stdin')) process.stdin.on('end', () => end('stopped')).resume();

  try {
    await start(keeper, JSON.parse(readFileSync(programsFile, 'utf8')) as Programs, withOwnNetwork);
  } catch (error) {
    end('failed', error instanceof Error ? error.message : String(error));
  }
}

void main(process.argv.slice(2));
