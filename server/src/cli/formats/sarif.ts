import { createHash } from 'node:crypto';
import type { Severity } from '../../rules/rule';
import type { FileReport, Region, Report, ReportedFinding } from '../report';

const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
  hint: 'note',
};

/** Paths become relative URI references, so that a report made in one checkout fits another. */
function uriReference(path: string): string {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${encoded}` : encoded;
}

function location(path: string, region: Region): object {
  return { physicalLocation: { artifactLocation: { uri: uriReference(path) }, region } };
}

/**
 * Stays the same while lines are added above: the rule, the file, the message and which of several equal ones it is.
 */
function fingerprint(path: string, finding: ReportedFinding, occurrence: number): string {
  return createHash('sha256')
    .update(`${finding.rule}\n${path}\n${finding.message}\n${occurrence}`)
    .digest('hex')
    .slice(0, 32);
}

function resultOf(file: FileReport, finding: ReportedFinding, ruleIndex: number, occurrence: number): object {
  return {
    ruleId: finding.rule,
    ruleIndex,
    level: levels[finding.severity],
    message: { text: finding.message },
    locations: [location(file.path, finding.region)],
    ...(finding.related.length > 0
      ? {
          relatedLocations: finding.related.map((other, id) => ({
            id,
            ...location(other.path, other.region),
            message: { text: other.message },
          })),
        }
      : {}),
    ...(finding.fixes.length > 0
      ? {
          fixes: finding.fixes.map((fix) => ({
            description: { text: fix.title },
            artifactChanges: [
              {
                artifactLocation: { uri: uriReference(file.path) },
                replacements: fix.edits.map(({ region, newText }) => ({
                  deletedRegion: region,
                  insertedContent: { text: newText },
                })),
              },
            ],
          })),
        }
      : {}),
    partialFingerprints: { 'plimsollFinding/v1': fingerprint(file.path, finding, occurrence) },
    properties: { severity: finding.severity },
  };
}

/** SARIF 2.1.0, as code scanning services read it. Regions are in UTF-16 code units, ends exclusive. */
export function formatSarif(report: Report): string {
  const indexOf = new Map(report.rules.map(({ id }, index) => [id, index]));
  const results: object[] = [];
  for (const file of report.files) {
    const seen = new Map<string, number>();
    const next = (finding: ReportedFinding): number => {
      const key = `${finding.rule}\n${finding.message}`;
      const occurrence = seen.get(key) ?? 0;
      seen.set(key, occurrence + 1);
      return occurrence;
    };
    for (const finding of file.findings) {
      results.push(resultOf(file, finding, indexOf.get(finding.rule) ?? -1, next(finding)));
    }
    for (const { finding, kind, justification } of file.suppressed) {
      results.push({
        ...resultOf(file, finding, indexOf.get(finding.rule) ?? -1, next(finding)),
        suppressions: [
          { kind, status: 'accepted', ...(justification === undefined ? {} : { justification }) },
        ],
      });
    }
  }
  const notifications = [
    ...report.internalErrors.map(({ path, rule, message }) => ({
      level: 'error',
      message: { text: `internal error in ${rule ?? 'the engine'}: ${message}` },
      ...(path === undefined
        ? {}
        : { locations: [{ physicalLocation: { artifactLocation: { uri: uriReference(path) } } }] }),
    })),
    ...report.skipped.map(({ path, rule, message, failed }) => ({
      level: failed === true ? 'error' : 'note',
      message: { text: `skipped${rule === undefined ? '' : ` ${rule}`}: ${message}` },
      ...(path === undefined
        ? {}
        : { locations: [{ physicalLocation: { artifactLocation: { uri: uriReference(path) } } }] }),
    })),
  ];
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Plimsoll',
            semanticVersion: report.version,
            informationUri: 'https://github.com/plimsoll-dev/plimsoll',
            rules: report.rules.map(({ id, summary, severity, docUrl }) => ({
              id,
              shortDescription: { text: summary },
              helpUri: docUrl,
              defaultConfiguration: { level: levels[severity] },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful:
              report.internalErrors.length === 0 && report.skipped.every(({ failed }) => failed !== true),
            ...(notifications.length > 0 ? { toolExecutionNotifications: notifications } : {}),
          },
        ],
        results,
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}
