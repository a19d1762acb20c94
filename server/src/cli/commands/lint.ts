import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import type { Layers } from '../../engine/config';
import type { Finding, InternalError } from '../../engine/finding';
import { fixFile } from '../../engine/fixes';
import { ruleDocUrl, ruleMetas } from '../../engine/registry';
import type { FileResult } from '../../engine/run';
import { decodeText } from '../../files/text';
import { layoutOf } from '../../workspace/cells';
import { Workspace } from '../../workspace/workspace';
import { parseFile } from '../../yaml/parse';
import type { LintCommand } from '../arguments';
import { UsageError } from '../arguments';
import { applyBaseline, writeBaseline, type BaselineSummary } from '../baseline';
import { readBases } from '../bases';
import { collect, configsAbove } from '../collect';
import { readText, writeText } from '../disk';
import { format } from '../formats/format';
import type { Host } from '../host';
import { schemaPlaces, schemasIn } from '../schemas';
import { lintAll, readConfiguration, type ConfigurationTexts, type Helper } from '../lint-cells';
import { displayPath } from '../paths';
import { renderResults } from '../render';
import type { FileReport, Notice, Report } from '../report';
import { locator } from '../locate';

/** What is to be checked, before anything was read. */
interface Input {
  /** Text by URI: the files to report on, and others that they may refer to. */
  readonly texts: Map<string, string>;
  /** The files to report on, sorted. */
  readonly reported: readonly string[];
  readonly configs: Map<string, string>;
  readonly notices: Notice[];
  /** Something asked for could not be read. */
  readonly failed: boolean;
  /** Threads that were started while the files were read, for as many files as that is worth. */
  readonly helpers: readonly Helper[];
}

const uriOf = (path: string): string => pathToFileURL(path).href;

/**
 * @param needed without one of these files a run says something else than was asked for, be it readable as text or not.
 * @returns whether something failed.
 */
function readAll(
  paths: Iterable<string>,
  host: Host,
  into: Map<string, string>,
  notices: Notice[],
  needed = false,
): boolean {
  let failed = false;
  for (const path of paths) {
    const read = readText(path);
    if ('text' in read) {
      into.set(uriOf(path), read.text);
    } else {
      const fails = needed || read.failed;
      failed ||= fails;
      notices.push({
        path: displayPath(path, host.cwd),
        rule: undefined,
        message: read.problem,
        ...(fails ? { failed: true } : {}),
      });
    }
  }
  return failed;
}

async function gather(command: LintCommand, host: Host): Promise<Input> {
  const notices: Notice[] = [];
  const texts = new Map<string, string>();
  const configs = new Map<string, string>();
  const named = command.stdinFilename === undefined ? undefined : resolve(host.cwd, command.stdinFilename);
  const collected = collect(
    named === undefined ? (command.paths.length === 0 ? ['.'] : command.paths) : [],
    named === undefined ? [] : [named],
    { cwd: host.cwd, gitignore: command.gitignore },
  );
  const helpers = helpersFor(collected.files.length, host);
  for (const { path, message } of collected.problems) {
    notices.push({ path: displayPath(path, host.cwd), rule: undefined, message, failed: true });
  }
  let failed = collected.problems.length > 0;
  failed = readAll(collected.files, host, texts, notices) || failed;
  // A file beside the ones asked for is only there to be referred to: that it cannot be read is no failure.
  readAll(collected.context, host, texts, []);
  const reported = collected.files.map(uriOf).filter((uri) => texts.has(uri));
  if (named !== undefined) {
    const decoded = decodeText(await host.readStdin());
    if ('problem' in decoded) throw new UsageError(`standard input ${decoded.problem}`);
    const uri = uriOf(named);
    texts.set(uri, decoded.text);
    reported.push(uri);
  }
  if (command.config === undefined) {
    const paths = new Set([...collected.configs, ...configsAbove(collected.roots)]);
    failed = readAll(paths, host, configs, notices, true) || failed;
  }
  return { texts, reported: reported.sort(), configs, notices, failed, helpers };
}

