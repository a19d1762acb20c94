import type { Report } from '../report';

/** The whole report as JSON, for scripts. The shape changes only with a major version. */
export function formatJson(report: Report): string {
  const { version, checkedFiles, counts, fixed, baseline, skipped, internalErrors } = report;
  const files = report.files.map(({ path, findings, suppressed }) => ({
    path,
    findings: findings.map(({ rule, severity, message, region, fixes, related }) => ({
      rule,
      severity,
      message,
      ...region,
      fixes,
      related,
    })),
    suppressed: suppressed.map(({ finding, kind, justification }) => ({
      rule: finding.rule,
      severity: finding.severity,
      message: finding.message,
      ...finding.region,
      kind,
      justification: justification ?? null,
    })),
  }));
  const whole = {
    version,
    checkedFiles,
    counts,
    fixed,
    ...(baseline === undefined ? {} : { baseline }),
    files,
    skipped,
    internalErrors,
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}
