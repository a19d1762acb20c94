import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, sep } from 'node:path';
import { kustomizationIn, buildOrder } from './read-kustomization';
import type { NotRendered, ReadSource, RenderedText, RenderUnit } from './types';

/** Runs `helm`, `kustomize` and `kubectl kustomize`. They read files; nothing here lets them reach a network. */

/** The environment that programs are looked up in and started with. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds that one program may take. */
const patience = 30_000;
/** Bytes of output; a chart that renders more is no chart to read. */
const largestOutput = 64 * 1024 * 1024;
/** Programs that run at a time. */
const atOnce = 4;

/** The path of a program, as a shell would find it. */
export function findProgram(name: string, env: Environment): string | undefined {
  const windows = process.platform === 'win32';
  const path = Object.entries(env).find(([key]) => (windows ? key.toUpperCase() : key) === 'PATH')?.[1] ?? '';
  const endings = windows ? (env['PATHEXT'] ?? '.EXE;.CMD').split(';') : [''];
  for (const folder of path.split(delimiter)) {
    // A relative folder on the path would run what a repository brings with it.
    if (!folder.startsWith('/') && !/^[a-z]:[\\/]/i.test(folder)) continue;
    for (const ending of endings) {
      const candidate = join(folder, `${name}${ending}`);
      try {
        accessSync(candidate, constants.X_OK);
        if (statSync(candidate).isFile()) return candidate;
      } catch {
        continue;
      }
    }
  }
  return undefined;
}

type Ran = { readonly output: string } | { readonly why: string };

function run(program: string, args: readonly string[], cwd: string, env: Environment): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: offline(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    let size = 0;
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => stop(`it took longer than ${patience / 1000} s`), patience);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > largestOutput) stop('it renders more than 64 MiB');
      else output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (errors.length < 100) errors.push(chunk);
    });
    const end = (result: Ran): void => {
      clearTimeout(timer);
      resolve(result);
    };
    child.on('error', (error) => end({ why: `it cannot be started: ${error.message}` }));
    child.on('close', (code) => {
      if (stopped !== undefined) end({ why: stopped });
      else if (code === 0) end({ output: Buffer.concat(output).toString('utf8') });
      else end({ why: reasonIn(Buffer.concat(errors).toString('utf8')) });
    });
  });
}

/** A proxy that is not there. */
const nowhere = 'http://127.0.0.1:9';

/** What programs get of the environment, and what keeps them from the network. */
function offline(env: Environment): NodeJS.ProcessEnv {
  const kept = [
    'PATH',
    'Path',
    'HOME',
    'USERPROFILE',
    'TMPDIR',
    'TEMP',
    'TMP',
    'SystemRoot',
    'LANG',
    'LC_ALL',
  ];
  return {
    ...Object.fromEntries(kept.flatMap((key) => (env[key] === undefined ? [] : [[key, env[key]]]))),
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_TERMINAL_PROMPT: '0',
    HELM_NO_PLUGINS: '1',
    // No cluster is asked, whatever the user's own configuration names.
    KUBECONFIG: process.platform === 'win32' ? 'NUL' : '/dev/null',
  };
}

/** kustomize tells at each step of the way what it was about, before it tells what is wrong. */
const onTheWay =
  /accumulating (?:resources|components): accumulation err='accumulating resources from '[^']*': '[^']*' must resolve to a (?:file|directory)': /g;

