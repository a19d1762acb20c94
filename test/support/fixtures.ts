import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Severity } from '../../server/src/rules/rule';

/** One finding that a fixture wants, from a comment `# want "part of the message" fix="Title" at="text"`. */
export interface Want {
  readonly rule: string;
  readonly path: string;
  /** From 0. */
  readonly line: number;
  readonly message: string;
  readonly at: string | undefined;
  readonly severity: Severity | undefined;
  /** The titles of its fixes, in order; none wanted means none found. */
  readonly fixes: readonly string[];
}

export interface Fixture {
  readonly rule: string;
  /** `bad.yaml`, `bad-multi-node/`: relative to the folder of the rule. */
  readonly name: string;
  /** Text by path, relative to the fixture. The first one is the main file. */
  readonly files: Readonly<Record<string, string>>;
  readonly wants: readonly Want[];
  /** Rules whose findings are compared; `undefined` for all. */
  readonly rules: readonly string[] | undefined;
  readonly preset: 'recommended' | 'strict' | 'minimal' | undefined;
  /** Text of `live.json`: what a cluster said, see `live.ts`. */
  readonly live?: string;
  /** Text of the `.plimsoll.yaml` that applies. */
  readonly config: string | undefined;
  /** Text by path after the first fix of every wanted finding, where the fixture says it. */
  readonly fixed: Readonly<Record<string, string>>;
}

/** All fixtures of the folder of one rule. */
export function fixturesOf(folder: string, rule: string): readonly Fixture[] {
  return readdirSync(folder)
    .sort()
    .filter((name) => /^(bad|good)/.test(name) && !/\.fixed(\.ya?ml)?$/.test(name))
    .map((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory()
        ? folderFixture(folder, rule, name)
        : fileFixture(folder, rule, name);
    });
}

function fileFixture(folder: string, rule: string, name: string): Fixture {
  const text = readFileSync(join(folder, name), 'utf8');
  const header = readHeader(text, name);
  const files: Record<string, string> = { [name]: text };
  for (const other of header.files) {
    if (!existsSync(join(folder, other)))
      throw new Error(`${rule}/${name}: no file ${other} (in its "# files:")`);
    files[other] = readFileSync(join(folder, other), 'utf8');
  }
  const fixedName = name.replace(/(\.ya?ml)$/, '.fixed$1');
  const fixed = existsSync(join(folder, fixedName))
    ? { [name]: readFileSync(join(folder, fixedName), 'utf8') }
    : {};
  return makeFixture(rule, name, files, fixed);
}

function folderFixture(folder: string, rule: string, name: string): Fixture {
  const files: Record<string, string> = {};
  const fixed: Record<string, string> = {};
  const base = join(folder, name);
  let live: string | undefined;
  for (const entry of readdirSync(base, { recursive: true, encoding: 'utf8' }).sort()) {
    const full = join(base, entry);
    if (!statSync(full).isFile()) continue;
    const path = relative(base, full).split(sep).join('/');
    const text = readFileSync(full, 'utf8');
    if (path === 'live.json') live = text;
    else if (/\.fixed\.ya?ml$/.test(path)) fixed[path.replace('.fixed.', '.')] = text;
    else files[path] = text;
  }
  if (Object.keys(files).length === 0) throw new Error(`${rule}/${name}/ holds no file`);
  return { ...makeFixture(rule, `${name}/`, files, fixed), ...(live === undefined ? {} : { live }) };
}

function makeFixture(
  rule: string,
  name: string,
  files: Readonly<Record<string, string>>,
  fixed: Readonly<Record<string, string>>,
): Fixture {
  const headers = Object.entries(files).map(([path, text]) => readHeader(text, `${rule}/${name}: ${path}`));
  const rules = headers.find((header) => header.rules !== undefined)?.rules;
  return {
    rule,
    name,
    files,
    wants: Object.entries(files).flatMap(([path, text]) => readWants(rule, path, text)),
    rules: rules === undefined ? undefined : [...new Set([rule, ...rules])],
    preset: headers.find((header) => header.preset !== undefined)?.preset,
    config: headers.find((header) => header.config !== undefined)?.config,
    fixed,
  };
}

interface Header {
  readonly rules: readonly string[] | undefined;
  readonly preset: Fixture['preset'];
  readonly config: string | undefined;
  readonly files: readonly string[];
}

const headerKeys = ['rules', 'preset', 'config', 'files'];

