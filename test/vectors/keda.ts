import { checkTrigger, isRefused } from '../../server/src/kube/keda/check-trigger';
import { noAuth, unseenAuth, type Trigger } from '../../server/src/kube/keda/trigger';
import type { VectorRunner } from './index';

/** A trigger and whether KEDA's own parser refuses it: whatever the authentication says, and with none. */
export interface KedaCase {
  readonly id: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly metricType?: string;
  readonly errorWithAnyAuth: boolean;
  readonly errorWithoutAuth: boolean;
}

export const run: VectorRunner = (data) => {
  const cases = casesOf(data);
  const differences = cases.flatMap((one) => differencesOf(one));
  const wrong = new Set(differences.map(({ id }) => id));
  const equal = cases.length - wrong.size;
  return {
    differences: differences.map(({ id, text }) => `${id}: ${text}`),
    summary: `${equal} of ${cases.length}`,
    ok: equal === cases.length && cases.length > 0,
  };
};

function casesOf(data: unknown): readonly KedaCase[] {
  const list =
    typeof data === 'object' && data !== null && 'cases' in data ? (data as { cases: unknown }).cases : data;
  if (!Array.isArray(list)) throw new Error('the vectors have no list of cases');
  return list as readonly KedaCase[];
}

export function triggerOf({
  type,
  metricType,
  metadata,
}: Pick<KedaCase, 'type' | 'metricType' | 'metadata'>): Trigger {
  return {
    type,
    metricType: metricType ?? '',
    metadata: new Map(Object.entries(metadata)),
    open: false,
    composed: 'no',
  };
}

function differencesOf(one: KedaCase): readonly { readonly id: string; readonly text: string }[] {
  const trigger = triggerOf(one);
  return (
    [
      ['whatever the authentication says', one.errorWithAnyAuth, unseenAuth],
      ['without authentication', one.errorWithoutAuth, noAuth],
    ] as const
  ).flatMap(([when, expected, auth]) => {
    const problems = checkTrigger(trigger, auth);
    if (isRefused(problems) === expected) return [];
    const said = problems.filter(({ verdict }) => verdict === 'refused').map(({ message }) => message);
    const text = expected
      ? `${one.type} ${when}: KEDA refuses it, and nothing was found`
      : `${one.type} ${when}: KEDA takes it, and this was found: ${said.join('; ')}`;
    return [{ id: one.id, text }];
  });
}
