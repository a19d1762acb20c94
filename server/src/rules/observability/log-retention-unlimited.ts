import { isAbsent, type Resource } from '../../kube/resource';
import { entryOf, isMap, mapIn } from '../../yaml/node';
import { defineRule, type Report } from '../rule';
import { addOnKinds, addOnsOf, collectorTrees, fluentSections, isOn, settingIn } from './configuration';

/** Days, of the 14 to 30 that are advised; one of the values that CloudWatch Logs takes. */
const days = 30;

export default defineRule({
  id: 'log-retention-unlimited',
  summary: 'Log groups that are created for pods keep their logs for a limited time',
  severity: 'warning',
  needs: 'document',
  kinds: ['ConfigMap', 'OpenTelemetryCollector', ...addOnKinds],
  fixable: 'suggest',
  check(resource, { report }) {
    if (!/cloudwatch/i.test(resource.placed.document.text)) return;
    for (const found of [...ofFluentBit(resource), ...ofChart(resource), ...ofCollector(resource)])
      report(found);
  },
});

const consequence = 'CloudWatch keeps the logs for ever, and they are paid for each month';

function ofFluentBit(resource: Resource): readonly Report[] {
  return fluentSections(resource).flatMap(({ kind, settings }) => {
    const name = settings.get('name');
    const creates = settings.get('auto_create_group');
    if (kind !== 'output' || name === undefined || creates === undefined) return [];
    if (!/^cloudwatch(?:_logs)?$/i.test(name.value) || !isOn(creates.value)) return [];
    const retention = settings.get('log_retention_days');
    if (retention !== undefined && retention.value !== '0') return [];
    const edits = retention === undefined ? creates.insertAfter(`log_retention_days ${days}`) : undefined;
    return [
      {
        at: retention?.at ?? creates.at,
        message: `Fluent Bit creates the log group without log_retention_days: ${consequence}`,
        fixes: [edits && { title: `Keep logs for ${days} days`, safe: false, edits }],
      },
    ];
  });
}

/** The chart aws-for-fluent-bit writes its output from these values. */
function ofChart(resource: Resource): readonly Report[] {
  return addOnsOf(resource).flatMap(({ name, tree, open }) => {
    if (!/aws-for-fluent-bit/.test(name)) return [];
    return ['cloudWatchLogs', 'cloudWatch'].flatMap((key) => {
      const entry = entryOf(tree.root, key);
      const settings = mapIn(tree.root, key);
      if (entry === undefined || settings === undefined || settings.open) return [];
      if (settingIn(settings, 'enabled') === 'false' || settingIn(settings, 'autoCreateGroup') === 'false')
        return [];
      // The older output is off unless it is switched on.
      if (key === 'cloudWatch' && settingIn(settings, 'enabled') !== 'true') return [];
      const written = entryOf(settings, 'logRetentionDays');
      if (written === undefined && open) return [];
      if (
        written !== undefined &&
        !isAbsent(resource, settings, 'logRetentionDays') &&
        settingIn(settings, 'logRetentionDays') !== '0'
      )
        return [];
      return [
        {
          at: tree.place(written ?? entry),
          message: `aws-for-fluent-bit creates the log group without logRetentionDays: ${consequence}`,
        },
      ];
    });
  });
}

function ofCollector(resource: Resource): readonly Report[] {
  return collectorTrees(resource).flatMap((tree) =>
    (mapIn(tree.root, 'exporters')?.entries ?? []).flatMap((entry) => {
      const { key, value } = entry;
      if (!/^awscloudwatchlogs(?:\/|$)/.test(key.text) || !isMap(value) || value.open) return [];
      const retention = settingIn(value, 'log_retention');
      if (entryOf(value, 'log_retention') !== undefined && retention !== '0') return [];
      return [
        {
          at: tree.place(entryOf(value, 'log_retention') ?? entry),
          message: `The exporter creates the log group without log_retention: ${consequence}`,
        },
      ];
    }),
  );
}
