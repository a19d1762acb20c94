import type { State } from '../../../server/src/panel/model';

/** A word for each state; colours and shapes only repeat it. */
export const stateWords: Readonly<Record<State, string>> = {
  good: 'good',
  info: 'info',
  warning: 'warning',
  critical: 'critical',
  unknown: 'unknown',
};

/** A mark whose shape tells the state too, so that no colour has to. */
export function StateMark({ state, label }: { readonly state: State; readonly label?: string }) {
  return (
    <svg
      class={`mark state-${state}`}
      viewBox="0 0 16 16"
      width="12"
      height="12"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <StateShape state={state} />
    </svg>
  );
}

function StateShape({ state }: { readonly state: State }) {
  switch (state) {
    case 'good':
      return <circle cx="8" cy="8" r="6" />;
    case 'info':
      return <rect x="2.5" y="2.5" width="11" height="11" rx="2" />;
    case 'warning':
      return <path d="M8 1.5 15 14.5H1Z" />;
    case 'critical':
      return <path d="M5 1h6l4 4v6l-4 4H5l-4-4V5Z" />;
    case 'unknown':
      return <circle cx="8" cy="8" r="5.5" class="hollow" />;
  }
}
