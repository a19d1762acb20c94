import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { describe, test } from 'node:test';
import { generated, generatedFromMeta, ruleFiles, stale } from '../scripts/gen';
import { listRules } from '../server/src/cli/commands/rules';
import type { Host } from '../server/src/cli/host';
import { ownRules } from '../server/src/engine/own-rules';
import { ruleDocPath, ruleMetas, ruleOptions } from '../server/src/engine/registry';
import { examplesOf, fixturesOf } from './support/fixtures';

/** What holds for the project as a whole: layers, the parts of a rule, generated files, and what text may not say. */

const root = resolve(__dirname, '..');

function filesUnder(folder: string, keep: (path: string) => boolean): readonly string[] {
  const full = join(root, folder);
  if (!existsSync(full)) return [];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !/(^|\/)(node_modules|dist|out)\//.test(path) && keep(path))
    .sort();
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

const isTypeScript = (path: string): boolean => /\.tsx?$/.test(path);

// ---------------------------------------------------------------------------------------------------------------
// Layers

interface Layer {
  /** Folders of ours that it may import; its own is always allowed. */
  readonly ours: readonly string[];
  /** Folders of which it may import types only. */
  readonly types?: readonly string[];
  /** Packages it may import; `node:*` for Node's own. */
  readonly packages: readonly string[];
  /**
   * Synchronous and a function of its arguments: no promises, no timers, no clock, no chance. Rules and what they
   * stand on are asked at each keystroke, and their answers are cached.
   */
  readonly pure: boolean;
}

const core = [
  'yaml',
  'promql',
  'kube',
  'sizing',
  'workspace',
  'structure',
  'live',
  'autoscale',
  'rules',
  'engine',
  'editor',
  'panel',
];

/** ARCHITECTURE.md, "Layers", as data. A folder that is not listed here is an error. */
const layers: Readonly<Record<string, Layer>> = {
  yaml: { ours: [], packages: ['yaml'], pure: true },
  promql: { ours: [], packages: ['@prometheus-io/lezer-promql', '@lezer/common'], pure: true },
  kube: { ours: ['yaml'], packages: [], pure: true },
  sizing: { ours: ['yaml', 'kube'], packages: [], pure: true },
  workspace: { ours: ['yaml', 'kube'], packages: [], pure: true },
  structure: { ours: ['yaml', 'kube'], packages: ['@marcbachmann/cel-js'], pure: true },
  live: { ours: ['yaml', 'kube'], packages: [], pure: true },
  autoscale: { ours: ['yaml', 'kube'], packages: [], pure: true },
  rules: {
    ours: ['yaml', 'promql', 'kube', 'sizing', 'workspace', 'structure', 'live', 'autoscale'],
    packages: [],
    pure: true,
  },
  engine: {
    ours: ['yaml', 'promql', 'kube', 'sizing', 'workspace', 'structure', 'live', 'autoscale', 'rules'],
    packages: ['ignore'],
    pure: true,
  },
  editor: {
    ours: ['yaml', 'kube', 'sizing', 'workspace', 'rules', 'engine'],
    packages: [],
    pure: true,
  },
  panel: {
    ours: ['yaml', 'kube', 'sizing', 'workspace', 'live', 'autoscale', 'rules', 'engine'],
    packages: [],
    pure: true,
  },
  protocol: { ours: [], types: ['panel', 'live', 'engine'], packages: [], pure: true },
  schema: {
    ours: ['yaml', 'kube', 'workspace', 'structure'],
    packages: [
      'yaml-language-server',
      'vscode-languageserver-textdocument',
      'vscode-languageserver-types',
      'node:*',
    ],
    pure: false,
  },
  render: { ours: ['yaml', 'kube', 'workspace', 'rules', 'engine'], packages: ['node:*'], pure: false },
  files: { ours: [], packages: ['ignore', 'node:*'], pure: false },
  remote: {
    ours: ['yaml', 'kube', 'sizing'],
    packages: ['node:*', '@huggingface/hub', '@aws-sdk/client-ec2', '@aws-sdk/client-pricing'],
    pure: false,
  },
  sources: {
    ours: ['live', 'kube'],
    packages: [
      'node:*',
      '@kubernetes/client-node',
      '@aws-sdk/client-cloudwatch',
      '@aws-sdk/client-cloudwatch-logs',
      '@aws-sdk/credential-provider-node',
      '@smithy/signature-v4',
    ],
    pure: false,
  },
  lsp: {
    ours: [...core, 'render', 'protocol', 'schema', 'files', 'sources'],
    packages: [
      'node:*',
      'vscode-languageserver',
      'vscode-languageserver-textdocument',
      'vscode-languageserver-types',
      'vscode-uri',
    ],
    pure: false,
  },
  cli: {
    ours: [...core, 'protocol', 'schema', 'files', 'render', 'remote', 'sources'],
    packages: ['node:*'],
    pure: false,
  },
};

interface Import {
  readonly path: string;
  readonly line: number;
  readonly target: string;
  readonly typeOnly: boolean;
}

/** All import and export lines of a file, and `import()`. */
function importsOf(path: string): readonly Import[] {
  const text = read(path);
  const found: Import[] = [];
  const add = (index: number, target: string | undefined, typeOnly: boolean): void => {
    if (target === undefined) return;
    found.push({ path, line: text.slice(0, index).split('\n').length, target, typeOnly });
  };
  for (const match of text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'/gm)) {
    const named = /\{([^}]*)\}/.exec(match[0])?.[1];
    const allTypes =
      named !== undefined &&
      !/^(?:import|export)\s+\w+\s*,/.test(match[0]) &&
      named
        .split(',')
        .filter((part) => part.trim() !== '')
        .every((part) => /^\s*type\s/.test(part));
    add(match.index, match[2], match[1] !== undefined || allTypes);
  }
  for (const match of text.matchAll(/^import\s+'([^']+)'/gm)) add(match.index, match[1], false);
  for (const match of text.matchAll(/\b(?:import|require)\(\s*'([^']+)'\s*\)/g)) {
    // `typeof import('x')` and `import('x').Type` are types.
    const before = text.slice(Math.max(0, match.index - 8), match.index);
    add(match.index, match[1], /typeof\s*$/.test(before));
  }
  return found;
}

