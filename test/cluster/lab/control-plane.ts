import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificates } from './certificates';
import type { Programs } from './programs';
import { podNetwork } from './relay';
import type { User } from './state';

/** A program and its arguments. */
export interface Command {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ports {
  readonly etcd: number;
  readonly etcdPeers: number;
  readonly apiServer: number;
  readonly kwok: number;
  readonly kedaMetrics: number;
  readonly kedaService: number;
  readonly kedaHealth: number;
  readonly kedaAdapter: number;
  readonly kedaAdapterMetrics: number;
  readonly kedaWebhooks: number;
  readonly kedaWebhooksMetrics: number;
  readonly kedaWebhooksHealth: number;
  readonly karpenterMetrics: number;
  readonly karpenterHealth: number;
  readonly prometheus: number;
  readonly cloudWatch: number;
}

export const portNames: readonly (keyof Ports)[] = [
  'etcd',
  'etcdPeers',
  'apiServer',
  'kwok',
  'kedaMetrics',
  'kedaService',
  'kedaHealth',
  'kedaAdapter',
  'kedaAdapterMetrics',
  'kedaWebhooks',
  'kedaWebhooksMetrics',
  'kedaWebhooksHealth',
  'karpenterMetrics',
  'karpenterHealth',
  'prometheus',
  'cloudWatch',
];

/** What the commands below are made from. */
export interface Plan {
  readonly folder: string;
  readonly programs: Programs;
  readonly ports: Ports;
  readonly certificates: Certificates;
  readonly tokens: Readonly<Record<User, string>>;
  /** Of the user with all rights. */
  readonly kubeconfig: string;
}

export function kubeconfigText(server: string, caBase64: string, user: User, token: string): string {
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'plimsoll-lab', cluster: { server, 'certificate-authority-data': caBase64 } }],
      users: [{ name: user, user: { token } }],
      contexts: [{ name: 'plimsoll-lab', context: { cluster: 'plimsoll-lab', user } }],
      'current-context': 'plimsoll-lab',
    },
    undefined,
    2,
  );
}

export function etcd({ folder, programs, ports }: Plan): Command {
  const clients = `http://127.0.0.1:${ports.etcd}`;
  const peers = `http://127.0.0.1:${ports.etcdPeers}`;
  return {
    name: 'etcd',
    command: programs.etcd,
    args: [
      `--data-dir=${join(folder, 'data/etcd')}`,
      `--listen-client-urls=${clients}`,
      `--advertise-client-urls=${clients}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
      // Nothing here has to survive a power cut.
      '--unsafe-no-fsync',
    ],
  };
}

export function kubeApiserver({ folder, programs, ports, certificates, tokens }: Plan): Command {
  const tokenFile = join(folder, 'tokens.csv');
  const lines = [
    `${tokens.admin},admin,admin,system:masters`,
    `${tokens.viewer},viewer,viewer`,
    `${tokens.stranger},stranger,stranger`,
  ];
  writeFileSync(tokenFile, `${lines.join('\n')}\n`, { mode: 0o600 });
  const { ca, serving, proxyCa, proxy, serviceAccounts } = certificates;
  return {
    name: 'kube-apiserver',
    command: programs.kubeApiserver,
    args: [
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${ports.apiServer}`,
      `--cert-dir=${folder}`,
      `--tls-cert-file=${serving.certificate}`,
      `--tls-private-key-file=${serving.key}`,
      `--client-ca-file=${ca}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${serviceAccounts.key}`,
      `--service-account-key-file=${serviceAccounts.publicKey}`,
      `--token-auth-file=${tokenFile}`,
      '--authorization-mode=RBAC',
      '--allow-privileged=true',
      // EKS has it on: it adds the toleration for each extended resource that a pod asks for.
      '--enable-admission-plugins=ExtendedResourceToleration',
      `--requestheader-client-ca-file=${proxyCa}`,
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${proxy.certificate}`,
      `--proxy-client-key-file=${proxy.key}`,
      '--watch-cache=true',
      '--event-ttl=10m',
    ],
  };
}

export function kubeControllerManager({ programs, certificates, kubeconfig }: Plan): Command {
  return {
    name: 'kube-controller-manager',
    command: programs.kubeControllerManager,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--service-account-private-key-file=${certificates.serviceAccounts.key}`,
      `--root-ca-file=${certificates.ca}`,
      '--leader-elect=false',
      '--secure-port=0',
      '--horizontal-pod-autoscaler-sync-period=2s',
      '--horizontal-pod-autoscaler-initial-readiness-delay=1s',
    ],
  };
}

