import { durationText, observedText, provenanceText, quantityText } from '../live/format';
import type { Money } from '../live/cost';
import type { Absent, Instant, Observed, Part } from '../live/reading';
import { isStale } from '../live/readings';
import type { LiveSnapshot } from '../live/snapshot';
import type { Action, Cell, Column, Empty, Row, Section, Shown, State, Table } from './model';

/** A reading as text; absent ones say why and what to do. */
export function shownOf(observed: Observed, snapshot: LiveSnapshot, now: Instant): Shown {
  if (observed.kind === 'absent') return absentShown(observed);
  return {
    kind: 'value',
    text: observedText(observed),
    value: observed.value,
    detail: provenanceText(observed, now),
    ...(isStale(observed, snapshot) ? { stale: `${durationText(now - observed.at)} old` } : {}),
  };
}

function absentShown({ message, remedy }: Absent): Shown {
  return { kind: 'absent', why: message, whatToDo: remedy ?? '' };
}

const boundWords: Readonly<Record<Money['bound'], string>> = {
  exact: '',
  'at-most': 'up to ',
  'at-least': 'at least ',
  rough: 'about ',
};

export function moneyText(money: Money, per = ''): string {
  return `${boundWords[money.bound]}${quantityText(money.value, 'dollars')}${per}`;
}

export function shownMoney(money: Money | Absent, per: string, detail: string): Shown {
  if (money.kind === 'absent') return absentShown(money);
  return { kind: 'value', text: moneyText(money, per), value: money.value, detail };
}

export function emptyOf(absent: Absent, actions: readonly Action[] = [], state: State = 'unknown'): Empty {
  return { kind: 'empty', why: sentence(absent.message), whatToDo: absent.remedy ?? '', actions, state };
}

export function empty(
  why: string,
  whatToDo = '',
  state: State = 'unknown',
  actions: readonly Action[] = [],
): Empty {
  return { kind: 'empty', why, whatToDo, actions, state };
}

export function section<T>(value: T, notes: readonly string[] = []): Section<T> {
  return { kind: 'shown', value, ...(notes.length === 0 ? {} : { notes }) };
}

/** A part as a section; what is known but has nothing in it is handed to `none`. */
export function sectionOf<P, T>(part: Part<P>, show: (value: P) => Section<T>): Section<T> {
  return part.kind === 'absent' ? emptyOf(part) : show(part.value);
}

/** First letter in upper case. */
export function sentence(text: string): string {
  return text === '' ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

export const stateRank: Readonly<Record<State, number>> = {
  critical: 0,
  warning: 1,
  info: 2,
  unknown: 3,
  good: 4,
};

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Tables have ten thousands of cells, so they are made without copies. */
export function textCell(text: string, detail?: string, state?: State): Cell {
  const cell: Writable<Cell> = { text };
  if (detail !== undefined) cell.detail = detail;
  if (state !== undefined) cell.state = state;
  return cell;
}

/** A number with its unit; sorts by value, what is not known last. */
export function numberCell(text: string, sort: number | null, detail?: string, state?: State): Cell {
  const cell: Writable<Cell> = { text, sort };
  if (detail !== undefined) cell.detail = detail;
  if (state !== undefined) cell.state = state;
  return cell;
}

export function shownCell(shown: Shown, state?: State): Cell {
  return shown.kind === 'value'
    ? numberCell(
        shown.stale === undefined ? shown.text : `${shown.text} (${shown.stale})`,
        shown.value,
        shown.detail,
        state,
      )
    : numberCell('not known', null, [shown.why, shown.whatToDo].filter((text) => text !== '').join('. '));
}

export function column(id: string, title: string, kind: Column['kind'] = 'text', detail?: string): Column {
  return { id, title, kind, ...(detail === undefined ? {} : { detail }) };
}

export function table(
  id: string,
  columns: readonly Column[],
  rows: readonly Row[],
  summary: string,
  sorted: Table['sorted'] = { column: columns[0]?.id ?? '', descending: false },
): Table {
  return { id, columns, rows, sorted, summary };
}
