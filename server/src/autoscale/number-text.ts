import { formatBytes } from '../kube/quantity';
import type { Working } from './metric-outcome';
import { toDecimalText } from './milli';

/** A level or target as it stands in a formula: `90`, `36.135`, `1.26 GiB`. */
export function amountText(amount: bigint, unit: Working['unit']): string {
  switch (unit) {
    case 'percent':
      return `${amount}`;
    case 'milli':
      return toDecimalText(amount);
    case 'milli-bytes':
      return formatBytes(Number(amount) / 1000);
  }
}

/** A ratio with at most four significant digits: `1.05`. */
export function ratioText(ratio: number): string {
  return `${Number(ratio.toPrecision(4))}`;
}

/** A duration as people say it: `45 s`, `2 min 10 s`, `1 h 5 min`. Milliseconds are rounded to seconds. */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ];
  const shown = parts.filter(([value]) => value > 0).slice(0, 2);
  return shown.length === 0 ? '0 s' : shown.map(([value, unit]) => `${value} ${unit}`).join(' ');
}

/** `1 pod`, `2 pods`. */
export function podsText(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}
