import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { modelKeys } from '../server/src/engine/models-config';
import type { Rule, RuleMeta } from '../server/src/rules/rule';

/**
 * Writes everything that follows from the rules: `server/src/rules/index.ts`, `schemas/config.schema.json` and the
 * table of rules in the README. `--check` writes nothing and fails when something is not current.
 */

const root = resolve(__dirname, '..');

/** A rule file holds a default export made by `defineRule`; others in the folder are helpers. */
interface RuleFile {
  readonly area: string;
  readonly id: string;
}

export function ruleFiles(): readonly RuleFile[] {
  const rules = join(root, 'server/src/rules');
  return readdirSync(rules)
    .filter((area) => statSync(join(rules, area)).isDirectory())
    .flatMap((area) =>
      readdirSync(join(rules, area))
        .filter((file) => file.endsWith('.ts'))
        .filter((file) => readFileSync(join(rules, area, file), 'utf8').includes('export default defineRule'))
        .map((file) => ({ area, id: file.slice(0, -'.ts'.length) })),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function indexText(files: readonly RuleFile[]): string {
  const name = ({ id }: RuleFile): string => id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const lines = [
    '// Written by `npm run gen`; do not edit.',
    "import type { Rule } from './rule';",
    ...files.map((file) => `import ${name(file)} from './${file.area}/${file.id}';`),
    '',
    '/** Every rule, sorted by id. */',
    `export const rules: readonly Rule[] = [${files.map(name).join(', ')}];`,
    '',
    '/** The folder of each rule, by id. */',
    `export const ruleAreas: Readonly<Record<string, string>> = {${files
      .map(({ id, area }) => `'${id}': '${area}'`)
      .join(', ')}};`,
    '',
  ];
  return lines.join('\n');
}

const fixWords: Readonly<Record<RuleMeta['fixable'], string>> = {
  safe: 'safe',
  suggest: 'suggested',
  none: '',
};

export function readmeTable(metas: readonly RuleMeta[], docPath: (id: string) => string): string {
  const rows = metas.map((meta) => {
    const severity = meta.strict === undefined ? meta.severity : `${meta.severity} (strict: ${meta.strict})`;
    return `| [${meta.id}](${docPath(meta.id)}) | ${meta.summary} | ${severity} | ${fixWords[meta.fixable]} |`;
  });
  const table = ['| Rule | What it says | Severity | Fix |', '| --- | --- | --- | --- |', ...rows].join('\n');
  // One line for each rule: aligned by width, every line would change with the longest.
  return `<!-- prettier-ignore-start -->\n\n${table}\n\n<!-- prettier-ignore-end -->`;
}

const levelNames = ['off', 'hint', 'info', 'warning', 'error'];
const presets = ['recommended', 'strict', 'minimal'];

export function configSchema(
  metas: readonly RuleMeta[],
  optionsOf: (id: string) => Rule['options'],
): unknown {
  const strings = { type: 'array', items: { type: 'string' } };
  const oneOrMore = (description: string): unknown => ({ description, anyOf: [{ type: 'string' }, strings] });
  const level = { enum: levelNames };
  const ruleProperties = Object.fromEntries(
    metas.map((meta) => {
      const options: Readonly<Record<string, { default: unknown; description: string; schema: object }>> =
        optionsOf(meta.id);
      const properties = Object.fromEntries(
        Object.entries(options).map(([name, option]) => [
          name,
          { description: option.description, default: option.default, ...option.schema },
        ]),
      );
      return [
        meta.id,
        {
          description: meta.summary,
          anyOf: [
            { $ref: '#/definitions/level' },
            {
              type: 'object',
              additionalProperties: false,
              properties: { severity: { $ref: '#/definitions/level' }, ...properties },
            },
          ],
        },
      ];
    }),
  );
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Plimsoll configuration (.plimsoll.yaml)',
    type: 'object',
    additionalProperties: false,
    definitions: {
      level: { description: 'How loudly a rule speaks; `off` for not at all.', ...level },
      rules: {
        description: 'By rule id: a severity, or a map of `severity` and the options of the rule.',
        type: 'object',
        additionalProperties: false,
        properties: ruleProperties,
      },
    },
    properties: {
      extends: oneOrMore(
        'Configurations that this one builds on, first to last: paths relative to this file (`./shared.yaml`), or npm packages from node_modules here or above. What this file says holds over them; their patterns are relative to the folder of this file. Nothing is fetched.',
      ),
      preset: {
        description:
          'The rules to start from. `recommended`: what is wrong, wasteful or dangerous. `strict`: adds the whole production-readiness checklist. `minimal`: errors only.',
        default: 'recommended',
        enum: presets,
      },
      rules: { $ref: '#/definitions/rules' },
      overrides: {
        description: 'Other rules for some places. All conditions of an item must hold; later items win.',
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['rules'],
          properties: {
            files: oneOrMore('Patterns as in .gitignore, relative to the folder of this file.'),
            kinds: oneOrMore('Kinds, such as Deployment; `*` stands for any characters.'),
            namespaces: oneOrMore('Namespaces; `*` stands for any characters.'),
            names: oneOrMore('Names of objects; `*` stands for any characters.'),
            containers: oneOrMore(
              'Names of containers; `*` stands for any characters. Changes severities only.',
            ),
            rules: { $ref: '#/definitions/rules' },
            reason: { description: 'Why; shown with the findings that are accepted.', type: 'string' },
          },
        },
      },
      reportUnusedSuppressions: {
        description:
          'Severity of `unused-suppression`, suppressions that hide nothing: `true` for a warning, `false` for off.',
        anyOf: [{ type: 'boolean' }, { $ref: '#/definitions/level' }],
      },
      requireReason: {
        description:
          'Severity of `suppression-without-reason`, suppressions and overrides that turn rules off without saying why: `true` for a warning, `false` for off.',
        anyOf: [{ type: 'boolean' }, { $ref: '#/definitions/level' }],
      },
      ignore: oneOrMore(
        'Files that are not checked: patterns as in .gitignore, relative to the folder of this file.',
      ),
      models: {
        description:
          'Models that Plimsoll does not know, or knows otherwise, by the name that their server is told. Only what is known has to be given.',
        type: 'object',
        additionalProperties: {
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(modelKeys).map(([name, { description, schema: form }]) => [
              name,
              { description, ...form },
            ]),
          ),
        },
      },
    },
  };
}

