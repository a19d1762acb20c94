import type { Comparison, FieldChange, Rejection } from '../../live/comparison';
import type { Severity } from '../../rules/rule';
import { printYaml } from '../../yaml/print';
import type { Region } from '../report';
import { printable } from './text';

/** What is told of one object, with places in its file. */
export interface Told {
  readonly path: string;
  /** Of its name. */
  readonly region: Region;
  readonly changes: readonly (FieldChange & { readonly region: Region })[];
  readonly findings: readonly {
    readonly rule: string;
    readonly severity: Severity;
    readonly message: string;
    readonly region: Region;
  }[];
  readonly rejections: readonly (Rejection & { readonly region: Region })[];
}

export interface ComparedObject extends Told {
  readonly comparison: Comparison;
}

/** An object that was not compared. */
export interface LeftOut {
  readonly path: string;
  readonly line: number;
  readonly why: string;
}

export interface DiffAnswer {
  /** Of the kubeconfig. */
  readonly context: string;
  readonly objects: readonly ComparedObject[];
  readonly leftOut: readonly LeftOut[];
}

const words: Readonly<Record<Comparison['state'], string>> = {
  same: 'as in the file',
  different: 'differs',
  new: 'not in the cluster, which would take it',
  rejected: 'rejected',
  unknown: 'not compared',
};

export function diffText({ context, objects, leftOut }: DiffAnswer): string {
  const parts = objects
    .filter(({ comparison }) => comparison.state !== 'same')
    .map((object) => objectText(object));
  const skipped = leftOut.map(({ path, line, why }) => `${path}:${line} left out: ${why}\n`);
  const counts = Object.entries({
    different: 'differ',
    new: 'new',
    rejected: 'rejected',
    unknown: 'not compared',
    same: 'as in the files',
  }).flatMap(([state, word]) => {
    const count = objects.filter(({ comparison }) => comparison.state === state).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const sum =
    objects.length === 0 ? 'No object to compare' : `${objects.length} compared: ${counts.join(', ')}`;
  return `${[...parts, ...(skipped.length === 0 ? [] : [skipped.join('')])].map((part) => `${part}\n`).join('')}${sum} (context ${printable(context)})\n`;
}

function objectText({ comparison, path, region, changes, findings, rejections }: ComparedObject): string {
  const { ref, state } = comparison;
  const name = ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
  const lines = [`${path}:${region.startLine} ${ref.kind} ${name}: ${words[state]}`];
  if (comparison.state === 'unknown') {
    const { message, remedy } = comparison.problem;
    lines.push(`  ${message}${remedy === undefined ? '' : `. ${remedy}`}`);
  }
  for (const { region: at, message, rule, severity } of findings) {
    lines.push(`  ${path}:${at.startLine}:${at.startColumn} ${severity} ${message} ${rule}`);
  }
  for (const { region: at, field, message } of rejections) {
    lines.push(
      `  ${path}:${at.startLine}:${at.startColumn} error ${field === '' ? '' : `${field}: `}${message}`,
    );
  }
  for (const { region: at, field, before, after } of changes) {
    lines.push(`  ${path}:${at.startLine}:${at.startColumn} ${field}`);
    if (before !== undefined) lines.push(...valueLines('-', before));
    if (after !== undefined) lines.push(...valueLines('+', after));
  }
  return `${lines.map(printable).join('\n')}\n`;
}

function valueLines(sign: string, value: unknown): readonly string[] {
  return printYaml(value)
    .trimEnd()
    .split('\n')
    .map((line) => `    ${sign} ${line}`);
}

/** The texts are of both sides, as YAML, for a viewer of differences. */
export function diffJson({ context, objects, leftOut }: DiffAnswer): string {
  const value = {
    context,
    objects: objects.map(({ comparison, path, region, changes, findings, rejections }) => ({
      ...comparison.ref,
      state: comparison.state,
      path,
      region,
      ...(comparison.state === 'unknown'
        ? { problem: comparison.problem.message, remedy: comparison.problem.remedy }
        : {}),
      changes: changes.map(({ path: _, ...change }) => change),
      findings,
      rejections,
      ...textsOf(comparison),
    })),
    leftOut,
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}

function textsOf(comparison: Comparison): { readonly before?: string; readonly after?: string } {
  switch (comparison.state) {
    case 'different':
      return { before: printYaml(comparison.object), after: printYaml(comparison.applied) };
    case 'new':
      return { before: '', after: printYaml(comparison.applied) };
    default:
      return {};
  }
}