/** `server/src/kube/quantity` for `../kube/quantity` in `server/src/rules/rule.ts`. */
function resolved({ path, target }: Import): string {
  return posix.normalize(posix.join(posix.dirname(path), target));
}

function describeImport({ path, line, target }: Import, why: string): string {
  return `${path}:${line} imports '${target}': ${why}`;
}

function allowsPackage(allowed: readonly string[], target: string): boolean {
  if (target.startsWith('node:')) return allowed.includes('node:*');
  return allowed.some((name) => target === name || target.startsWith(`${name}/`));
}

function layerErrors(folder: string, layer: Layer): readonly string[] {
  const base = `server/src/${folder}/`;
  return filesUnder(base, isTypeScript).flatMap((path) =>
    importsOf(path).flatMap((each) => {
      if (!each.target.startsWith('.')) {
        return allowsPackage(layer.packages, each.target)
          ? []
          : [describeImport(each, `${folder}/ may import ${layer.packages.join(', ') || 'no package'}`)];
      }
      const target = resolved(each);
      if (target.startsWith(base)) return [];
      const other = /^server\/src\/([^/]+)\//.exec(target)?.[1];
      if (other === undefined) return [describeImport(each, 'it is outside of server/src')];
      if (layer.ours.includes(other)) return [];
      if (layer.types?.includes(other) === true) {
        return each.typeOnly ? [] : [describeImport(each, `${folder}/ may import types of ${other}/ only`)];
      }
      return [describeImport(each, `${folder}/ may not import ${other}/`)];
    }),
  );
}