/** Every generated file with the text it must have. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const pretty = async (path: string, text: string): Promise<string> =>
    format(text, { ...(await resolveConfig(join(root, path))), filepath: join(root, path) });

  const index = 'server/src/rules/index.ts';
  files.set(index, await pretty(index, indexText(ruleFiles())));
  return files;
}

/** What follows from the metadata of the rules, which are loaded through the index: it must be current. */
export async function generatedFromMeta(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const { ruleDocPath, ruleMetas, ruleOptions } = await import('../server/src/engine/registry');
  const schema = 'schemas/config.schema.json';
  const text = JSON.stringify(configSchema(ruleMetas, ruleOptions), undefined, 2);
  const options = { ...(await resolveConfig(join(root, schema))), filepath: join(root, schema) };
  files.set(schema, await format(text, options));

  const readme = join(root, 'README.md');
  if (existsSync(readme)) {
    const before = readFileSync(readme, 'utf8');
    const marks = /(<!-- rules:start -->\n)[^]*?(<!-- rules:end -->)/;
    if (!marks.test(before))
      throw new Error('README.md has no <!-- rules:start --> and <!-- rules:end --> markers');
    const table = readmeTable(ruleMetas, ruleDocPath);
    files.set(
      'README.md',
      before.replace(marks, (_, start: string, end: string) => `${start}\n${table}\n\n${end}`),
    );
  }
  return files;
}

export function stale(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files].flatMap(([path, text]) => {
    const full = join(root, path);
    return existsSync(full) && readFileSync(full, 'utf8') === text ? [] : [path];
  });
}

async function main(check: boolean): Promise<number> {
  const old: string[] = [];
  // The index first: the others are made from the rules that it names.
  for (const make of [generated, generatedFromMeta]) {
    const files = await make();
    const different = stale(files);
    old.push(...different);
    if (check && different.length > 0) break;
    for (const path of different) writeFileSync(join(root, path), files.get(path) ?? '');
  }
  if (!check) {
    process.stdout.write(old.length === 0 ? 'Everything is current\n' : `Written: ${old.join(', ')}\n`);
    return 0;
  }
  if (old.length === 0) return 0;
  process.stderr.write(`Not current: ${old.join(', ')}\nRun: npm run gen\n`);
  return 1;
}

if (require.main === module) {
  main(process.argv.includes('--check')).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exitCode = 1;
    },
  );
}
