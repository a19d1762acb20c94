import { agoText, counted, durationText, quantityText, sourceTitles } from '../live/format';
import type { Instant } from '../live/reading';
import type { MissingPermission, SourceProblem, SourceStatus } from '../live/snapshot';
import type { Action, SourceProblemView, SourceView, State } from './model';
import { sentence } from './shown';

const states: Readonly<Record<SourceStatus['state'], { readonly state: State; readonly word: string }>> = {
  ok: { state: 'good', word: 'answers' },
  partial: { state: 'warning', word: 'partly' },
  denied: { state: 'critical', word: 'denied' },
  failed: { state: 'critical', word: 'failed' },
  slow: { state: 'warning', word: 'slow' },
  'not-configured': { state: 'info', word: 'not set up' },
  reading: { state: 'info', word: 'reading' },
};

export function sourceViews(sources: readonly SourceStatus[], now: Instant): readonly SourceView[] {
  return sources.map((status): SourceView => {
    const { state, word } = states[status.state];
    const parts = [
      status.endpoint,
      status.took === undefined ? undefined : `answered in ${durationText(status.took)}`,
      status.at === undefined ? undefined : agoText(status.at, now),
    ].filter((part) => part !== undefined);
    const setUp: readonly Action[] =
      status.state === 'not-configured' && status.source !== 'demo'
        ? [
            {
              title: `Set up ${sourceTitles[status.source]}`,
              intent: { kind: 'configure-source', source: status.source },
            },
          ]
        : [];
    return {
      source: status.source,
      title: sentence(sourceTitles[status.source]),
      state,
      word,
      text: parts.join(', '),
      problems: status.problems.map(problemView),
      ...(status.cost === undefined
        ? {}
        : {
            cost: `${counted(status.cost.metrics, 'metric')} in ${counted(status.cost.calls, 'call')} a read, ${quantityText(status.cost.dollarsPerHour, 'dollars-per-hour')} while visible (${status.cost.basis})`,
          }),
      actions: setUp,
    };
  });
}

function problemView({ what, message, missing, remedy }: SourceProblem): SourceProblemView {
  return {
    text: `${sentence(what)}: ${message}`,
    whatToDo: remedy ?? (missing === undefined ? '' : grantSentence(missing)),
    ...(missing === undefined ? {} : { grant: grantText(missing) }),
  };
}

function grantSentence(missing: MissingPermission): string {
  if (missing.kind === 'iam') return `Allow ${missing.action} on ${missing.resource}`;
  const where = missing.namespace === undefined ? 'in a ClusterRole' : `in namespace ${missing.namespace}`;
  return `Grant ${missing.verbs.join(', ')} on ${missing.resources.join(', ')} ${where}`;
}

/** The rule or statement itself, to be put into a Role or a policy. */
export function grantText(missing: MissingPermission): string {
  if (missing.kind === 'iam') {
    return JSON.stringify(
      { Effect: 'Allow', Action: missing.action, Resource: missing.resource },
      undefined,
      2,
    );
  }
  const list = (items: readonly string[]): string =>
    `[${items.map((item) => JSON.stringify(item)).join(', ')}]`;
  return [
    `# ${missing.namespace === undefined ? 'ClusterRole' : `Role in namespace ${missing.namespace}`}`,
    `- apiGroups: ${list(missing.apiGroups)}`,
    `  resources: ${list(missing.resources)}`,
    ...(missing.resourceNames === undefined ? [] : [`  resourceNames: ${list(missing.resourceNames)}`]),
    `  verbs: ${list(missing.verbs)}`,
  ].join('\n');
}
