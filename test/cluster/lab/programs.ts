import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { programsFolder } from './home';
import {
  crdSources,
  etcdVersion,
  goVersion,
  helmVersion,
  karpenterVersion,
  kedaVersion,
  kubernetesLibraryVersion,
  kubernetesVersion,
  kustomizeVersion,
  kwokVersion,
  motoVersion,
} from './versions';

/** Paths of everything that the lab runs. */
export interface Programs {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubeScheduler: string;
  readonly kubectl: string;
  readonly kwok: string;
  readonly helm: string;
  readonly kustomize: string;
  readonly karpenter: string;
  readonly kedaOperator: string;
  readonly kedaAdapter: string;
  readonly kedaWebhooks: string;
  readonly prometheus: string;
  /** The folder of Python packages that holds moto. */
  readonly moto: string;
  /** A folder of YAML files, one or more definitions each. */
  readonly crds: string;
}

/** Something that the lab cannot bring itself, and how a person gets it. */
export interface Missing {
  readonly what: string;
  readonly how: string;
}

/** Tools that the machine lacks, of those that run the lab or build what is not yet in the cache. */
export function missingTools(): readonly Missing[] {
  const missing: Missing[] = [];
  if (platform() === 'win32') {
    missing.push({ what: 'Linux or macOS', how: 'on Windows, use the Windows Subsystem for Linux' });
  }
  const unbuilt = recipes().filter(({ name, version }) => !existsSync(inCache(name, version)));
  if (unbuilt.some(({ needs }) => needs === 'go')) missing.push(...missingGo());
  if (!onPath('openssl')) {
    missing.push({
      what: 'openssl, which makes the certificates of the lab',
      how: 'apt-get install openssl',
    });
  }
  if (!onPath('prometheus') && !existsSync(prometheusInCache()) && !onPath('apt-get')) {
    missing.push({
      what: 'Prometheus 2',
      how: 'install it so that `prometheus` is on the PATH (Debian and Ubuntu: apt-get install prometheus)',
    });
  }
  const python = unbuilt.some(({ needs }) => needs === 'pip') ? ['-m', 'pip', '--version'] : ['--version'];
  if (spawnSync('python3', python).status !== 0) {
    missing.push({
      what: 'Python 3 with pip, which runs the stand-in for CloudWatch (moto)',
      how: 'apt-get install python3 python3-pip',
    });
  }
  return missing;
}

function missingGo(): readonly Missing[] {
  const go = goOnPath();
  const wanted = `${goVersion.major}.${goVersion.minor}`;
  const how = `install Go ${wanted} or newer (https://go.dev/doc/install) and put its bin folder on the PATH`;
  if (go === undefined)
    return [{ what: `Go ${wanted}, which builds the control plane, Karpenter and KEDA`, how }];
  const isOld = go.major < goVersion.major || (go.major === goVersion.major && go.minor < goVersion.minor);
  return isOld ? [{ what: `Go ${wanted} or newer (the one on the PATH is ${go.text})`, how }] : [];
}

interface GoOnPath {
  readonly major: number;
  readonly minor: number;
  readonly text: string;
}

function goOnPath(): GoOnPath | undefined {
  const result = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  const match = /^go(\d+)\.(\d+)\S*/m.exec(result.stdout ?? '');
  if (result.status !== 0 || match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), text: match[0] };
}

export function onPath(program: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, program)));
}

function inCache(name: string, version: string): string {
  return join(programsFolder(), `${name}-${version}-${platform()}-${arch()}`);
}

function prometheusInCache(): string {
  return join(inCache('prometheus', 'debian'), 'usr/bin/prometheus');
}

/** Packages with machine code are made for one version of Python. */
function motoKey(): string {
  const script = 'import sys; print("%d.%d" % sys.version_info[:2])';
  const result = spawnSync('python3', ['-c', script], { encoding: 'utf8' });
  return `${motoVersion}-python${result.status === 0 ? result.stdout.trim() : ''}`;
}

/** What a build says while it runs. */
export type Progress = (line: string) => void;

/**
 * Paths of all programs, built where they are not yet in the cache: about a quarter of an hour on two cores the first
 * time, nothing afterwards. Throws when a build fails, with the end of what it said and the path of the whole.
 */