/** Text without comments and string contents, so that a word in a sentence is not taken for code. */
function codeOf(path: string): string {
  return read(path)
    .replace(/\/\*[^]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[^:'"`])\/\/[^\n]*/g, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''");
}

const impure =
  /\b(?:async\s+(?:function|\()|await\s|Promise\b|setTimeout|setInterval|queueMicrotask|Date\.now|new Date\(\)|performance\.now|Math\.random|process\.|console\.|fetch\()/;

describe('layers', () => {
  test('every folder of the server is in the table', () => {
    const folders = readdirSync(join(root, 'server/src')).filter((name) =>
      statSync(join(root, 'server/src', name)).isDirectory(),
    );
    assert.deepEqual(
      folders.filter((name) => !(name in layers)),
      [],
    );
  });

  for (const [folder, layer] of Object.entries(layers)) {
    test(`${folder}/ imports what it may`, () => assert.deepEqual(layerErrors(folder, layer), []));
    if (!layer.pure) continue;
    test(`${folder}/ is synchronous, and asks no clock and no chance`, () => {
      const found = filesUnder(`server/src/${folder}/`, isTypeScript).flatMap((path) => {
        const match = impure.exec(codeOf(path));
        return match === null ? [] : [`${path}: ${match[0]}`];
      });
      assert.deepEqual(found, []);
    });
  }

  test('protocol/ holds names and types: nothing that runs', () => {
    for (const path of filesUnder('server/src/protocol/', isTypeScript)) {
      assert.doesNotMatch(codeOf(path), /\bfunction\b|=>|\bclass\b/, path);
    }
  });

  test('the client sees of the server nothing but the protocol', () => {
    const errors = filesUnder('client/src/', isTypeScript).flatMap((path) =>
      importsOf(path).flatMap((each) => {
        if (!each.target.startsWith('.')) {
          return allowsPackage(['vscode', 'vscode-languageclient', 'node:*'], each.target)
            ? []
            : [describeImport(each, 'no package of the client')];
        }
        const target = resolved(each);
        return target.startsWith('client/src/') || target.startsWith('server/src/protocol/')
          ? []
          : [describeImport(each, 'client/src may import server/src/protocol only')];
      }),
    );
    assert.deepEqual(errors, []);
  });

  test('the webview knows neither vscode nor node, and of the server types only', () => {
    const errors = filesUnder('client/webview/', isTypeScript).flatMap((path) =>
      importsOf(path).flatMap((each) => {
        if (!each.target.startsWith('.')) {
          return each.target === 'vscode' || each.target.startsWith('node:')
            ? [describeImport(each, 'it is not there in a browser')]
            : [];
        }
        const target = resolved(each);
        if (target.startsWith('client/webview/')) return [];
        if (!/^server\/src\/(protocol|panel)\//.test(target)) {
          return [describeImport(each, 'client/webview may import types of protocol/ and panel/ only')];
        }
        return each.typeOnly ? [] : [describeImport(each, 'types only')];
      }),
    );
    assert.deepEqual(errors, []);
  });

  test('nobody but the client imports vscode', () => {
    const errors = filesUnder('server/src/', isTypeScript)
      .flatMap(importsOf)
      .filter(({ target }) => target === 'vscode')
      .map((each) => describeImport(each, 'only client/src may'));
    assert.deepEqual(errors, []);
  });
});

// ---------------------------------------------------------------------------------------------------------------
// Rules

const sections = ['Examples', 'Fix', 'Options', 'When not to use it'];

describe('rules', () => {
  test('each rule file names the rule that it holds', () => {
    for (const { area, id } of ruleFiles()) {
      assert.match(
        read(`server/src/rules/${area}/${id}.ts`),
        new RegExp(`\\bid: '${id}'`),
        `${area}/${id}.ts`,
      );
    }
  });

  test('rules ask for kinds near an object, or for those that are looked for everywhere', () => {
    // In a cell of a larger workspace the other kinds are not all there.
    const found = everyText
      .filter((path) => path.startsWith('server/src/rules/') && isTypeScript(path))
      .filter((path) => /\bworkspace\s*\.(?:byKind|resources|files)\b/.test(codeOf(path)));
    assert.deepEqual(found, []);
  });

  test('each document in rules/ belongs to a rule', () => {
    const known = new Set(ruleMetas.map(({ id }) => ruleDocPath(id)));
    const documents = [
      ...filesUnder('server/src/rules/', (path) => path.endsWith('.md')),
      ...filesUnder('server/src/engine/docs/', (path) => path.endsWith('.md')),
    ];
    assert.deepEqual(
      documents.filter((path) => !known.has(path)),
      [],
    );
  });

  test('plimsoll rules --format json lists what the documents are about', () => {
    let text = '';
    const host = { stdout: { write: (part: string) => void (text += part) } } as unknown as Host;
    assert.equal(listRules({ command: 'rules', format: 'json' }, host), 0);
    const listed = JSON.parse(text) as readonly {
      readonly id: string;
      readonly summary: string;
      readonly severity: Readonly<Record<'recommended' | 'strict' | 'minimal', string>>;
      readonly needs: string;
      readonly kinds: readonly string[];
      readonly fixable: string;
      readonly options: Readonly<Record<string, unknown>>;
      readonly docPath: string;
    }[];
    const documents = [
      ...filesUnder('server/src/rules/', (path) => path.endsWith('.md')),
      ...filesUnder('server/src/engine/docs/', (path) => path.endsWith('.md')),
    ];
    assert.deepEqual(listed.map(({ docPath }) => docPath).sort(), [...documents].sort());
    const levels = ['off', 'hint', 'info', 'warning', 'error'];
    for (const { id, summary, severity, needs, kinds, fixable, options, docPath } of listed) {
      const document = read(docPath);
      assert.equal(document.split('\n')[0], `# ${id}`);
      assert.ok(document.includes(`\n${summary}.\n`), `${docPath} starts with the summary`);
      for (const level of Object.values(severity)) assert.ok(levels.includes(level), id);
      assert.ok(['document', 'workspace', 'live'].includes(needs), id);
      assert.ok(['safe', 'suggest', 'none'].includes(fixable), id);
      assert.equal(
        kinds.length === 0,
        ownRules.some((own) => own.id === id),
        id,
      );
      const section = document.slice(document.indexOf('## Options'));
      for (const name of Object.keys(options))
        assert.ok(section.includes(`\`${name}\``), `${docPath}: ${name}`);
    }
  });

  test('ids are unique', () => {
    const ids = ruleMetas.map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
  });

  for (const meta of ruleMetas) {
    const { id } = meta;
    describe(id, () => {
      test('has an id, a summary and severities that make sense', () => {
        assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)+$/);
        // It may start with a name of the field in lower case, such as minReplicas.
        assert.match(meta.summary, /^[A-Za-z].*[^.]$/, 'a sentence without its full stop');
        assert.ok(meta.summary.length <= 100, 'the summary fits on a line');
        if (meta.severity === 'off')
          assert.ok(meta.strict !== undefined, 'a rule that is off is on in strict');
        assert.notEqual(meta.strict, meta.severity, 'strict says a difference');
        const isOwn = ownRules.some((own) => own.id === id);
        assert.equal(meta.kinds.length === 0, isOwn, 'a rule looks at some kinds');
      });

      test('has a document with the parts of all documents', () => {
        const path = ruleDocPath(id);
        assert.ok(existsSync(join(root, path)), `${path} is missing`);
        const text = read(path);
        const [title, blank, summary] = text.split('\n');
        assert.deepEqual([title, blank, summary], [`# ${id}`, '', `${meta.summary}.`], path);
        // Not the comments in examples.
        const prose = text.replace(/^```[^]*?^```/gm, '');
        assert.deepEqual(
          [...prose.matchAll(/^## (.*)$/gm)].map((match) => match[1]),
          sections,
          path,
        );
        const why = text.slice(0, text.indexOf('## Examples'));
        assert.match(why, /https:\/\/|\]\[|\]\(/, `${path}: why, with a source`);
        assert.ok(why.length > 250, `${path}: says why`);
        const kinds = examplesOf(text).map(({ kind }) => kind);
        assert.ok(kinds.includes('wrong') && kinds.includes('right'), `${path}: a wrong and a right example`);
        const options = text.slice(text.indexOf('## Options'), text.indexOf('## When not to use it'));
        const names = Object.keys(ruleOptions(id));
        if (names.length === 0) assert.match(options, /^## Options\n\nNone\.\n/, `${path}: has no option`);
        for (const name of names)
          assert.ok(options.includes(`\`${name}\``), `${path}: explains the option ${name}`);
      });

      test('has fixtures of both kinds', () => {
        const folder = join(root, 'test/rules', id);
        assert.ok(existsSync(folder), `test/rules/${id}/ is missing`);
        const fixtures = fixturesOf(folder, id);
        assert.ok(
          fixtures.some(({ name, wants }) => name.startsWith('bad') && wants.some(({ rule }) => rule === id)),
          `test/rules/${id}/ has no bad*.yaml that wants the rule`,
        );
        assert.ok(
          fixtures.some(({ name }) => name.startsWith('good')),
          `test/rules/${id}/ has no good*.yaml`,
        );
        const fixes = fixtures.flatMap(({ wants }) =>
          wants.filter(({ rule }) => rule === id).flatMap((want) => want.fixes),
        );
        assert.equal(
          fixes.length > 0,
          meta.fixable !== 'none',
          `"fixable: ${meta.fixable}" is what the fixtures show`,
        );
      });
    });
  }
});

describe('generated files', () => {
  test('the index, the schema and the table in the README are current', async () => {
    const files = new Map([...(await generated()), ...(await generatedFromMeta())]);
    assert.deepEqual(stale(files), [], 'run: npm run gen');
  });

  test('the README names every rule', () => {
    const readme = read('README.md');
    for (const { id } of ruleMetas) assert.ok(readme.includes(`[${id}](${ruleDocPath(id)})`), id);
  });
});

// ---------------------------------------------------------------------------------------------------------------
// Text

const texts = (path: string): boolean => /\.(tsx?|md|ya?ml|json|mjs|css|html|code-snippets)$/.test(path);
const everyText = [
  ...['client', 'server', 'schemas', 'snippets', 'examples', 'scripts', 'bench', 'test'].flatMap((folder) =>
    filesUnder(folder, texts),
  ),
  ...readdirSync(root).filter(
    (name) => texts(name) && name !== 'package-lock.json' && statSync(join(root, name)).isFile(),
  ),
];

describe('text', () => {
  test('links in documents lead to files that are there', () => {
    const broken = everyText
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) =>
        [
          ...read(path)
            .replace(/```[^]*?```/g, '')
            .matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g),
        ]
          .map((match) => match[1] ?? '')
          .filter((target) => !/^[a-z]+:/.test(target))
          .filter((target) => !existsSync(join(root, posix.join(posix.dirname(path), target))))
          .map((target) => `${path}: ${target}`),
      );
    assert.deepEqual(broken, []);
  });

  test('no type is any', () => {
    const found = everyText
      .filter(isTypeScript)
      .filter((path) => /(?::\s*|\bas\s+|<)any\b(?!\s*\()/.test(codeOf(path).replace(/`[^`]*`/g, '``')));
    assert.deepEqual(found, []);
  });

  test('the product names no path of the machine that it was made on', () => {
    const product = everyText.filter((path) => !path.startsWith('test/'));
    const found = product.filter((path) =>
      /\/work\/(main|shared)\b|\bshared\/(facts|corpus)\b/.test(read(path)),
    );
    assert.deepEqual(found, []);
  });

  test('no comment puts work off', () => {
    const words = ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'];
    const found = everyText.filter((path) =>
      words.some((word) => new RegExp(`\\b${word}\\b`).test(read(path))),
    );
    assert.deepEqual(found, []);
  });

  const corpus = resolve(root, '../shared/corpus');
  test(
    'no manifest is copied from the public ones that it is tried on',
    { skip: existsSync(corpus) ? false : 'there is no ../shared/corpus beside the project' },
    () => {
      const length = 15;
      const known = new Set<string>();
      for (const entry of readdirSync(corpus, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(ya?ml|tpl)$/.test(entry.name)) continue;
        for (const run of runsOf(readFileSync(join(entry.parentPath, entry.name), 'utf8'), length))
          known.add(run);
      }
      const copied = everyText
        .filter((path) => /\.(ya?ml|md)$/.test(path))
        .filter((path) => runsOf(read(path), length).some((run) => known.has(run)));
      assert.deepEqual(copied, []);
    },
  );
});

/** Every run of so many lines of a text that say something, white space and comments apart. */
function runsOf(text: string, length: number): readonly string[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return lines
    .slice(0, Math.max(0, lines.length - length + 1))
    .map((_, index) => lines.slice(index, index + length).join('\n'));
}
