import type { RuleMeta, Severity } from '../rules/rule';

/**
 * - `recommended`: what is wrong, wasteful or dangerous, with advice where it is usually right.
 * - `strict`: adds the whole production-readiness checklist.
 * - `minimal`: errors only.
 */
export type PresetName = 'recommended' | 'strict' | 'minimal';

export const presetNames: readonly PresetName[] = ['recommended', 'strict', 'minimal'];

/** What a configuration may say about a rule. */
export type RuleLevel = Severity | 'off';

export const ruleLevels: readonly RuleLevel[] = ['off', 'hint', 'info', 'warning', 'error'];

/** How loudly a rule speaks in one place. */
export type Loudness =
  | { readonly kind: 'off' }
  /** The preset's severity, unless a report names its own; in `minimal`, what is not an error is not said. */
  | { readonly kind: 'preset'; readonly severity: Severity; readonly errorsOnly: boolean }
  /** Somebody has set it: whatever a report says, this is the severity. */
  | { readonly kind: 'set'; readonly severity: Severity };

const off: Loudness = { kind: 'off' };

/**
 * `minimal` runs what `recommended` runs and keeps the errors, since a rule that usually warns can report an error.
 */
export function presetLoudness(preset: PresetName, meta: RuleMeta): Loudness {
  const severity = preset === 'strict' ? (meta.strict ?? meta.severity) : meta.severity;
  return severity === 'off' ? off : { kind: 'preset', severity, errorsOnly: preset === 'minimal' };
}

export function setLoudness(level: RuleLevel): Loudness {
  return level === 'off' ? off : { kind: 'set', severity: level };
}

/** The severity of a report, or `off` when it is not to be said. */
export function severityOf(loudness: Loudness, reported: Severity | undefined): RuleLevel {
  switch (loudness.kind) {
    case 'off':
      return 'off';
    case 'set':
      return loudness.severity;
    case 'preset': {
      const severity = reported ?? loudness.severity;
      return loudness.errorsOnly && severity !== 'error' ? 'off' : severity;
    }
  }
}

/** Worse is smaller. */
export const severityRank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2, hint: 3 };
