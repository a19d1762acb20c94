import { checkTrigger } from '../../kube/keda/check-trigger';
import { isCloudWatchPeriod } from '../../kube/keda/checks';
import { placeIn, triggersOf, type WrittenTrigger } from '../../kube/keda/read-triggers';
import { unseenAuth } from '../../kube/keda/trigger';
import { readInteger } from '../../kube/keda/values';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, isScalar } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { pollingInterval } from './scaled-object';

/** The period that AWS's own services write their metrics with, and the shortest that needs no special metric. */
const usualPeriod = 60;

/** KEDA's own default (pkg/scalers/aws_cloudwatch_scaler.go). */
const defaultPeriod = 300;

export default defineRule({
  id: 'keda-cloudwatch-window',
  summary: 'The window of a CloudWatch trigger is valid, and no longer than the reaction that is wanted',
  severity: 'error',
  needs: 'document',
  kinds: ['ScaledObject', 'ScaledJob'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const trigger of triggersOf(resource)) {
      if (trigger.type !== 'aws-cloudwatch') continue;
      const problems = checkTrigger(trigger, unseenAuth).filter(({ topic }) => topic === 'cloudwatch-window');
      for (const { at, message } of problems) {
        report({
          at: placeIn(trigger, at),
          message: `${message}; KEDA refuses the trigger, and with it the whole ${resource.kind}: nothing is scaled`,
        });
      }
      const period = periodOf(trigger);
      const polling = pollingInterval(resource);
      if (problems.length > 0 || period === undefined || polling === undefined) continue;
      if (period.seconds <= Math.max(usualPeriod, polling) || !isCloudWatchPeriod(period.seconds)) continue;
      const shown = period.isWritten ? String(period.seconds) : `${period.seconds} (the default)`;
      report({
        at: placeIn(trigger, { part: period.isWritten ? 'value' : 'metadata', name: 'metricStatPeriod' }),
        message: `metricStatPeriod ${shown} makes KEDA read whole periods of ${minutes(period.seconds)}, though it asks every ${polling} s: a burst of load shows up to ${minutes(2 * period.seconds)} late`,
        severity: 'warning',
        fixes: [shorten(trigger)],
      });
    }
  },
});

/** `undefined` when it is only known later. */
function periodOf({
  metadata,
  open,
}: WrittenTrigger): { readonly seconds: number; readonly isWritten: boolean } | undefined {
  const text = metadata.get('metricStatPeriod')?.trim();
  if (metadata.has('metricStatPeriod') && text === undefined) return undefined;
  if (text === undefined || text === '')
    return open ? undefined : { seconds: defaultPeriod, isWritten: false };
  const seconds = readInteger(text);
  return seconds === undefined ? undefined : { seconds: Number(seconds), isWritten: true };
}

function minutes(seconds: number): string {
  if (seconds % 60 !== 0) return `${seconds} s`;
  return seconds === 60 ? 'a minute' : `${seconds / 60} minutes`;
}

function shorten({ resource, metadataNode }: WrittenTrigger): Fix | undefined {
  const { document } = resource.placed;
  const value = entryOf(metadataNode, 'metricStatPeriod')?.value;
  const edits =
    metadataNode === undefined
      ? undefined
      : isScalar(value) && value.value !== null
        ? replaceScalar(document, value, String(usualPeriod))
        : insertKey(document, metadataNode, 'metricStatPeriod', String(usualPeriod));
  return edits === undefined ? undefined : { title: `Read periods of ${usualPeriod} s`, safe: false, edits };
}