function configurationTexts(
  command: LintCommand,
  host: Host,
  configs: ReadonlyMap<string, string>,
): ConfigurationTexts {
  const layers: Layers = command.preset === undefined ? {} : { forced: { preset: command.preset } };
  if (command.config === undefined) {
    return { kind: 'found', texts: configs, layers, bases: readBases(configs) };
  }
  const path = resolve(host.cwd, command.config);
  const read = readText(path);
  if ('problem' in read) throw new UsageError(`--config ${command.config}: ${read.problem}`);
  const uri = uriOf(path);
  const bases = readBases([[uri, read.text]]);
  return { kind: 'named', uri, text: read.text, base: uriOf(`${host.cwd}/`), layers, bases };
}

/** `plimsoll lint`: exit code 0 clean, 1 errors or too many warnings, 2 when something could not be checked. */
export async function lintCommand(command: LintCommand, host: Host): Promise<number> {
  const input = await gather(command, host);
  const configuration = configurationTexts(command, host, input.configs);
  const { configFor, problems } = readConfiguration(configuration);

  const places = schemaPlaces(host);
  const internal: InternalError[] = [];
  let fixed = 0;
  let fixedText: string | undefined;
  let failed = input.failed;
  if (command.fix) {
    let workspace = Workspace.empty.withAll([...input.texts].map(([uri, text]) => parseFile(uri, text)));
    const schemas = schemasIn(places);
    for (const uri of input.reported) {
      const result = fixFile(workspace, uri, configFor, command.unsafe ? 'all' : 'safe', { schemas });
      internal.push(...result.internalErrors);
      if (result.text === input.texts.get(uri)) continue;
      if (command.stdinFilename === undefined) {
        const problem = writeText(uri, result.text);
        if (problem !== undefined) {
          failed = true;
          input.notices.push({
            path: displayPath(uri, host.cwd),
            rule: undefined,
            message: problem,
            failed: true,
          });
          continue;
        }
      }
      fixed += result.fixed.length;
      workspace = result.workspace;
      input.texts.set(uri, result.text);
    }
    if (command.stdinFilename !== undefined) fixedText = input.texts.get(input.reported[0] ?? '') ?? '';
  }
  const texts = [...input.texts].map(([uri, text]) => ({ uri, text }));
  const outcome = await lintAll(
    {
      texts,
      layout: layoutOf(texts),
      configuration,
      reported: input.reported,
      schemas: places,
    },
    input.helpers,
  );
  internal.push(...outcome.internalErrors);

  const rendered = command.render
    ? await renderResults(outcome.files, input.texts, configFor, host)
    : { files: outcome.files, notices: [] };
  input.notices.push(...rendered.notices);

  const { baseline } = command;
  const textOf = (uri: string): string => input.texts.get(uri) ?? readConfig(uri);
  if (baseline?.write === true) {
    if (!failed && internal.length === 0) return writeBaseline(baseline.file, rendered.files, textOf, host);
    host.stderr.write('plimsoll: nothing was recorded, for not all could be checked\n');
  }
  const baselined =
    baseline?.write === false ? applyBaseline(baseline.file, rendered.files, textOf, host) : undefined;
  const report = makeReport({
    command,
    host,
    results: baselined?.files ?? rendered.files,
    problems,
    input,
    internal,
    fixed,
    baseline: baselined?.summary,
  });
  const text = format(report, command.format, command.color ?? wantsColor(host));
  if (fixedText !== undefined) {
    // The fixed document is what a pipe wants; the findings that are left go beside it.
    host.stdout.write(fixedText);
    host.stderr.write(text);
  } else {
    host.stdout.write(text);
  }
  // Quiet on success, but not where there was nothing that could fail: manifests in JSON are read when they are named.
  if (report.checkedFiles === 0 && report.skipped.length === 0)
    host.stderr.write('plimsoll: there is no .yaml or .yml file here, so nothing was checked\n');
  if (failed || report.internalErrors.length > 0) return 2;
  return report.counts.error > 0 || report.counts.warning > command.maxWarnings ? 1 : 0;
}

