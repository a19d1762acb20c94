import { enginePrefixes } from '../../live/metrics/engine-tables';
import { normalName } from '../../live/metrics/families';
import { partValue } from '../../live/readings';
import { meantName } from './meant-name';
import { mentionKinds, metricMentions, type MetricMention } from '../metrics/mentions';
import { defineRule, type Fix } from '../rule';

export default defineRule({
  id: 'metric-not-exported',
  summary: 'A metric of an engine is one that the running engine exports',
  severity: 'warning',
  needs: 'live',
  kinds: mentionKinds,
  fixable: 'suggest',
  check(resource, { report, live }) {
    const exported = partValue(live.exportedNames);
    if (exported === undefined || exported.length === 0) return;
    const known = new Set(exported.map(normalName));
    // Only engines that were seen are spoken of: another one may run elsewhere.
    const seen = enginePrefixes.filter(({ prefix }) => [...known].some((name) => prefix.test(name)));
    for (const mention of metricMentions(resource)) {
      if (mention.source === 'cloudwatch' || mention.source === 'relabeling') continue;
      const name = normalName(mention.name);
      const engine = seen.find(({ prefix }) => prefix.test(name));
      if (engine === undefined || engine.engine === 'nim' || isExported(name, known)) continue;
      const meant = meantName(
        mention.name,
        exported.filter((one) => engine.prefix.test(normalName(one))),
      );
      const then = mention.source === 'adapter' ? 'the autoscaler finds no value' : 'the query finds nothing';
      report({
        at: mention.at,
        message: `The engine that runs does not export "${mention.name}"${meant === undefined ? '' : `, it exports "${meant}"`}; ${then}`,
        fixes: [renameFix(mention, meant)],
        evidence: [
          `${exported.filter((one) => engine.prefix.test(normalName(one))).length} metrics of ${engine.engine} were read from the pods`,
        ],
      });
    }
  },
});

function isExported(name: string, known: ReadonlySet<string>): boolean {
  if (known.has(name)) return true;
  // Counters have their total, and of histograms the parts are exported.
  return ['_total', '_bucket', '_sum', '_count'].some(
    (suffix) =>
      known.has(`${name}${suffix}`) || (name.endsWith(suffix) && known.has(name.slice(0, -suffix.length))),
  );
}

function renameFix(mention: MetricMention, name: string | undefined): Fix | undefined {
  const flat = mention.source === 'adapter' ? name?.replaceAll(':', '_') : name;
  const edits = flat === undefined ? undefined : mention.rename(flat);
  return edits && { title: `Write ${flat ?? ''}`, safe: false, edits };
}
