import type { Workspace } from '../workspace/workspace';
import type { SourceFile } from '../yaml/document';
import { applyEdits as applyToText } from '../yaml/edit';
import { parseFile } from '../yaml/parse';
import type { Config } from './config';
import type { FileEdit, Finding, FindingFix, InternalError } from './finding';
import type { LintOptions } from './run';
import { lint } from './run';

/** Which fixes a batch run may take. Only the first fix of a finding is ever taken: the others are alternatives. */
export type FixScope = 'safe' | 'all';

/**
 * Applies edits that do not overlap; everything outside of them stays byte for byte.
 *
 * @throws when edits overlap or lie outside of the text, which is a bug of whoever made them.
 */
export function applyEdits(text: string, edits: readonly FileEdit[]): string {
  const result = applyToText(text, edits);
  if (result === undefined) throw new Error('edits overlap or lie outside of the text');
  return result;
}

/** The fix that a batch run takes of a finding. */
export function batchFix(finding: Finding, scope: FixScope): FindingFix | undefined {
  const [first] = finding.fixes;
  return first !== undefined && (first.safe || scope === 'all') ? first : undefined;
}

/**
 * The findings whose fixes can be made at once: in order of the text, each whose edits touch none taken before.
 * Two insertions in one place touch, since their order would be a guess.
 */
export function compatibleFixes(
  findings: readonly Finding[],
  scope: FixScope,
): readonly { readonly finding: Finding; readonly fix: FindingFix }[] {
  const taken: { finding: Finding; fix: FindingFix }[] = [];
  const edits: FileEdit[] = [];
  for (const finding of findings) {
    const fix = batchFix(finding, scope);
    if (fix === undefined || fix.edits.some((edit) => edits.some((other) => touch(edit, other)))) continue;
    taken.push({ finding, fix });
    edits.push(...fix.edits);
  }
  return taken;
}

function touch(a: FileEdit, b: FileEdit): boolean {
  return a.start <= b.end && b.start <= a.end;
}

export interface FixResult {
  readonly text: string;
  /** The workspace with the fixed file. */
  readonly workspace: Workspace;
  /** In the order in which they were made; positions are those of the text at that time. */
  readonly fixed: readonly { readonly finding: Finding; readonly title: string }[];
  /** What is left in the fixed text. */
  readonly remaining: readonly Finding[];
  readonly internalErrors: readonly InternalError[];
}

/** One fix can make room for the next; more rounds than this would be a pair of fixes that undo each other. */
const mostRounds = 10;

interface Taken {
  readonly finding: Finding;
  readonly fix: FindingFix;
}

interface Round {
  /** The fixes made: together they leave well-formed YAML. */
  readonly made: readonly Taken[];
  /** Fixes that break the YAML when they are made alone, which are bugs of their rules. */
  readonly broken: readonly Taken[];
  readonly next: SourceFile;
}

/**
 * Makes the fixes that can be made together. Fixes that touch nowhere can still exclude each other, as two that write
 * the same key into one map; then each is tried in turn, and what does not go with those before it waits.
 */
function makeRound(file: SourceFile, taken: readonly Taken[]): Round {
  const problems = problemCount(file);
  const attempt = (chosen: readonly Taken[]): SourceFile | undefined => {
    const text = applyEdits(
      file.text,
      chosen.flatMap(({ fix }) => fix.edits),
    );
    const next = parseFile(file.uri, text, file);
    return problemCount(next) > problems ? undefined : next;
  };
  const all = attempt(taken);
  if (all !== undefined) return { made: taken, broken: [], next: all };
  let made: readonly Taken[] = [];
  let next = file;
  const broken: Taken[] = [];
  for (const each of taken) {
    const more = attempt([...made, each]);
    if (more !== undefined) {
      made = [...made, each];
      next = more;
    } else if (attempt([each]) === undefined) {
      broken.push(each);
    }
  }
  return { made, broken, next };
}

/**
 * Applies fixes to one file until none is left to apply, reading the file again after each round.
 *
 * A fix after which the text is no longer well-formed YAML is not made and reported as an internal error: the text
 * returned is always one that could be read.
 */
export function fixFile(
  workspace: Workspace,
  uri: string,
  configFor: (uri: string) => Config,
  scope: FixScope,
  options: Omit<LintOptions, 'uris'> = {},
): FixResult {
  const fixed: { finding: Finding; title: string }[] = [];
  const internalErrors: InternalError[] = [];
  let current = workspace;
  let file = current.files.get(uri);
  if (file === undefined) return { text: '', workspace, fixed, remaining: [], internalErrors };
  const seen = new Set([file.text]);
  /** Rules with fixes that broke the YAML: they get no second chance. */
  const distrusted = new Set<string>();
  for (let round = 0; ; round++) {
    const result = lint(current, configFor, { ...options, uris: [uri] });
    const findings = result.files[0]?.findings ?? [];
    const trusted = findings.filter(({ rule }) => !distrusted.has(rule));
    const taken = round < mostRounds ? compatibleFixes(trusted, scope) : [];
    const done = (): FixResult => ({
      text: file?.text ?? '',
      workspace: current,
      fixed,
      remaining: findings,
      internalErrors: [...internalErrors, ...result.internalErrors],
    });
    if (taken.length === 0) return done();
    const { made, broken, next } = makeRound(file, taken);
    for (const { finding, fix } of broken) {
      if (distrusted.has(finding.rule)) continue;
      distrusted.add(finding.rule);
      internalErrors.push({
        rule: finding.rule,
        uri,
        message: `The fix "${fix.title}" broke the YAML and was not made`,
        stack: undefined,
      });
    }
    if (made.length === 0) {
      if (broken.length > 0) continue;
      return done();
    }
    // A text that was there before means that fixes undo each other; stop where the first of them is done.
    if (seen.has(next.text)) return done();
    seen.add(next.text);
    fixed.push(...made.map(({ finding, fix }) => ({ finding, title: fix.title })));
    file = next;
    current = current.with(next);
  }
}

function problemCount(file: SourceFile): number {
  return file.documents.reduce((sum, { document }) => sum + document.problems.length, 0);
}
