import type { ColdStartView, ScalingView, Section, Table } from '../../../server/src/panel/model';
import { visible } from '../text';
import { Name } from './name';
import { Content, Notes } from './section';
import { StateMark, stateWords } from './state';
import { DataTable } from './table';

/** Why the workload scales or does not, step by step; then what its pods and nodes wait for. */
export function Scaling({ scaling }: { readonly scaling: ScalingView }) {
  const { summary, state, scaler, bounds, metrics, steps, caveats } = scaling;
  return (
    <>
      <p class="lead">
        <StateMark state={state} label={stateWords[state]} /> <strong>{visible(summary)}</strong>
      </p>
      <p class="faint">
        {visible(scaler)}, {visible(bounds)}
      </p>
      <DataTable table={metrics} title="Metrics of the autoscaler" />
      <ol class="steps" aria-label="How the count comes about">
        {steps.map(({ text, holds }, index) => (
          <li key={index} class={holds ? 'holds' : ''}>
            {visible(text)}
            {holds && <span class="tag"> holds the count</span>}
          </li>
        ))}
      </ol>
      <Notes notes={caveats} />
      <Sub title="Pending pods" section={scaling.pending} />
      <Sub title="Nodes under way" section={scaling.nodeClaims} />
      <h3>Cold start</h3>
      <Content section={scaling.coldStart}>{(value) => <ColdStart coldStart={value} />}</Content>
      <Sub title="Conditions" section={scaling.conditions} />
      <Sub title="Events" section={scaling.events} />
    </>
  );
}

/** A table under a heading of its own, or why it is empty. */
export function Sub({ title, section }: { readonly title: string; readonly section: Section<Table> }) {
  return (
    <>
      <h3>{visible(title)}</h3>
      <Content section={section}>{(table) => <DataTable table={table} title={title} />}</Content>
    </>
  );
}

function ColdStart({ coldStart }: { readonly coldStart: ColdStartView }) {
  const { total, pod, phases, starts } = coldStart;
  return (
    <>
      <p>
        <strong>{visible(total)}</strong> for <Name text={pod} />
      </p>
      <div class="phases" aria-hidden="true">
        {phases.map(({ id, title, share }, index) => (
          <span
            key={id}
            class={`phase phase-${index % 6}`}
            style={{ flexGrow: Math.max(share, 0.01) }}
            title={visible(title)}
          />
        ))}
      </div>
      <ol class="phase-list" aria-label="Parts of the cold start">
        {phases.map(({ id, title, text, share, detail }, index) => (
          <li key={id} title={visible(detail)}>
            <span class={`phase-swatch phase-${index % 6}`} aria-hidden="true" /> {visible(title)}{' '}
            <b>{visible(text)}</b> <span class="faint">{Math.round(share * 100)} %</span>
          </li>
        ))}
      </ol>
      <DataTable table={starts} title="Starts of pods" />
    </>
  );
}