export function kubeScheduler({ programs, kubeconfig }: Plan): Command {
  return {
    name: 'kube-scheduler',
    command: programs.kubeScheduler,
    args: [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'],
  };
}

/** The kubelets: nodes with the annotation are ready, and pods on them run and end when they are told to. */
export function kwok({ folder, programs, ports, kubeconfig }: Plan): Command {
  return {
    name: 'kwok',
    command: programs.kwok,
    args: [
      // Another one would be read from the home folder.
      `--config=${emptyFile(folder, 'kwok.yaml')}`,
      `--kubeconfig=${kubeconfig}`,
      '--manage-all-nodes=false',
      // Renewed as by a kubelet; without, nodes count as unreachable after a minute.
      '--node-lease-duration-seconds=40',
      '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
      '--node-ip=127.0.0.1',
      `--node-port=${ports.kwok}`,
      `--cidr=${podNetwork}`,
    ],
  };
}

function emptyFile(folder: string, name: string): string {
  const path = join(folder, name);
  writeFileSync(path, '');
  return path;
}

export function karpenter({ programs, ports, kubeconfig }: Plan, instanceTypesFile: string): Command {
  return {
    name: 'karpenter',
    command: programs.karpenter,
    args: [],
    env: {
      KUBECONFIG: kubeconfig,
      DISABLE_LEADER_ELECTION: 'true',
      SYSTEM_NAMESPACE: 'kube-system',
      INSTANCE_TYPES_FILE_PATH: instanceTypesFile,
      METRICS_PORT: String(ports.karpenterMetrics),
      HEALTH_PROBE_PORT: String(ports.karpenterHealth),
    },
  };
}

export const kedaNamespace = 'keda';

export function kedaOperator({ programs, ports, kubeconfig }: Plan, certificates: string): Command {
  return {
    name: 'keda-operator',
    command: programs.kedaOperator,
    args: [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      `--metrics-bind-address=127.0.0.1:${ports.kedaMetrics}`,
      `--health-probe-bind-address=127.0.0.1:${ports.kedaHealth}`,
      `--metrics-service-bind-address=127.0.0.1:${ports.kedaService}`,
      '--enable-cert-rotation=true',
      `--cert-dir=${certificates}`,
      // There is no webhook in the cluster, and the APIService points at a port of this machine.
      '--enable-webhook-patching=false',
      '--enable-apiservice-patching=false',
    ],
    env: {
      WATCH_NAMESPACE: '',
      POD_NAME: 'keda-operator',
      POD_NAMESPACE: kedaNamespace,
      KEDA_CLUSTER_OBJECT_NAMESPACE: kedaNamespace,
    },
  };
}

export function kedaAdapter({ programs, ports, kubeconfig }: Plan, certificates: string): Command {
  return {
    name: 'keda-adapter',
    command: programs.kedaAdapter,
    args: [
      `--secure-port=${ports.kedaAdapter}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${certificates}`,
      `--tls-cert-file=${join(certificates, 'tls.crt')}`,
      `--tls-private-key-file=${join(certificates, 'tls.key')}`,
      `--lister-kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--port=${ports.kedaAdapterMetrics}`,
      `--metrics-service-address=localhost:${ports.kedaService}`,
      '--metrics-service-grpc-authority=keda-operator.keda.svc.cluster.local',
      '--logtostderr=true',
    ],
    env: { POD_NAMESPACE: kedaNamespace, WATCH_NAMESPACE: '', KUBECONFIG: kubeconfig },
  };
}

export function kedaWebhooks({ programs, ports, kubeconfig }: Plan, certificates: string): Command {
  return {
    name: 'keda-webhooks',
    command: programs.kedaWebhooks,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--port=${ports.kedaWebhooks}`,
      `--cert-dir=${certificates}`,
      `--metrics-bind-address=127.0.0.1:${ports.kedaWebhooksMetrics}`,
      `--health-probe-bind-address=127.0.0.1:${ports.kedaWebhooksHealth}`,
      // What was applied a moment ago may not be in its cache.
      '--cache-miss-to-direct-client=true',
    ],
    env: { POD_NAMESPACE: kedaNamespace, WATCH_NAMESPACE: '' },
  };
}

/** Namespaces with this label are judged without KEDA's webhooks, by the definitions alone. */
export const withoutWebhooksLabel = 'lab.plimsoll.dev/without-webhooks';

/** Scrapes what stands in files: Debian's Prometheus is built without discovery in Kubernetes. */
export function prometheus({ folder, programs, ports }: Plan, targets: readonly string[]): Command {
  const configuration = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    scrape_configs: [{ job_name: 'pods', file_sd_configs: [{ files: targets, refresh_interval: '1s' }] }],
  };
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(configuration, undefined, 2));
  return {
    name: 'prometheus',
    command: programs.prometheus,
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data/prometheus')}`,
      `--web.listen-address=127.0.0.1:${ports.prometheus}`,
      '--log.level=warn',
    ],
  };
}

/** What answers as CloudWatch. */
export function moto({ folder, programs, ports }: Plan): Command {
  const home = join(folder, 'data/moto');
  mkdirSync(home, { recursive: true });
  return {
    name: 'moto',
    command: 'python3',
    args: ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(ports.cloudWatch)],
    env: { PYTHONPATH: programs.moto, HOME: home },
  };
}
