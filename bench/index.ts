import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Runs benchmarks one after the other, each in a process of its own: `npm run bench [-- NAME...]`.
 *
 * They print times beside a named peer, measured in the same run, and judge nothing: a shared machine is too noisy for
 * a limit.
 */
const benches: Readonly<Record<string, string>> = {
  parse: 'reading YAML, beside the yaml package',
  keystroke: 'an edit in a file of 5,000 lines, beside yaml-language-server',
  editor: 'hovers, hints, completion and references in files of 5,000 lines',
  completion: 'keys of each kind in a file of 1,000 lines, beside yaml-language-server',
  cli: 'plimsoll lint on 5,000 files, beside reading them with the yaml package',
  fit: '2,000 pods x 20 NodePools x 251 instance types',
  sizing: 'estimates beside measured runs of model servers',
  live: 'the live panel of 1,000 pods on 100 nodes of eight GPUs',
  drawing: 'an update of 1,000 pods in the webview, beside a plain table of them',
};

function main(names: readonly string[]): number {
  const unknown = names.filter((name) => benches[name] === undefined);
  if (unknown.length > 0) {
    process.stderr.write(
      `no benchmark ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}\n`,
    );
    return 2;
  }
  let failed = 0;
  for (const [name, about] of Object.entries(benches)) {
    if (names.length > 0 && !names.includes(name)) continue;
    process.stdout.write(`\n== ${name}: ${about}\n`);
    const { status } = spawnSync(process.execPath, ['--import', 'tsx', join(__dirname, `${name}.ts`)], {
      stdio: 'inherit',
    });
    if (status === null || status > 1) failed = 1;
  }
  return failed;
}

process.exitCode = main(process.argv.slice(2));
