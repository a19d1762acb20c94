import { cronProblem } from '../../kube/keda/cron';

const descriptors: readonly string[] = [
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
];

/**
 * What is wrong with the schedule of a CronJob, which robfig/cron reads with five fields or as a descriptor. The API
 * server takes no time zone in it: there is a field for that.
 */
export function cronFlaw(schedule: string): string | undefined {
  if (schedule.includes('TZ')) return 'a time zone stands in timeZone';
  if (schedule.startsWith('@')) {
    return descriptors.includes(schedule) || /^@every (\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(schedule)
      ? undefined
      : 'there is no such descriptor';
  }
  const problem = cronProblem(schedule);
  return problem === undefined ? undefined : `it ${problem}`;
}
