import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import type { Configuration } from '../engine/config';
import { configurationOf, singleConfiguration } from '../engine/config';
import { isMeantForUs } from '../engine/run';
import { Workspace } from '../workspace/workspace';
import type { SourceFile } from '../yaml/document';
import { parseFile } from '../yaml/parse';
import { UsageError } from './arguments';
import { readBases } from './bases';
import { collect, configsAbove } from './collect';
import { readText } from './disk';
import type { Host } from './host';
import { lineIndex } from './line-index';
import { printable } from './formats/text';
import { displayPath } from './paths';

/** The files that were asked for with what belongs to them, read at once. */
export interface ReadWorkspace {
  readonly workspace: Workspace;
  /** URIs of the files that were asked for, sorted; others are there to be referred to. */
  readonly asked: readonly string[];
  readonly configFor: Configuration['configFor'];
  /** Something that was asked for could not be read; it was told on standard error. */
  readonly failed: boolean;
}

const uriOf = (path: string): string => pathToFileURL(path).href;

/**
 * Reads manifests and configuration. Throws {@link UsageError} where `--config` names no readable file.
 *
 * @param isMeant of which documents it has to be told that they are not well-formed.
 */
export function readWorkspace(
  command: {
    readonly paths: readonly string[];
    readonly gitignore: boolean;
    readonly config: string | undefined;
  },
  host: Host,
  isMeant = isMeantForUs,
): ReadWorkspace {
  const { cwd } = host;
  const paths = command.paths.length === 0 ? ['.'] : command.paths;
  const collected = collect(paths, [], { cwd, gitignore: command.gitignore });
  let failed = false;
  const complain = (path: string, message: string): void => {
    failed = true;
    tell(host, path, message);
  };
  for (const { path, message } of collected.problems) complain(path, message);
  const asked: string[] = [];
  const files = [...collected.files, ...collected.context].flatMap((path, index) => {
    const read = readText(path);
    const isAsked = index < collected.files.length;
    if ('problem' in read) {
      if (isAsked && read.failed) complain(path, read.problem);
      else if (isAsked) tell(host, path, read.problem);
      return [];
    }
    const file = parseFile(uriOf(path), read.text);
    if (isAsked) {
      asked.push(uriOf(path));
      if (tellBroken(file, path, host, isMeant)) failed = true;
    }
    return [file];
  });
  const configs = new Map<string, string>();
  if (command.config === undefined) {
    for (const path of new Set([...collected.configs, ...configsAbove(collected.roots)])) {
      const read = readText(path);
      if ('text' in read) configs.set(uriOf(path), read.text);
      else complain(path, read.problem);
    }
  }
  return {
    workspace: Workspace.empty.withAll(files),
    asked: asked.sort(),
    configFor: configuration(command.config, configs, host).configFor,
    failed,
  };
}

function tell({ stderr, cwd }: Host, path: string, message: string): void {
  stderr.write(`plimsoll: ${printable(displayPath(path, cwd))}: ${printable(message)}\n`);
}

/** Tells of manifests that are not well-formed, which nothing can be said of, and whether there are any. */
export function tellBroken(file: SourceFile, path: string, host: Host, isMeant = isMeantForUs): boolean {
  let found = false;
  for (const { document, offset } of file.documents) {
    // First, since it needs no parsing of what is no manifest.
    if (!isMeant(document)) continue;
    const problem = document.problems.find(({ code }) => code !== 'duplicate-key');
    if (problem === undefined) continue;
    found = true;
    const at = { start: problem.start + offset, end: problem.end + offset };
    const { startLine } = lineIndex(file.text).regionOf(at);
    tell(
      host,
      `${path}:${startLine}`,
      `the document is not well-formed YAML and left out: ${problem.message}`,
    );
  }
  return found;
}

function configuration(
  named: string | undefined,
  configs: ReadonlyMap<string, string>,
  host: Host,
): Configuration {
  if (named === undefined) return configurationOf(configs, {}, readBases(configs));
  const path = resolve(host.cwd, named);
  const read = readText(path);
  if ('problem' in read) throw new UsageError(`--config ${named}: ${read.problem}`);
  const uri = uriOf(path);
  return singleConfiguration(uri, read.text, uriOf(`${host.cwd}/`), {}, readBases([[uri, read.text]]));
}
