import type { Fact, Shown } from '../../../server/src/panel/model';
import { visible } from '../text';
import { StateMark, stateWords } from './state';

/** A value, or why there is none. */
export function ShownText({ shown }: { readonly shown: Shown }) {
  if (shown.kind === 'absent') {
    return (
      <span class="absent">
        {visible(shown.why)}
        {shown.whatToDo !== '' && <span class="todo"> {visible(shown.whatToDo)}</span>}
      </span>
    );
  }
  return (
    <span class={shown.stale === undefined ? 'value' : 'value stale'} title={visible(shown.detail)}>
      {visible(shown.text)}
      {shown.stale !== undefined && <span class="age"> {visible(shown.stale)}</span>}
    </span>
  );
}

/** Names and values in two columns. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(({ title, shown, state }) => (
        <div key={title} class="fact">
          <dt>{visible(title)}</dt>
          <dd>
            {(state === 'warning' || state === 'critical') && (
              <StateMark state={state} label={stateWords[state]} />
            )}{' '}
            <ShownText shown={shown} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
