export const views = ['engineer', 'overview', 'readiness'] as const;

export type View = (typeof views)[number];

export interface Sorting {
  readonly column: string;
  readonly descending: boolean;
}

/** All that the page remembers by itself: how things are looked at, never what was seen. */
export interface UiState {
  readonly view: View;
  /** By the id of the table; absent: as it comes. */
  readonly sorting: Readonly<Record<string, Sorting>>;
  readonly podFilter: string;
  /** Ids of charts with a logarithmic axis. */
  readonly logarithmic: readonly string[];
  /** Ids of parts that the user has folded. */
  readonly folded: readonly string[];
}

export const initialUiState: UiState = {
  view: 'engineer',
  sorting: {},
  podFilter: '',
  logarithmic: [],
  folded: [],
};

/** A stored state, whatever an older version of the page has stored. */
export function parseUiState(value: unknown): UiState {
  if (!isFields(value)) return initialUiState;
  const { view, sorting, podFilter, logarithmic, folded } = value;
  const sorted = Object.entries(isFields(sorting) ? sorting : {}).flatMap(([id, each]) =>
    isFields(each) && typeof each['column'] === 'string' && typeof each['descending'] === 'boolean'
      ? [[id, { column: each['column'], descending: each['descending'] }] as const]
      : [],
  );
  return {
    view: views.find((each) => each === view) ?? initialUiState.view,
    sorting: Object.fromEntries(sorted),
    podFilter: typeof podFilter === 'string' ? podFilter : '',
    logarithmic: strings(logarithmic),
    folded: strings(folded),
  };
}

/** The list with the item, or without it. */
export function withItem(list: readonly string[], item: string, isIn: boolean): readonly string[] {
  const others = list.filter((each) => each !== item);
  return isIn ? [...others, item] : others;
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
