import type { VerdictView } from '../../../server/src/panel/model';
import { usePage } from '../context';
import { visible } from '../text';
import { Actions } from './section';
import { StateMark } from './state';

/** What is wrong, since when, and what to do; then what it was made from. */
export function Banner({ verdict }: { readonly verdict: VerdictView }) {
  const { host } = usePage();
  const { state, word, sentence, since, evidence, next, also, unjudged } = verdict;
  return (
    <section class={`banner banner-${state}`} id="target-verdict" aria-labelledby="verdict" tabIndex={-1}>
      <h1 id="verdict" class="verdict">
        <StateMark state={state} /> {visible(word)}
        {since !== undefined && <span class="since"> {visible(since)}</span>}
      </h1>
      <p class="sentence">{visible(sentence)}</p>
      <Actions actions={next} primary />
      {evidence.length > 0 && (
        <ul class="chips" aria-label="Evidence">
          {evidence.map(({ text, detail, state: grave, target }) => (
            <li key={text}>
              {target === undefined ? (
                <span class="chip" title={visible(detail)}>
                  <StateMark state={grave} /> {visible(text)}
                </span>
              ) : (
                <button
                  type="button"
                  class="chip"
                  title={visible(detail)}
                  onClick={() => host.act({ kind: 'show', target })}
                >
                  <StateMark state={grave} /> {visible(text)}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {also.length > 0 && (
        <ul class="also" aria-label="Also">
          {also.map((each) => (
            <li key={each.name}>
              <StateMark state={each.state} /> <strong>{visible(each.word)}</strong> {visible(each.sentence)}
            </li>
          ))}
        </ul>
      )}
      {unjudged.length > 0 && (
        <details class="unjudged">
          <summary>
            {unjudged.length === 1 ? '1 thing' : `${unjudged.length} things`} could not be judged
          </summary>
          <ul>
            {unjudged.map((each) => (
              <li key={each.word}>
                <strong>{visible(each.word)}</strong>: {visible(each.missing)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