/** Of what a program says as it fails, the sentence that tells why. */
export function reasonIn(text: string): string {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const fetched = /(?:Get|Head|Post) \\?"(https?:[^"\\]+)/.exec(text)?.[1];
  if (text.includes(nowhere.replace(/^\w+:\/\//, ''))) {
    return `it would fetch ${fetched ?? 'something'}, and nothing is fetched`;
  }
  if (/transport '\w+' not allowed/.test(text)) return 'it would fetch a repository, and nothing is fetched';
  const at = Math.max(
    0,
    lines.findIndex((line) => /^error:/i.test(line)),
  );
  let whole = lines[at];
  if (whole === undefined) return 'it fails without a word';
  // What ends with a colon is about to say what is wrong.
  for (const line of lines.slice(at + 1)) if (whole.endsWith(':')) whole += ` ${line}`;
  return whole
    .replace(/^error:\s*/i, '')
    .replace(onTheWay, '')
    .slice(0, 500);
}

/** How each kind is rendered, for those that are told. */
export const programs: Readonly<Record<RenderUnit['kind'], string>> = {
  helm: 'helm',
  kustomize: 'kustomize or kubectl',
};

/** Renders all units, as far as their programs are there. */
export async function renderAll(
  units: readonly RenderUnit[],
  read: ReadSource,
  env: Environment,
): Promise<{ readonly rendered: readonly RenderedText[]; readonly failed: readonly NotRendered[] }> {
  const rendered: RenderedText[] = [];
  const failed: NotRendered[] = [];
  const helm = findProgram('helm', env);
  const kustomize = findProgram('kustomize', env);
  const kubectl = findProgram('kubectl', env);
  const one = async (unit: RenderUnit): Promise<void> => {
    if (unit.kind === 'helm') {
      if (helm === undefined) failed.push({ unit, why: 'helm is not on the PATH' });
      else await renderChart(helm, unit, env, rendered, failed);
      return;
    }
    const program = kustomize ?? kubectl;
    if (program === undefined) failed.push({ unit, why: 'neither kustomize nor kubectl is on the PATH' });
    else await renderKustomization(program, kustomize !== undefined, unit, read, env, rendered, failed);
  };
  const waiting = [...units];
  const worker = async (): Promise<void> => {
    for (let unit = waiting.shift(); unit !== undefined; unit = waiting.shift()) await one(unit);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const order = new Map(units.map((unit, index) => [unit, index]));
  const byUnit = (a: { unit: RenderUnit }, b: { unit: RenderUnit }): number =>
    (order.get(a.unit) ?? 0) - (order.get(b.unit) ?? 0);
  return { rendered: rendered.sort(byUnit), failed: failed.sort(byUnit) };
}

async function renderChart(
  helm: string,
  unit: RenderUnit,
  env: Environment,
  rendered: RenderedText[],
  failed: NotRendered[],
): Promise<void> {
  for (const values of [undefined, ...unit.valuesFiles]) {
    const args = ['template', releaseName(unit), '.', '--skip-tests'];
    if (values !== undefined) args.push('--values', values);
    const ran = await run(helm, args, unit.directory, env);
    if ('output' in ran) rendered.push({ unit, values, text: ran.output, base: unit.directory });
    else
      failed.push({
        unit,
        why: `helm template${values === undefined ? '' : ` with ${nameOf(values)}`}: ${ran.why}`,
      });
  }
}

/** A release has a name; that of the chart's folder is as good as any. */
function releaseName({ directory }: RenderUnit): string {
  const name = nameOf(directory)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'release' : name.slice(0, 50);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

async function renderKustomization(
  program: string,
  isKustomize: boolean,
  unit: RenderUnit,
  read: ReadSource,
  env: Environment,
  rendered: RenderedText[],
  failed: NotRendered[],
): Promise<void> {
  const missing = missingIn(unit, read);
  if (missing !== undefined) {
    failed.push({ unit, why: `${missing} is not on this disk, and nothing is fetched` });
    return;
  }
  // The origin of each object is only told on request, which a kustomization around the user's own makes.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-')));
  try {
    const to = relative(folder, unit.directory).split(sep).join('/');
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      `resources: [${JSON.stringify(to)}]\nbuildMetadata: [originAnnotations]\n`,
    );
    const args = isKustomize ? ['build', folder] : ['kustomize', folder];
    let ran = await run(program, args, folder, env);
    // Files beside a kustomization are read where its author allows that, which is a flag that is not ours to see.
    if ('why' in ran && /is not in or below/.test(ran.why)) {
      ran = await run(program, [...args, '--load-restrictor', 'LoadRestrictionsNone'], folder, env);
    }
    const base = folder.split(sep).join('/');
    if ('output' in ran) rendered.push({ unit, values: undefined, text: ran.output, base });
    else {
      const name = isKustomize ? 'kustomize build' : 'kubectl kustomize';
      failed.push({ unit, why: `${name}: ${ran.why.replaceAll(folder, '.').replaceAll(to, '.')}` });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a build would look for elsewhere: kustomize takes the name of what is not there for an address. */
function missingIn({ directory }: RenderUnit, read: ReadSource): string | undefined {
  for (const { kustomization } of buildOrder(directory, read)) {
    for (const path of kustomization.resources) {
      if (existsSync(path)) continue;
      const shown = relative(directory, path).split(sep).join('/');
      return `"${shown}" of ${nameOf(kustomization.directory)}/${nameOf(kustomizationIn(kustomization.directory, read)?.path ?? '')}`;
    }
  }
  return undefined;
}
