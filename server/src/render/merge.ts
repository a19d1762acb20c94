import type { Finding } from '../engine/finding';
import type { FileResult } from '../engine/run';
import { severityRank } from '../engine/presets';
import { isAbout, placeKey, type Judged } from './judge';

/**
 * The results for files as they stand, with what was found in rendered texts: an object that was rendered is judged as
 * rendered, and everything else as it stands.
 *
 * A fix is offered where the file as it stands has the very same finding: it is then one for the text that is there.
 */
export function mergeRendered(results: readonly FileResult[], judged: Judged): readonly FileResult[] {
  const rest = new Map<string, Judged['findings'][number][]>();
  for (const mapped of judged.findings) {
    const { uri } = mapped.finding;
    const others = rest.get(uri);
    if (others === undefined) rest.set(uri, [mapped]);
    else others.push(mapped);
  }
  const merged = results.map((result): FileResult => {
    const mapped = rest.get(result.uri) ?? [];
    rest.delete(result.uri);
    return mergeFile(result, mapped, judged);
  });
  // Files that were not asked for, but that what was asked for is rendered from.
  for (const [uri, mapped] of rest) {
    merged.push(mergeFile({ uri, findings: [], suppressed: [], skipped: [] }, mapped, judged));
  }
  return merged;
}

/** The result for one file, with what was found in it by rendering. */
export function mergeFile(
  result: FileResult,
  mapped: Judged['findings'],
  { replaced, used }: Judged,
): FileResult {
  const asItStands = new Map(result.findings.map((finding) => [sameness(finding), finding]));
  const stays = (finding: Finding): boolean => {
    if (isAbout(finding, replaced)) return false;
    return finding.rule !== 'unused-suppression' || !used.has(placeKey(finding.uri, finding.at));
  };
  const findings = [
    ...result.findings.filter(stays),
    ...mapped
      .filter(({ accepted }) => accepted === undefined)
      .map(({ finding }) => ({ ...finding, fixes: asItStands.get(sameness(finding))?.fixes ?? [] })),
  ];
  const suppressed = [
    ...result.suppressed.filter(({ finding }) => !isAbout(finding, replaced)),
    ...mapped.flatMap(({ finding, accepted }) => (accepted === undefined ? [] : [{ finding, ...accepted }])),
  ];
  return {
    ...result,
    findings: findings.sort(
      (a, b) =>
        a.at.start - b.at.start ||
        severityRank[a.severity] - severityRank[b.severity] ||
        (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0),
    ),
    suppressed,
  };
}

function sameness({ rule, at, message }: Finding): string {
  return JSON.stringify([rule, at.start, at.end, message]);
}
