/**
 * A schedule of the cron trigger, as robfig/cron reads it with five fields: minute, hour, day of month, month and day
 * of week; no seconds, and no `@daily`.
 */
interface CronField {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const fields: readonly CronField[] = [
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  { name: 'day of month', min: 1, max: 31, names: [] },
  {
    name: 'month',
    min: 1,
    max: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of week', min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

/** What is wrong with a schedule, as a clause without its subject; `undefined` when it is fine. */
export function cronProblem(schedule: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=(\S*)( ?)/.exec(schedule);
  if (zone !== null && zone[2] === '') return 'has a time zone and no fields';
  const text = zone === null ? schedule : schedule.slice(zone[0].length).trim();
  if (text.startsWith('@')) return 'is a descriptor, and only the five fields are read';
  const parts = text.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) {
    return `has ${parts.length} field${parts.length === 1 ? '' : 's'}, not the five of minute, hour, day of month, month, day of week`;
  }
  for (const [index, field] of fields.entries()) {
    const part = parts[index] ?? '';
    const bad = part.split(',').find((item) => item !== '' && !isRange(item, field));
    if (bad !== undefined)
      return `has "${bad}" as its ${field.name}, which goes from ${field.min} to ${field.max}`;
  }
  return undefined;
}

function isRange(item: string, { min, max, names }: CronField): boolean {
  const [range = '', stepText, ...more] = item.split('/');
  const bounds = range.split('-');
  const step = stepText === undefined ? 1 : readStep(stepText);
  if (more.length > 0 || step === undefined || step === 0) return false;
  if (bounds[0] === '*' || bounds[0] === '?') return true;
  const value = (text: string): number | undefined => {
    const index = names.indexOf(text.toLowerCase());
    return index < 0 ? readStep(text) : min + index;
  };
  if (bounds.length > 2) return false;
  const start = value(bounds[0] ?? '');
  const end = bounds.length === 2 ? value(bounds[1] ?? '') : stepText === undefined ? start : max;
  return start !== undefined && end !== undefined && start >= min && end <= max && start <= end;
}

function readStep(text: string): number | undefined {
  return /^\+?\d+$/.test(text) ? Number(text) : undefined;
}
