import type { TriageCase } from '../../../server/src/panel/model';
import { visible, visibleLines } from '../text';
import { Actions } from './section';
import { Facts } from './shown';
import { Name } from './name';
import { StateMark, stateWords } from './state';

/** The runbook of each pod that was killed or crashes, with its steps filled in. */
export function Triage({ cases }: { readonly cases: readonly TriageCase[] }) {
  return (
    <>
      {cases.map((each) => (
        <article key={`${each.pod.namespace}/${each.pod.name}/${each.container}`} class="case">
          <h3>
            <StateMark state={each.state} label={stateWords[each.state]} /> {visible(each.title)}
          </h3>
          <p class="faint">
            <Name text={each.pod.name} /> · container <Name text={each.container} />
          </p>
          <ol class="runbook">
            {each.steps.map((step) => (
              <li key={step.id} class={step.known ? '' : 'unknown-step'}>
                <h4>{visible(step.title)}</h4>
                <p>{visible(step.text)}</p>
                {step.lines.length > 0 && <pre tabIndex={0}>{visibleLines(step.lines.join('\n'))}</pre>}
                <Facts facts={step.facts} />
                <Actions actions={step.actions} primary={step.id === 'fix'} />
              </li>
            ))}
          </ol>
        </article>
      ))}
    </>
  );
}
