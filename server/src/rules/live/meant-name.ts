import { lookupMetric } from '../../kube/metric-names/lookup';
import { engineTables } from '../../live/metrics/engine-tables';
import { normalName } from '../../live/metrics/families';
import { nearest } from '../nearest';

/**
 * The exported name that stands for one that is not exported: another version's name of the same thing, else the one
 * that is spelt nearly so.
 */
export function meantName(written: string, exported: readonly string[]): string | undefined {
  const suffix = /_(bucket|sum|count)$/.exec(written)?.[0] ?? '';
  const base = suffix === '' ? written : written.slice(0, -suffix.length);
  const byNormal = new Map(exported.map((name) => [normalName(name), name]));
  const find = (name: string): string | undefined =>
    byNormal.get(normalName(`${name}${suffix}`)) ?? byNormal.get(normalName(`${name}_total`));
  for (const extraction of Object.values(engineTables).flat()) {
    const names =
      extraction.kind === 'mean' ? [] : extraction.kind === 'share' ? extraction.part : extraction.names;
    if (!names.some((name) => normalName(name) === normalName(base))) continue;
    const other = names.map(find).find((name) => name !== undefined);
    if (other !== undefined) return other;
  }
  const old = lookupMetric(base, true);
  if (old?.state === 'old' && old.metric.use !== undefined) {
    const replacement = find(old.metric.use.name);
    if (replacement !== undefined) return replacement;
  }
  const most = Math.max(1, Math.min(3, Math.floor(written.length / 8)));
  return nearest(written, exported, most);
}
