import { durationText, provenanceText } from '../live/format';
import type { Evidence } from '../live/verdict/condition';
import type { NextStep } from '../live/verdict/table';
import type { Holding, Verdict } from '../live/verdict/verdict';
import type { Instant } from '../live/reading';
import type { Action, EvidenceChip, Place, VerdictView } from './model';
import type { Places } from './places';
import { sentence } from './shown';

/** @param failing the container that was killed or crashes, if one does */
export function verdictView(
  verdict: Verdict,
  places: Places,
  now: Instant,
  failing: string | undefined,
): VerdictView {
  return {
    name: verdict.name,
    state: verdict.gravity,
    word: verdict.word,
    sentence: sentence(verdict.sentence),
    ...sinceText(verdict, now),
    evidence: verdict.evidence.map((evidence) => chipOf(evidence, verdict, now)),
    next: actionsOf(verdict, places, failing),
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

/** Steps as controls: lines of the file where it has them, and what the panel shows. */
function actionsOf({ next, also }: Verdict, places: Places, failing: string | undefined): readonly Action[] {
  const steps = [...next, ...also.flatMap((one) => one.next.slice(0, 1))];
  const actions = steps.flatMap(({ step, title }): readonly Action[] => {
    if (step.startsWith('show') || step === 'triage') {
      return [{ title, intent: { kind: 'show', target: targets[step] } }];
    }
    const place = placeOf(step, places, failing);
    return place === undefined ? [] : [{ title, intent: { kind: 'open-place', place } }];
  });
  const seen = new Set<string>();
  return actions.filter(({ title }) => !seen.has(title) && seen.add(title) !== undefined).slice(0, 4);
}

function placeOf(step: NextStep, places: Places, failing: string | undefined): Place | undefined {
  switch (step) {
    case 'open-memory-limit':
      return places.memoryLimit(failing);
    case 'open-maximum':
      return places.maximum;
    case 'open-replicas':
      return places.replicas;
    case 'open-engine-arguments':
      return places.arguments;
    default:
      return undefined;
  }
}
