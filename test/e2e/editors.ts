import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * The builds of VS Code that the tests run in, installed from the npm registry into the git-ignored `.vscode-test/`.
 *
 * The package `code-server` carries VS Code's own server and web client; they are started directly, without
 * code-server's wrapper. Versions are pinned: a new VS Code is a change of this file, not a surprise.
 */
export interface Editor {
  /** The version of VS Code. */
  readonly vscode: string;
  readonly codeServer: string;
  /** Version of the npm package `node-<platform>-<arch>` that runs it; undefined: the Node that runs the tests. */
  readonly node: string | undefined;
}

export const editors: readonly Editor[] = [
  // The oldest that `engines.vscode` allows. Its server is built for Node 20.
  { vscode: '1.100.3', codeServer: '4.100.3', node: '20.20.2' },
  // The newest. Its server is built for Node 24.
  { vscode: '1.139.1', codeServer: '4.139.1', node: '24.21.0' },
];

export interface InstalledEditor extends Editor {
  readonly nodeExecutable: string;
  /** `server-main.js` of the VS Code server. */
  readonly serverMain: string;
}

const cache = resolve(__dirname, '..', '..', '.vscode-test');

/** Installs what is missing (about 300 MB for each editor) and returns where it is. */
export function install(editor: Editor): InstalledEditor {
  const server = ensure(`code-server-${editor.codeServer}`, (folder) => {
    npm(folder, ['install', '--ignore-scripts', `code-server@${editor.codeServer}`]);
    // The server's own dependencies, pinned by its shrinkwrap. Their native parts are not built: only log files
    // and terminals are lost.
    npm(join(folder, vscodeFolder), ['install', '--omit=dev', '--ignore-scripts']);
  });
  return {
    ...editor,
    nodeExecutable: editor.node === undefined ? process.execPath : nodeOf(editor.node),
    serverMain: join(server, vscodeFolder, 'out', 'server-main.js'),
  };
}

const vscodeFolder = join('node_modules', 'code-server', 'lib', 'vscode');

function nodeOf(version: string): string {
  if (process.version === `v${version}`) return process.execPath;
  // The package `node` fetches this one from an install script; named directly, no script has to run.
  const name = `node-${process.platform}-${process.arch}`;
  const folder = ensure(`node-${version}`, (each) =>
    npm(each, ['install', '--ignore-scripts', `${name}@${version}`]),
  );
  return join(folder, 'node_modules', name, 'bin', 'node');
}

/** Fills a folder of the cache once; one that was interrupted is filled again. */
function ensure(name: string, fill: (folder: string) => void): string {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'package.json'), '{ "private": true }\n');
  fill(partial);
  renameSync(partial, folder);
  return folder;
}

function npm(folder: string, args: readonly string[]): void {
  process.stdout.write(`npm ${args.join(' ')}\n`);
  const { status, error } = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`npm ${args.join(' ')} in ${folder} exited with ${status}`);
}
