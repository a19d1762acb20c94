import type {
  AlarmsView,
  BaselineView,
  CostView,
  FactsView,
  LogsView,
  OverviewView,
  ReadinessView,
  SourceView,
} from '../../../server/src/panel/model';
import { usePage } from '../context';
import { visible, visibleLines } from '../text';
import { Sub } from './scaling';
import { Actions, Content, Notes } from './section';
import { Facts } from './shown';
import { StateMark } from './state';
import { DataTable } from './table';
import { Tiles } from './tiles';

export function Alarms({ alarms }: { readonly alarms: AlarmsView }) {
  return (
    <>
      <DataTable table={alarms.evaluated} title="Alarms evaluated here" />
      <Sub title="CloudWatch alarms" section={alarms.cloud} />
    </>
  );
}

export function Cost({ cost }: { readonly cost: CostView }) {
  return (
    <>
      <Facts
        facts={[
          { title: 'Per hour', shown: cost.perHour, state: 'info' },
          { title: 'Per million tokens', shown: cost.perMillionTokens, state: 'info' },
          { title: 'Idle share', shown: cost.idleShare, state: 'info' },
          { title: 'Idle per hour', shown: cost.idlePerHour, state: 'info' },
        ]}
      />
      <p class="faint">{visible(cost.priceBasis)}</p>
      <Notes notes={cost.caveats} />
      <h3>Nodes</h3>
      <DataTable table={cost.nodes} title="Cost of nodes" />
      <Sub title="By namespace" section={cost.byNamespace} />
      {cost.byLabel.map(({ label, content }) => (
        <Sub key={label} title={`By label ${visible(label)}`} section={content} />
      ))}
    </>
  );
}

export function ControlPlane({ view }: { readonly view: FactsView }) {
  return <Facts facts={view.facts} />;
}

export function Logs({ logs }: { readonly logs: LogsView }) {
  return (
    <>
      {logs.queries.map((query) => (
        <article key={query.id} class="query">
          <h3>{visible(query.title)}</h3>
          <p class="faint">{visible(query.costNote)}</p>
          <Actions actions={[query.run]} />
          <details>
            <summary>Query</summary>
            <pre tabIndex={0}>{visibleLines(query.query)}</pre>
          </details>
          <Content section={query.result}>
            {(table) => <DataTable table={table} title={query.title} />}
          </Content>
        </article>
      ))}
    </>
  );
}

export function Baseline({ baseline }: { readonly baseline: BaselineView }) {
  return (
    <>
      <p>{visible(baseline.saved)}</p>
      {baseline.regressions.length > 0 && (
        <ul class="regressions">
          {baseline.regressions.map((text) => (
            <li key={text}>
              <StateMark state="warning" label="regression" /> {visible(text)}
            </li>
          ))}
        </ul>
      )}
      <DataTable table={baseline.comparison} title="Against the baseline" />
      <Actions actions={baseline.actions} />
    </>
  );
}

export function Readiness({ readiness }: { readonly readiness: ReadinessView }) {
  return (
    <>
      <p class="lead">
        <strong>{visible(readiness.summary)}</strong>
      </p>
      <DataTable table={readiness.items} title="Production readiness" />
    </>
  );
}

/** @param said what the banner says already */
export function Overview({
  overview,
  said,
}: {
  readonly overview: OverviewView;
  readonly said: readonly { readonly word: string }[];
}) {
  const more = overview.sentences.filter((text) => !said.some(({ word }) => text.startsWith(`${word}:`)));
  return (
    <>
      <Tiles tiles={overview.tiles} />
      <ul class="sentences">
        {more.map((sentence) => (
          <li key={sentence}>{visible(sentence)}</li>
        ))}
      </ul>
    </>
  );
}

/** One word for each source, below the verdict: what it was made from. */
export function SourceChips({ sources }: { readonly sources: readonly SourceView[] }) {
  const { host } = usePage();
  return (
    <ul class="chips sources-line" aria-label="Sources">
      {sources.map(({ source, title, state, word, text }) => (
        <li key={source}>
          <button
            type="button"
            class="chip"
            title={visible(text)}
            onClick={() => host.act({ kind: 'show', target: 'sources' })}
          >
            <StateMark state={state} /> {visible(title)}: {visible(word)}
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Sources({ sources }: { readonly sources: readonly SourceView[] }) {
  const { host } = usePage();
  return (
    <ul class="sources">
      {sources.map((each) => (
        <li key={each.source} class="source">
          <h3>
            <StateMark state={each.state} /> {visible(each.title)}: {visible(each.word)}
          </h3>
          <p>{visible(each.text)}</p>
          {each.cost !== undefined && <p class="faint">{visible(each.cost)}</p>}
          {each.problems.map(({ text, whatToDo, grant }) => (
            <div key={text} class="problem">
              <p>
                {visible(text)}
                {whatToDo !== '' && <span class="todo"> {visible(whatToDo)}</span>}
              </p>
              {grant !== undefined && (
                <details>
                  <summary>Permission to grant</summary>
                  <pre tabIndex={0}>{visibleLines(grant)}</pre>
                  <button
                    type="button"
                    class="button"
                    onClick={() => host.act({ kind: 'copy', text: grant })}
                  >
                    Copy
                  </button>
                </details>
              )}
            </div>
          ))}
          <Actions actions={each.actions} />
        </li>
      ))}
    </ul>
  );
}
