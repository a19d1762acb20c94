import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { openRuleDocumentationCommand } from '../../server/src/protocol/messages';
import { defaultSettings, settingsSection } from '../../server/src/protocol/settings';

const root = resolve(__dirname, '..', '..');

interface Property {
  readonly type: string;
  readonly default: unknown;
  readonly scope: string;
  readonly markdownDescription?: string;
  readonly enum?: readonly string[];
}

interface Manifest {
  readonly version: string;
  readonly main: string;
  readonly icon: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string; readonly vscode: string };
  readonly dependencies?: unknown;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly activationEvents: readonly string[];
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
    }[];
    readonly configuration: { readonly properties: Readonly<Record<string, Property>> };
    readonly yamlValidation: readonly { readonly url: string }[];
    readonly snippets?: readonly { readonly path: string }[];
    readonly walkthroughs: readonly {
      readonly steps: readonly {
        readonly description: string;
        readonly media: { readonly markdown: string };
        readonly completionEvents: readonly string[];
      }[];
    }[];
  };
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const { contributes } = manifest;
const commands = contributes.commands.map(({ command }) => command);

/** `{ hover: { enable: true } }` as `{ 'plimsoll.hover.enable': true }`; a leaf is what the manifest declares. */
function flatten(value: unknown, key: string): [string, unknown][] {
  if (key in contributes.configuration.properties || typeof value !== 'object' || value === null) {
    return [[key, value]];
  }
  return Object.entries(value).flatMap(([name, each]) => flatten(each, `${key}.${name}`));
}

test('the manifest declares the settings that the server reads, with the same defaults', () => {
  const declared = Object.entries(contributes.configuration.properties)
    // The language client reads this one by itself.
    .filter(([key]) => key !== 'plimsoll.trace.server')
    .map(([key, { default: value }]) => [key, value] as const);
  assert.deepEqual(
    Object.fromEntries(declared),
    Object.fromEntries(flatten(defaultSettings, settingsSection)),
  );
});

test('each setting has a description and, but for the trace, counts per resource', () => {
  for (const [key, property] of Object.entries(contributes.configuration.properties)) {
    assert.ok((property.markdownDescription ?? '').length > 20, key);
    assert.equal(property.scope, key === 'plimsoll.trace.server' ? 'window' : 'resource', key);
    if (property.enum !== undefined) assert.ok(property.enum.includes(String(property.default)), key);
  }
});

test('each command has a file of its own, and the client registers it', () => {
  const extension = readFileSync(join(root, 'client', 'src', 'extension.ts'), 'utf8');
  for (const command of commands) {
    const name = command.slice('plimsoll.'.length).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    assert.ok(existsSync(join(root, 'client', 'src', 'commands', `${name}.ts`)), command);
    const registered =
      command === openRuleDocumentationCommand ? 'openRuleDocumentationCommand' : `'${command}'`;
    assert.ok(extension.includes(`registerCommand(${registered}`), command);
  }
});

test('what the manifest refers to exists', () => {
  const steps = contributes.walkthroughs.flatMap((each) => each.steps);
  const paths = [
    manifest.icon,
    ...contributes.yamlValidation.map(({ url }) => url),
    ...(contributes.snippets ?? []).map(({ path }) => path),
    ...steps.map(({ media }) => media.markdown),
  ];
  for (const path of paths) assert.ok(existsSync(join(root, path)), path);
  assert.equal(steps.length, 3);
  for (const { description, completionEvents } of steps) {
    const named = [...description.matchAll(/\(command:([\w.]+)\)/g)].map((match) => match[1] ?? '');
    const completing = completionEvents.flatMap((event) => /^onCommand:(.+)$/.exec(event)?.[1] ?? []);
    for (const command of [...named, ...completing]) assert.ok(commands.includes(command), command);
  }
});

test('each snippet file is contributed', () => {
  const folder = join(root, 'snippets');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = names.filter((name) => name.endsWith('.code-snippets'));
  assert.deepEqual(
    // One file can serve several languages.
    [...new Set((contributes.snippets ?? []).map(({ path }) => path))].sort(),
    files.map((name) => `./snippets/${name}`).sort(),
  );
});

test('everything needed at run time is bundled, and the oldest VS Code is the one the types describe', () => {
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.engines.vscode, '^1.100.0');
  assert.equal(manifest.devDependencies['@types/vscode'], '~1.100.0');
});
