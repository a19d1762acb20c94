import type { AxisScale } from '../../server/src/panel/model';
import { visible } from './text';

/** Three significant digits, without an exponent and without zeros that say nothing: `0.0125`, `12.4`, `1,240`. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.min(6, Math.max(0, 2 - size));
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals });
}

/** A value of a chart, in the unit of its axis: `640 ms`, `12.4/s`. */
export function axisText(value: number, { factor, suffix }: AxisScale): string {
  const number = digits(value * factor);
  if (suffix === '') return number;
  return `${number}${suffix.startsWith('/') ? '' : ' '}${visible(suffix)}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `14:05`; with seconds `14:05:30`. Local time. */
export function clockText(instant: number, seconds = false): string {
  const date = new Date(instant);
  const text = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return seconds ? `${text}:${two(date.getSeconds())}` : text;
}

/** `2026-03-01 14:05:30`. Local time. */
export function timeText(instant: number): string {
  const date = new Date(instant);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockText(instant, true)}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `1 Mar`. Local time. */
export function dayText(instant: number): string {
  const date = new Date(instant);
  return `${date.getDate()} ${months[date.getMonth()] ?? ''}`;
}

/** `12 s`, `4 min`, `2 h`. */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}
