import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createVSIX } from '@vscode/vsce';

/** `npm run package`: writes `plimsoll-<version>.vsix`. Everything needed at run time is in `dist/`, so no dependencies. */

const root = resolve(__dirname, '..');

async function main(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const packagePath = join(root, `plimsoll-${version}.vsix`);
  // vsce builds first: the manifest's script `vscode:prepublish`.
  await createVSIX({ cwd: root, packagePath, dependencies: false });
  console.log(`${packagePath} (${Math.round(statSync(packagePath).size / 1024)} KiB)`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