/** With fewer files a second thread would be ready when all is done. */
const FILES_WORTH_A_THREAD = 600;

function helpersFor(files: number, host: Host): readonly Helper[] {
  if (files < FILES_WORTH_A_THREAD) return [];
  return Array.from({ length: Math.min(host.spareThreads, Math.floor(files / FILES_WORTH_A_THREAD)) }, () =>
    host.startHelper(),
  );
}

/** https://no-color.org and https://force-color.org */
function wantsColor(host: Host): boolean {
  if ((host.env['NO_COLOR'] ?? '') !== '') return false;
  if ((host.env['FORCE_COLOR'] ?? '') !== '' && host.env['FORCE_COLOR'] !== '0') return true;
  return host.stdout.isTerminal && host.env['TERM'] !== 'dumb';
}

interface Parts {
  readonly command: LintCommand;
  readonly host: Host;
  readonly results: readonly FileResult[];
  /** What is wrong with configuration files, by URI. */
  readonly problems: ReadonlyMap<string, readonly Finding[]>;
  readonly input: Input;
  readonly internal: readonly InternalError[];
  readonly fixed: number;
  readonly baseline: BaselineSummary | undefined;
}

function makeReport(parts: Parts): Report {
  const { command, host, results, problems, input, internal, fixed, baseline } = parts;
  const locate = locator(
    host.cwd,
    (uri) => input.texts.get(uri) ?? input.configs.get(uri) ?? readConfig(uri),
  );
  const files: FileReport[] = [];
  const skipped: Notice[] = [...input.notices];
  const counts = { error: 0, warning: 0, info: 0, hint: 0 };
  const explicit = new Set(command.paths.map((path) => uriOf(resolve(host.cwd, path))));
  const add = (
    uri: string,
    findings: readonly Finding[],
    suppressed: FileResult['suppressed'] = [],
  ): void => {
    if (findings.length === 0 && suppressed.length === 0) return;
    for (const { severity } of findings) counts[severity]++;
    files.push({
      path: displayPath(uri, host.cwd),
      text: locate.textOf(uri),
      findings: findings.map(locate.finding),
      suppressed: suppressed.map((each) => ({ ...each, finding: locate.finding(each.finding) })),
    });
  };
  const unmet = new Map<string, string>();
  for (const [uri, findings] of problems) add(uri, findings);
  for (const result of results) {
    add(result.uri, result.findings, result.suppressed);
    for (const { rule, document, why } of result.skipped) {
      // A rule that lacks a cluster lacks it for every file.
      if (rule !== undefined && document === undefined) {
        unmet.set(rule, why);
        continue;
      }
      // What the configuration excludes is excluded on purpose; it is told only of a file that was asked for by name.
      if (rule === undefined && document === undefined && !explicit.has(result.uri)) continue;
      const where = document === undefined ? '' : ` (document ${document + 1})`;
      skipped.push({ path: displayPath(result.uri, host.cwd), rule, message: `${why}${where}` });
    }
  }
  for (const [rule, why] of [...unmet].sort()) skipped.push({ path: undefined, rule, message: why });
  return {
    version: host.version,
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
    checkedFiles: results.length,
    counts,
    fixed,
    baseline,
    skipped,
    // Each run over the files to fix them tells of the same crash again.
    internalErrors: [
      ...new Map(internal.map((error) => [`${error.rule} ${error.message}`, error])).values(),
    ].map(({ rule, uri, message }) => ({ path: displayPath(uri, host.cwd), rule, message })),
    rules: ruleMetas.map(({ id, summary, severity, strict }) => ({
      id,
      summary,
      severity: severity === 'off' ? (strict ?? 'info') : severity,
      docUrl: ruleDocUrl(id),
    })),
  };
}

/** The text of a configuration named with `--config`. */
function readConfig(uri: string): string {
  const read = readText(uri);
  return 'text' in read ? read.text : '';
}
