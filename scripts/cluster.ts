import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ensurePrograms, missingTools, type Programs } from '../test/cluster/lab/programs';
import { describe, inLabNetwork, startLab, tails, type Started } from '../test/cluster/lab/lab';
import { labsFolder } from '../test/cluster/lab/home';
import { cleanUp, isAlive, labFolders, readState, stopLab } from '../test/cluster/lab/state';

/**
 * A real cluster on this machine, with simulated kubelets:
 * `npm run cluster -- up | down | status | logs [PROGRAM]`, and for the tests on it `npm run test:cluster [-- FILE...]`.
 */

const root = resolve(__dirname, '..');
const usage =
  'usage: npm run cluster -- up | down | status | logs [PROGRAM]\n       npm run test:cluster [-- FILE...]\n';

/** The lab that `up` starts; there is one for each user of the machine. */
const byHand = join(labsFolder(), 'by-hand');

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The programs, or `undefined` when the machine lacks what builds them, which has been said. */
async function programs(): Promise<Programs | undefined> {
  const missing = missingTools();
  if (missing.length === 0) return ensurePrograms(say);
  say('The cluster needs programs that are not on this machine:');
  for (const { what, how } of missing) say(`  ${what}\n    ${how}`);
  return undefined;
}

async function clean(): Promise<void> {
  const ended = await cleanUp();
  if (ended.length > 0) say(`ended what a crashed lab had left: ${ended.join(', ')}`);
}

async function up(): Promise<number> {
  await clean();
  const running = isAlive(byHand) ? readState(byHand) : undefined;
  if (running?.phase === 'starting') {
    say('the cluster is being started; npm run cluster -- status');
    return 1;
  }
  if (running === undefined) {
    const found = await programs();
    if (found === undefined) return 1;
    try {
      await startLab({ name: 'by-hand', programs: found, until: 'asked' });
    } catch (error) {
      return failed(byHand, error);
    }
  }
  const state = readState(byHand);
  if (state === undefined) return 1;
  say(`KUBECONFIG=${state.kubeconfigs.admin}`);
  say(`  read only: ${state.kubeconfigs.viewer}`);
  say(`  no rights: ${state.kubeconfigs.stranger}`);
  say(`kubectl     ${state.kubectl}`);
  say(`Prometheus  ${state.prometheus}`);
  say(`CloudWatch  ${state.cloudWatch}`);
  if (state.namespace === undefined) {
    say('Without root it has no network of its own: the pods have addresses that nobody answers at.');
  } else {
    say(`A program of the pods runs in its network: ${inLabNetwork(state).join(' ')} PROGRAM`);
  }
  say('npm run cluster -- down stops it.');
  return 0;
}

function failed(folder: string, error: unknown): number {
  process.stderr.write(`${tails(folder)}\n`);
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
}

async function down(): Promise<number> {
  const wasRunning = isAlive(byHand);
  const left = await stopLab(byHand);
  await clean();
  say(wasRunning ? 'stopped' : 'no cluster was running');
  if (left.length > 0) say(`ended by their ids: ${left.join(', ')}`);
  return 0;
}

function status(): number {
  const folders = labFolders().filter((folder) => readState(folder) !== undefined);
  if (folders.length === 0) say('no cluster has been started');
  for (const folder of folders) {
    const state = readState(folder);
    if (state === undefined) continue;
    for (const line of describe(folder, state)) say(line);
    if (isAlive(folder)) say(`  KUBECONFIG=${state.kubeconfigs.admin}`);
  }
  return isAlive(byHand) ? 0 : 3;
}

function logs(program: string | undefined): number {
  if (program === undefined) {
    say(tails(byHand));
    return 0;
  }
  const path = join(byHand, 'logs', `${program}.log`);
  if (!existsSync(path)) {
    const folder = join(byHand, 'logs');
    const names = existsSync(folder) ? readdirSync(folder).map((name) => name.replace(/\.log$/, '')) : [];
    process.stderr.write(`no log of ${program}; there are: ${names.join(', ') || 'none'}\n`);
    return 1;
  }
  process.stdout.write(readFileSync(path, 'utf8'));
  return 0;
}

function testFiles(): readonly string[] {
  const folder = join(root, 'test/cluster');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => relative(root, join(folder, name)));
}

/** Runs the tests in a lab of their own, in its network, one file after the other: they share its nodes. */
async function test(files: readonly string[]): Promise<number> {
  await clean();
  const found = await programs();
  if (found === undefined) {
    if (process.env['CI'] !== undefined && process.env['CI'] !== '') return 1;
    say('Skipped: these tests need them, and nothing else does.');
    return 0;
  }
  let lab: Started;
  const name = `test-${Date.now()}`;
  try {
    lab = await startLab({ name, programs: found, until: 'owner' });
  } catch (error) {
    return failed(join(labsFolder(), name), error);
  }
  const words = [
    ...inLabNetwork(lab.state),
    ...[process.execPath, '--import', 'tsx', '--test', '--test-concurrency=1', '--test-reporter=spec'],
    ...(files.length > 0 ? files : testFiles()),
  ];
  const [command = '', ...args] = words;
  const child = spawn(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PLIMSOLL_LAB: lab.folder },
  });
  // A Ctrl-C reaches the tests as well; the lab stops when they have ended.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const code = await new Promise<number>((done) => {
    child.once('error', (error) => done(failed(lab.folder, error)));
    child.once('exit', (status) => done(status ?? 1));
  });
  const exits = readState(lab.folder)?.exits ?? [];
  const isGood = code === 0 && exits.length === 0;
  // Before they speak of their end.
  if (!isGood) say(tails(lab.folder));
  await stopLab(lab.folder);
  for (const exit of exits) say(exit);
  if (!isGood) say(`all logs: ${join(lab.folder, 'logs')}`);
  return code === 0 && !isGood ? 1 : code;
}

async function main([command, ...rest]: readonly string[]): Promise<number> {
  if (command === 'up' && rest.length === 0) return up();
  if (command === 'down' && rest.length === 0) return down();
  if (command === 'status' && rest.length === 0) return status();
  if (command === 'logs' && rest.length <= 1) return logs(rest[0]);
  if (command === 'test') return test(rest);
  process.stderr.write(usage);
  return 2;
}

// Whoever reads only the first line has what it wants.
process.stdout.on('error', () => undefined);

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