/** The comments above the first line that is none. */
function readHeader(text: string, where: string): Header {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    if (!line.startsWith('#')) break;
    const match = /^# ?([a-z]+): *(.*)$/.exec(line);
    if (match?.[1] !== undefined && headerKeys.includes(match[1])) values.set(match[1], match[2] ?? '');
  }
  const list = (key: string): readonly string[] | undefined =>
    values
      .get(key)
      ?.split(/[\s,]+/)
      .filter(Boolean);
  const preset = values.get('preset');
  if (preset !== undefined && preset !== 'recommended' && preset !== 'strict' && preset !== 'minimal') {
    throw new Error(`${where}: unknown preset "${preset}"`);
  }
  return { rules: list('rules'), preset, config: values.get('config'), files: list('files') ?? [] };
}

const quoted = '"((?:[^"\\\\]|\\\\.)*)"';
const wantForm = new RegExp(`want(?:\\+(\\d+))?\\s+${quoted}((?:\\s+[a-z]+=(?:${quoted}|[\\w-]+))*)`, 'g');
const wantComment = /#\s*want(\+\d+)?\s+"/;

/** A comment line that holds only wants speaks of the next line that is not such a comment. */
function readWants(rule: string, path: string, text: string): Want[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index) => {
    const start = line.search(wantComment);
    if (start === -1) return [];
    let target = index;
    if (line.slice(0, start).trim() === '') {
      do target++;
      while (isWantLine(lines[target]));
    }
    const comment = line.slice(start);
    const matches = [...comment.matchAll(wantForm)];
    const rest = comment.replace(wantForm, '').replace(/[#\s,;]/g, '');
    if (matches.length === 0 || rest !== '')
      throw new Error(`${rule}/${path}:${index + 1}: cannot read "${comment}"`);
    return matches.map((match): Want => {
      const attributes = readAttributes(match[3] ?? '', `${rule}/${path}:${index + 1}`);
      return {
        rule: attributes.rule ?? rule,
        path,
        line: target + Number(match[1] ?? 0),
        message: unquote(match[2] ?? ''),
        at: attributes.at,
        severity: attributes.severity as Severity | undefined,
        fixes: attributes.fixes,
      };
    });
  });
}

function isWantLine(line: string | undefined): boolean {
  return line !== undefined && /^\s*#/.test(line) && wantComment.test(line);
}

interface Attributes {
  readonly rule: string | undefined;
  readonly at: string | undefined;
  readonly severity: string | undefined;
  readonly fixes: readonly string[];
}

function readAttributes(text: string, where: string): Attributes {
  const found: [string, string][] = [];
  for (const match of text.matchAll(new RegExp(`([a-z]+)=(?:${quoted}|([\\w-]+))`, 'g'))) {
    found.push([match[1] ?? '', match[2] === undefined ? (match[3] ?? '') : unquote(match[2])]);
  }
  for (const [key] of found) {
    if (!['rule', 'at', 'severity', 'fix'].includes(key))
      throw new Error(`${where}: unknown "${key}=" of a want`);
  }
  const last = (key: string): string | undefined => found.findLast(([name]) => name === key)?.[1];
  return {
    rule: last('rule'),
    at: last('at'),
    severity: last('severity'),
    fixes: found.filter(([name]) => name === 'fix').map(([, value]) => value),
  };
}

function unquote(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

/** The text without its want comments, as `*.fixed.yaml` has it. */
export function withoutWants(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isWantLine(line))
    .map((line) => {
      const start = line.search(/\s*#\s*want(\+\d+)?\s+"/);
      return start === -1 ? line : line.slice(0, start) + (line.endsWith('\r') ? '\r' : '');
    })
    .join('\n');
}

/** A fenced YAML block of a rule's document. */
export interface Example {
  readonly kind: 'wrong' | 'right' | 'config' | 'other';
  /** The path that the block is linted as. */
  readonly path: string;
  readonly text: string;
  /** Of the block's first line in the document, from 1. */
  readonly line: number;
  /** The last ```json live block before it: what a cluster said. */
  readonly live: string | undefined;
}

/** All ```yaml blocks of a document: "wrong", "right", "config" (a `.plimsoll.yaml`), or no word for any YAML. */
export function examplesOf(markdown: string): readonly Example[] {
  const lives = [...markdown.matchAll(/^```json live\n([^]*?)^```/gm)];
  return [...markdown.matchAll(/^```ya?ml\b([^\n]*)\n([^]*?)^```/gm)].map((match) => {
    const info = match[1]?.trim() ?? '';
    const [word = ''] = info.split(/\s+/);
    const path = /\bfile=(\S+)/.exec(info)?.[1] ?? 'example.yaml';
    const kind = word === 'wrong' || word === 'right' || word === 'config' ? word : 'other';
    const line = markdown.slice(0, match.index).split('\n').length + 1;
    const live = lives.findLast(({ index }) => index < match.index)?.[1];
    return { kind, path, text: match[2] ?? '', line, live };
  });
}
