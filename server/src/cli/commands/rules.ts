import { ruleDocPath, ruleDocUrl, ruleMetas, ruleOptions } from '../../engine/registry';
import type { OptionMeta } from '../../rules/rule';
import type { RulesCommand } from '../arguments';
import type { Host } from '../host';

/** `plimsoll rules`: everything that can be reported, one line each or as JSON. */
export function listRules(command: RulesCommand, host: Host): number {
  if (command.format === 'json') {
    const rows = ruleMetas.map(({ id, summary, severity, strict, needs, kinds, fixable }) => ({
      id,
      summary,
      severity: {
        recommended: severity,
        strict: strict ?? severity,
        minimal: severity === 'error' ? 'error' : 'off',
      },
      needs,
      kinds,
      fixable,
      options: Object.fromEntries(
        Object.entries(ruleOptions(id) as Readonly<Record<string, OptionMeta>>).map(
          ([name, { default: value, description }]) => [name, { default: value, description }],
        ),
      ),
      docPath: ruleDocPath(id),
      docUrl: ruleDocUrl(id),
    }));
    host.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...ruleMetas.map(({ id }) => id.length));
  for (const { id, severity, strict, fixable, summary } of ruleMetas) {
    const level = severity === 'off' && strict !== undefined ? `off (strict: ${strict})` : severity;
    const fix = fixable === 'none' ? '' : ` [fix: ${fixable}]`;
    host.stdout.write(`${id.padEnd(width)}  ${level.padEnd(8)}  ${summary}${fix}\n`);
  }
  host.stdout.write('\nplimsoll explain <rule> tells more about one\n');
  return 0;
}