export async function ensurePrograms(progress: Progress): Promise<Programs> {
  mkdirSync(programsFolder(), { recursive: true });
  const folders = new Map<string, string>();
  const all = recipes();
  for (const { name, version } of all) folders.set(name, inCache(name, version));
  const waiting = all.filter(({ name, version }) => !existsSync(inCache(name, version)));
  /** Builds one after the other; a failure lets nothing more begin. */
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await build(next);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  const build = async ({ name, version, make }: Recipe): Promise<void> => {
    progress(`building ${name} ${version}, once for this machine ...`);
    const started = Date.now();
    await inNewFolder(inCache(name, version), make);
    progress(`built ${name} ${version} in ${Math.round((Date.now() - started) / 1000)} s`);
  };
  // While one downloads or links, which keeps one processor busy at most, the other compiles.
  const ends = await Promise.allSettled([work(), work()]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  const at = (name: string, path: string): string => join(folders.get(name) ?? '', path);
  const prometheusOnPath = onPath('prometheus');
  if (!prometheusOnPath && !existsSync(prometheusInCache())) {
    progress("unpacking Debian's prometheus ...");
    await inNewFolder(inCache('prometheus', 'debian'), unpackPrometheus);
  }
  return {
    etcd: at('etcd', 'etcd'),
    kubeApiserver: at('kubernetes', 'kube-apiserver'),
    kubeControllerManager: at('kubernetes', 'kube-controller-manager'),
    kubeScheduler: at('kubernetes', 'kube-scheduler'),
    kubectl: at('kubernetes', 'kubectl'),
    kwok: at('kwok', 'kwok'),
    helm: at('helm', 'helm'),
    kustomize: at('kustomize', 'kustomize'),
    karpenter: at('karpenter', 'karpenter'),
    kedaOperator: at('keda', 'keda-operator'),
    kedaAdapter: at('keda', 'keda-adapter'),
    kedaWebhooks: at('keda', 'keda-webhooks'),
    prometheus: prometheusOnPath ? 'prometheus' : prometheusInCache(),
    moto: at('moto', ''),
    crds: folders.get('crds') ?? '',
  };
}

/** Runs commands of one build, in a scratch folder that is deleted afterwards, and keeps what they say. */
interface Build {
  /** Where the results go. */
  readonly target: string;
  readonly scratch: string;
  run(command: string, args: readonly string[], options?: { readonly cwd?: string }): Promise<string>;
}

interface Recipe {
  readonly name: string;
  readonly version: string;
  readonly needs: 'go' | 'pip';
  readonly make: (build: Build) => Promise<void>;
}

/** A folder that is either not there or complete: made under another name and moved. */
async function inNewFolder(folder: string, make: Recipe['make']): Promise<void> {
  const scratch = mkdtempSync(join(programsFolder(), '.build-'));
  const target = join(scratch, 'result');
  const log = `${folder}.log`;
  const descriptor = openSync(log, 'w');
  const run: Build['run'] = (command, args, options = {}) =>
    new Promise((resolve, reject) => {
      writeFileSync(descriptor, `$ ${command} ${args.join(' ')}\n`);
      // The rest of the machine goes on while this takes both cores for minutes.
      const child = spawn('nice', ['-n', '10', command, ...args], {
        cwd: options.cwd ?? scratch,
        stdio: ['ignore', 'pipe', descriptor],
        // The compiler is a Go program too: it takes half a gigabyte more, and a tenth less time.
        env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off', GOGC: '400' },
      });
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
      child.on('error', reject);
      child.on('close', (code) => {
        if (code === 0) return resolve(output);
        writeFileSync(descriptor, output);
        const end = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
        reject(new Error(`${command} ${args.join(' ')} failed; all of it is in ${log}\n${end}`));
      });
    });
  try {
    mkdirSync(target);
    await make({ target, scratch, run });
    try {
      renameSync(target, folder);
    } catch (error) {
      // Another process has built the same meanwhile.
      if (!existsSync(folder)) throw error;
    }
    rmSync(log, { force: true });
  } finally {
    closeSync(descriptor);
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What `go mod download -json` says of a module. */
interface Downloaded {
  readonly Dir: string;
  readonly GoMod: string;
}

async function download(build: Build, module: string, version: string): Promise<Downloaded> {
  return JSON.parse(
    await build.run('go', ['mod', 'download', '-json', `${module}@${version}`]),
  ) as Downloaded;
}

/** A module of our own that imports packages, so that their programs build with the versions that it pins. */
function writeModule(
  build: Build,
  imports: readonly string[],
  require: readonly string[],
  replace: readonly string[] = [],
): void {
  const lines = [
    'module plimsoll.dev/lab',
    `go ${goVersion.major}.${goVersion.minor}.0`,
    ...require.map((line) => `require ${line}`),
    ...replace.map((line) => `replace ${line}`),
  ];
  writeFileSync(join(build.scratch, 'go.mod'), `${lines.join('\n')}\n`);
  const importLines = imports.map((path) => `import _ "${path}"\n`).join('');
  writeFileSync(join(build.scratch, 'tools.go'), `package tools\n\n${importLines}`);
}

/**
 * Builds programs, given as the names that they get and their packages, in one go, so that one is linked while others
 * compile. Debug information is made and then left out by `-s -w`: without it in the first place it takes a tenth less.
 */
async function goBuild(
  build: Build,
  programs: Readonly<Record<string, string>>,
  flags = '-s -w',
): Promise<void> {
  const made = join(build.scratch, 'made');
  await build.run('go', [
    'build',
    '-mod=mod',
    '-trimpath',
    '-gcflags=all=-dwarf=false',
    '-ldflags',
    flags,
    '-o',
    `${made}/`,
    ...Object.values(programs),
  ]);
  for (const [name, path] of Object.entries(programs))
    renameSync(join(made, programName(path)), join(build.target, name));
}

/** What Go calls the program of a package: the last part of its path that is no major version. */
function programName(path: string): string {
  const parts = path.split('/');
  const last = parts.at(-1) ?? path;
  return /^v\d+$/.test(last) ? (parts.at(-2) ?? path) : last;
}

/** The lines of the `replace` directives of a `go.mod`, without the word. */
export function replaceLines(goMod: string): readonly string[] {
  const blocks = [...goMod.matchAll(/^replace \(\n([^]*?)^\)/gm)].flatMap((match) =>
    (match[1] ?? '').split('\n'),
  );
  const single = [...goMod.matchAll(/^replace ([^(\n].*)$/gm)].map((match) => match[1] ?? '');
  return [...blocks, ...single]
    .map((line) => line.replace(/\/\/.*/, '').trim())
    .filter((line) => line !== '');
}

async function makeKubernetes(build: Build): Promise<void> {
  const { GoMod } = await download(build, 'k8s.io/kubernetes', kubernetesVersion);
  // Inside its own repository Kubernetes takes these from folders; outside, from the versions published with it.
  const staging = replaceLines(readFileSync(GoMod, 'utf8'))
    .map((line) => /^(\S+) => \.\/staging\//.exec(line)?.[1])
    .filter((module) => module !== undefined);
  const programs = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  writeModule(
    build,
    [...programs.map((name) => `k8s.io/kubernetes/cmd/${name}/app`), 'k8s.io/kubectl/pkg/cmd'],
    [`k8s.io/kubernetes ${kubernetesVersion}`],
    staging.map((module) => `${module} => ${module} ${kubernetesLibraryVersion}`),
  );
  await build.run('go', ['mod', 'tidy']);
  const [, minor = ''] = /^v1\.(\d+)/.exec(kubernetesVersion) ?? [];
  const variable = 'k8s.io/component-base/version';
  const flags = `-s -w -X ${variable}.gitVersion=${kubernetesVersion} -X ${variable}.gitMajor=1 -X ${variable}.gitMinor=${minor}`;
  const packages = [...programs, 'kubectl'].map((name) => [name, `k8s.io/kubernetes/cmd/${name}`] as const);
  await goBuild(build, Object.fromEntries(packages), flags);
}

async function makeEtcd(build: Build): Promise<void> {
  writeModule(build, ['go.etcd.io/etcd/server/v3/etcdmain'], [`go.etcd.io/etcd/server/v3 ${etcdVersion}`]);
  await build.run('go', ['mod', 'tidy']);
  await goBuild(build, { etcd: 'go.etcd.io/etcd/server/v3' });
}

async function makeKwok(build: Build): Promise<void> {
  writeModule(build, ['sigs.k8s.io/kwok/pkg/kwok/cmd'], [`sigs.k8s.io/kwok ${kwokVersion}`]);
  await build.run('go', ['mod', 'tidy']);
  await goBuild(build, { kwok: 'sigs.k8s.io/kwok/cmd/kwok' });
}

async function makeHelm(build: Build): Promise<void> {
  const helm = 'helm.sh/helm/v3';
  writeModule(build, [`${helm}/pkg/cli`, `${helm}/pkg/action`], [`${helm} ${helmVersion}`]);
  await build.run('go', ['mod', 'tidy']);
  await goBuild(build, { helm: `${helm}/cmd/helm` });
}

async function makeKustomize(build: Build): Promise<void> {
  const kustomize = 'sigs.k8s.io/kustomize/kustomize/v5';
  writeModule(build, [`${kustomize}/commands`], [`${kustomize} ${kustomizeVersion}`]);
  await build.run('go', ['mod', 'tidy']);
  await goBuild(build, { kustomize });
}

async function makeKarpenter(build: Build): Promise<void> {
  writeModule(
    build,
    [
      'sigs.k8s.io/karpenter/kwok/cloudprovider',
      'sigs.k8s.io/karpenter/pkg/operator',
      'sigs.k8s.io/karpenter/pkg/controllers',
    ],
    [`sigs.k8s.io/karpenter ${karpenterVersion}`],
  );
  await build.run('go', ['mod', 'tidy']);
  await goBuild(build, { karpenter: 'sigs.k8s.io/karpenter/kwok' });
}

async function makeKeda(build: Build): Promise<void> {
  const keda = 'github.com/kedacore/keda/v2';
  const { GoMod } = await download(build, keda, kedaVersion);
  writeModule(
    build,
    [
      ...['scaling', 'certificates', 'provider', 'metricsservice'].map((name) => `${keda}/pkg/${name}`),
      'sigs.k8s.io/custom-metrics-apiserver/pkg/cmd',
    ],
    [`${keda} ${kedaVersion}`],
    // KEDA pins its Kubernetes libraries this way; replacements of a dependency do not hold for who imports it.
    replaceLines(readFileSync(GoMod, 'utf8')),
  );
  await build.run('go', ['mod', 'tidy']);
  await goBuild(build, {
    'keda-operator': `${keda}/cmd/operator`,
    'keda-adapter': `${keda}/cmd/adapter`,
    'keda-webhooks': `${keda}/cmd/webhooks`,
  });
}

async function copyCrds(build: Build): Promise<void> {
  for (const { module, version, folder, only } of crdSources) {
    const { Dir } = await download(build, module, version);
    const from = join(Dir, folder);
    const names = readdirSync(from).filter(
      (name) =>
        /\.ya?ml$/.test(name) &&
        name !== 'kustomization.yaml' &&
        (only === undefined || only.some((part) => name.includes(part))),
    );
    if (names.length === 0) throw new Error(`${module}@${version} has no definitions in ${folder}`);
    const prefix = module.replace(/^.*?\//, '').replaceAll('/', '-');
    for (const name of names) cpSync(join(from, name), join(build.target, `${prefix}-${name}`));
  }
}

/** Its packages stand in a folder that can be moved, unlike a virtual environment. */
async function makeMoto(build: Build): Promise<void> {
  await build.run('python3', [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--target',
    build.target,
    `moto[server,cloudwatch,logs]==${motoVersion}`,
  ]);
}

/** Debian's package, unpacked instead of installed: installing it would start a server on the machine. */
async function unpackPrometheus(build: Build): Promise<void> {
  try {
    await build.run('apt-get', ['download', 'prometheus']);
  } catch (error) {
    if (process.getuid?.() !== 0) throw error;
    await build.run('apt-get', ['update', '-qq']);
    await build.run('apt-get', ['download', 'prometheus']);
  }
  const name = readdirSync(build.scratch).find((entry) => /^prometheus_.*\.deb$/.test(entry));
  if (name === undefined) throw new Error('apt-get download prometheus brought no package');
  await build.run('dpkg-deb', ['-x', join(build.scratch, name), build.target]);
}

function recipes(): readonly Recipe[] {
  const crdKey = createHash('sha256').update(JSON.stringify(crdSources)).digest('hex').slice(0, 12);
  return [
    // Longest first, as two are built at a time.
    { name: 'keda', version: kedaVersion, needs: 'go', make: makeKeda },
    { name: 'kubernetes', version: kubernetesVersion, needs: 'go', make: makeKubernetes },
    { name: 'kwok', version: kwokVersion, needs: 'go', make: makeKwok },
    { name: 'karpenter', version: karpenterVersion, needs: 'go', make: makeKarpenter },
    { name: 'helm', version: helmVersion, needs: 'go', make: makeHelm },
    { name: 'etcd', version: etcdVersion, needs: 'go', make: makeEtcd },
    { name: 'kustomize', version: kustomizeVersion, needs: 'go', make: makeKustomize },
    { name: 'crds', version: crdKey, needs: 'go', make: copyCrds },
    { name: 'moto', version: motoKey(), needs: 'pip', make: makeMoto },
  ];
}
