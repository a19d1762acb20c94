import type { Duration, Instant, Observed, Unit } from './reading';

/**
 * Numbers as people read them: three significant digits, always with the unit, durations as they are said, bytes in
 * MiB and GiB. A value and its unit are joined by a no-break space in no place: texts are searched and copied.
 */

/** `1,240`, `12.4`, `0.012`: three significant digits, thousands grouped, no exponent for what occurs. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'unlimited' : 'not a number';
  if (value === 0) return '0';
  const rounded = Number(value.toPrecision(3));
  const magnitude = Math.floor(Math.log10(Math.abs(rounded)));
  if (magnitude < -6) return value < 0 ? '-0' : 'under 0.000001';
  const decimals = Math.max(0, 2 - magnitude);
  return grouped(rounded.toFixed(Math.min(decimals, 8)), decimals > 0);
}

/** Groups thousands and cuts zeros behind the point. */
function grouped(text: string, hasPoint: boolean): string {
  if (text.length <= 3 && !hasPoint) return text;
  const trimmed = hasPoint && text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  const [whole = '0', fraction] = trimmed.split('.');
  const withCommas = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? withCommas : `${withCommas}.${fraction}`;
}

/** Whole numbers are written out: `1,204 pods`; others with three digits. */
export function countText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e9 ? grouped(String(value), false) : digits(value);
}

export function percentText(ratio: number): string {
  return `${digits(ratio * 100)} %`;
}

/** `640 ms`, `1.24 s`, `4 min 12 s`, `2 h 5 min`, `3 d 4 h`. */
export function secondsText(seconds: number): string {
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  // Rounded first: 0.9999 s is 1 s and not 1000 ms.
  const rounded = Number(seconds.toPrecision(3));
  if (Math.abs(rounded) < 0.001) return `${digits(seconds * 1e6)} us`;
  if (Math.abs(rounded) < 1) return `${digits(seconds * 1e3)} ms`;
  if (Math.abs(rounded) < 60) return `${digits(seconds)} s`;
  const sign = seconds < 0 ? '-' : '';
  const whole = Math.round(size);
  const units = [
    ['d', 86400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const first = units.findIndex(([, length]) => whole >= length);
  const [name, length] = units[first] ?? ['s', 1];
  const next = units[first + 1];
  const large = Math.floor(whole / length);
  const rest = next === undefined ? 0 : Math.floor((whole - large * length) / next[1]);
  return `${sign}${large} ${name}${next === undefined || rest === 0 ? '' : ` ${rest} ${next[0]}`}`;
}

/** Of milliseconds. */
export function durationText(duration: Duration): string {
  return secondsText(duration / 1000);
}

/** `12 s ago`, `just now`. */
export function agoText(then: Instant, now: Instant): string {
  const age = now - then;
  return age < 1000 ? 'just now' : `${secondsText(Math.round(age / 1000))} ago`;
}

/** `in 40 s`, `12 s ago`. */
export function whenText(then: Instant, now: Instant): string {
  return then > now ? `in ${secondsText(Math.round((then - now) / 1000))}` : agoText(then, now);
}

export function bytesText(bytes: number): string {
  const size = Math.abs(bytes);
  if (size >= 1024 ** 3 * 0.9995) return `${digits(bytes / 1024 ** 3)} GiB`;
  if (size >= 1024 ** 2 * 0.9995 || size === 0) return `${digits(bytes / 1024 ** 2)} MiB`;
  return size >= 1024 ? `${digits(bytes / 1024)} KiB` : `${countText(bytes)} B`;
}

/** A reading's value with its unit. */
export function quantityText(value: number, unit: Unit): string {
  switch (unit) {
    case 'ratio':
      return percentText(value);
    case 'bytes':
      return bytesText(value);
    case 'bytes-per-second':
      return `${bytesText(value)}/s`;
    case 'seconds':
      return secondsText(value);
    case 'count':
      return countText(value);
    case 'per-second':
      return `${digits(value)}/s`;
    case 'tokens-per-second':
      return `${digits(value)} tokens/s`;
    case 'celsius':
      return `${digits(value)} C`;
    case 'watts':
      return `${digits(value)} W`;
    case 'hertz':
      return value >= 1e9 ? `${digits(value / 1e9)} GHz` : `${digits(value / 1e6)} MHz`;
    case 'cores':
      return `${digits(value)} ${value === 1 ? 'core' : 'cores'}`;
    case 'dollars':
      return `$${digits(value)}`;
    case 'dollars-per-hour':
      return `$${digits(value)}/h`;
  }
}

/** `640 ms`, `more than 10 s`, or the reason why there is nothing. */
export function observedText(observed: Observed): string {
  if (observed.kind === 'absent') return observed.message;
  const text = quantityText(observed.value, observed.unit);
  return observed.atLeast === true ? `more than ${text}` : text;
}

/** Time, window and source of a reading: `over 1 min, 12 s ago, engine metrics: vllm:...`. */
export function provenanceText(observed: Observed, now: Instant): string {
  if (observed.kind === 'absent') return observed.message;
  const window = observed.window > 0 ? `over ${durationText(observed.window)}, ` : '';
  const { source, from } = observed.source;
  return `${window}${agoText(observed.at, now)}, ${sourceTitles[source]}: ${from}`;
}

export const sourceTitles = {
  kubernetes: 'Kubernetes API',
  'engine-metrics': 'engine metrics',
  prometheus: 'Prometheus',
  cloudwatch: 'CloudWatch',
  demo: 'demo',
} as const;

/** `1 pod`, `3 pods`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${countText(count)} ${count === 1 ? singular : plural}`;
}

/** `a, b and c`. */
export function listed(items: readonly string[], last = 'and'): string {
  if (items.length <= 1) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1) ?? ''}`;
}

/** `+18 %`, `-4 %`, `unchanged`. */
export function changeText(from: number, to: number): string {
  if (from === 0) return to === 0 ? 'unchanged' : 'from 0';
  const change = (to - from) / Math.abs(from);
  if (Math.abs(change) < 0.005) return 'unchanged';
  return `${change > 0 ? '+' : '-'}${digits(Math.abs(change) * 100)} %`;
}
