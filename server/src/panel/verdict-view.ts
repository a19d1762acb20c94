import { durationText, provenanceText, whenText } from '../live/format';
import type { Evidence } from '../live/verdict/condition';
import type { NextStep } from '../live/verdict/table';
import type { Holding, Verdict } from '../live/verdict/verdict';
import type { Instant } from '../live/reading';
import type { Action, EvidenceChip, VerdictView } from './model';
import type { Places } from './places';
import { sentence } from './shown';

export function verdictView(verdict: Verdict, places: Places, now: Instant): VerdictView {
  return {
    name: verdict.name,
    state: verdict.gravity,
    word: verdict.word,
    sentence: sentence(verdict.sentence),
    ...sinceText(verdict, now),
    evidence: verdict.evidence.map((evidence) => chipOf(evidence, verdict, now)),
    next: actionsOf(verdict, places),
    also: verdict.also.map(({ name, word, gravity, sentence: text }) => ({
      name,
      word,
      state: gravity,
      sentence: sentence(text),
    })),
    unjudged: verdict.unjudged.map(({ word, missing }) => ({ word, missing: sentence(missing) })),
  };
}

function sinceText({ since }: Holding, now: Instant): { readonly since?: string } {
  if (since === undefined) return {};
  const text = durationText(Math.max(0, now - since.at));
  return { since: since.atLeast ? `for at least ${text}` : `for ${text}` };
}

function chipOf(evidence: Evidence, { gravity }: Verdict, now: Instant): EvidenceChip {
  const { label, text, is, limitText, limitSource, observed, target, limit } = evidence;
  const compared = Number.isFinite(limit) && limit !== 0;
  return {
    text: `${sentence(label)} ${text}${compared ? ` (${is} ${limitText})` : ''}`,
    detail: [provenanceText(observed, now), compared ? `limit: ${limitSource}` : undefined]
      .filter((part) => part !== undefined)
      .join('; '),
    state: gravity,
    target,
  };
}

const targets: Readonly<Record<NextStep, string>> = {
  triage: 'triage',
  'open-memory-limit': 'triage',
  'open-maximum': 'scaling',
  'show-pending': 'scaling',
  'show-scaling': 'scaling',
  'show-kv-cache': 'chart-kv-cache',
  'open-engine-arguments': 'chart-kv-cache',
  'show-gpus': 'chart-gpu-utilization',
  'show-cost': 'cost',
  'show-latency': 'baseline',
  'show-nodes': 'pods',
  'show-sources': 'sources',
  'open-replicas': 'scaling',
};

/** Steps as controls: lines of the file where it has them, else what the panel shows about it. */
function actionsOf({ next, also }: Verdict, places: Places): readonly Action[] {
  const actions = [...next, ...also.flatMap((one) => one.next.slice(0, 1))].map(({ step, title }): Action => {
    const place =
      step === 'open-memory-limit'
        ? places.memoryLimit(undefined)
        : step === 'open-maximum'
          ? places.maximum
          : step === 'open-replicas'
            ? places.replicas
            : step === 'open-engine-arguments'
              ? places.arguments
              : undefined;
    if (place !== undefined) return { title, intent: { kind: 'open-place', place } };
    const shown = step.startsWith('open-') ? title.replace(/^Open /, 'Show what is about ') : title;
    return { title: shown, intent: { kind: 'show', target: targets[step] } };
  });
  const seen = new Set<string>();
  return actions.filter(({ title }) => !seen.has(title) && seen.add(title) !== undefined).slice(0, 4);
}

/** For a status bar and screen readers: `Queue-saturated: 40 requests wait ...`. */
export function verdictLine(view: VerdictView, now: Instant, at: Instant): string {
  return `${view.word}: ${view.sentence}${view.since === undefined ? '' : `, ${view.since}`} (${whenText(at, now)})`;
}
