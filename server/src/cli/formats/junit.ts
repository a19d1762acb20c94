import type { Report } from '../report';

function escapeXml(text: string): string {
  return (
    text
      // XML 1.0 has no way at all to write most control characters.
      // eslint-disable-next-line no-control-regex
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/&/g, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;')
      .replace(/"/g, '&quot;')
      .replace(/\r/g, '&#13;')
      .replace(/\n/g, '&#10;')
      .replace(/\t/g, '&#9;')
  );
}

/**
 * JUnit XML as CI servers read it: a suite for each file, a case for each finding. Errors and warnings are failures;
 * infos and hints pass, with their text as output, since they do not fail the run either.
 */
export function formatJunit(report: Report): string {
  const suites: string[] = [];
  let tests = 0;
  let failures = 0;
  const unreadable = report.skipped.filter(({ failed }) => failed === true).length;
  const errors = report.internalErrors.length + unreadable;
  for (const file of report.files) {
    const cases: string[] = [];
    let failed = 0;
    const suppressed = file.suppressed.length;
    for (const { rule, severity, region, message } of file.findings) {
      const name = `${rule} (${region.startLine}:${region.startColumn})`;
      const head = `    <testcase classname="${escapeXml(file.path)}" name="${escapeXml(name)}" time="0">`;
      const text = escapeXml(
        `${file.path}:${region.startLine}:${region.startColumn}: ${severity}: ${message}`,
      );
      if (severity === 'error' || severity === 'warning') {
        failed++;
        cases.push(
          `${head}\n      <failure type="${severity}" message="${escapeXml(message)}">${text}</failure>\n    </testcase>`,
        );
      } else {
        cases.push(`${head}\n      <system-out>${text}</system-out>\n    </testcase>`);
      }
    }
    for (const { finding, justification } of file.suppressed) {
      const name = `${finding.rule} (${finding.region.startLine}:${finding.region.startColumn})`;
      const why = justification === undefined ? 'suppressed' : `suppressed: ${justification}`;
      cases.push(
        `    <testcase classname="${escapeXml(file.path)}" name="${escapeXml(name)}" time="0">\n` +
          `      <skipped message="${escapeXml(why)}"/>\n    </testcase>`,
      );
    }
    tests += cases.length;
    failures += failed;
    suites.push(
      `  <testsuite name="${escapeXml(file.path)}" tests="${cases.length}" failures="${failed}" errors="0"` +
        ` skipped="${suppressed}" time="0">\n${cases.join('\n')}\n  </testsuite>`,
    );
  }
  if (report.internalErrors.length > 0 || report.skipped.length > 0) {
    const cases = [
      ...report.internalErrors.map(
        ({ path, rule, message }) =>
          `    <testcase classname="plimsoll" name="${escapeXml(`${rule ?? 'engine'} ${path ?? ''}`.trim())}" time="0">\n` +
          `      <error type="internal" message="${escapeXml(message)}"/>\n    </testcase>`,
      ),
      ...report.skipped.map(
        ({ path, rule, message, failed }) =>
          `    <testcase classname="plimsoll" name="${escapeXml(path ?? rule ?? 'skipped')}" time="0">\n` +
          (failed === true
            ? `      <error type="unreadable" message="${escapeXml(message)}"/>\n    </testcase>`
            : `      <skipped message="${escapeXml(message)}"/>\n    </testcase>`),
      ),
    ];
    tests += cases.length;
    suites.push(
      `  <testsuite name="plimsoll" tests="${cases.length}" failures="0" errors="${errors}"` +
        ` skipped="${report.skipped.length - unreadable}" time="0">\n${cases.join('\n')}\n  </testsuite>`,
    );
  }
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="plimsoll" tests="${tests}" failures="${failures}"` +
    ` errors="${errors}" time="0">\n${suites.map((suite) => `${suite}\n`).join('')}</testsuites>\n`
  );
}
