import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Chart, ChartContent, Marker } from '../../../server/src/panel/model';
import { usePage } from '../context';
import { chartsCsv } from '../csv';
import { axisText, clockText, timeText } from '../numbers';
import { onPaletteChange } from '../palette';
import { picture } from '../picture';
import type { Plot } from '../plot';
import { createPlot, lineStyle, thresholdsAbove, thresholdText } from '../plot';
import { visible } from '../text';
import { withItem } from '../ui-state';
import type { MenuItem } from './menu';
import { Menu } from './menu';
import { Name } from './name';
import { Notes, targetId } from './section';
import { StateMark, stateWords } from './state';

export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

export function ChartCard({
  chart,
  window,
  markers,
}: {
  readonly chart: Chart;
  readonly window: TimeWindow;
  readonly markers: readonly Marker[];
}) {
  const { content } = chart;
  if (content.kind === 'shown') {
    return (
      <Drawn chart={chart} content={content.value} notes={content.notes ?? []} {...{ window, markers }} />
    );
  }
  return (
    <div class="chart chart-empty" id={targetId(chart.id)} tabIndex={-1}>
      <h4>{visible(chart.title)}</h4>
      <p>
        <StateMark state={content.state} label={stateWords[content.state]} /> {visible(content.why)}
        {content.whatToDo !== '' && <span class="todo"> {visible(content.whatToDo)}</span>}
      </p>
    </div>
  );
}

function Drawn({
  chart,
  content,
  notes,
  window,
  markers,
}: {
  readonly chart: Chart;
  readonly content: ChartContent;
  readonly notes: readonly string[];
  readonly window: TimeWindow;
  readonly markers: readonly Marker[];
}) {
  const { ui, change, host } = usePage();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const [cursor, setCursor] = useState<number | null>(null);
  const [hasTable, setHasTable] = useState(false);
  const logarithmic = chart.logarithmic && ui.logarithmic.includes(chart.id);
  // uPlot takes the lines and the kind of axis once; with others it is made anew.
  const shape = JSON.stringify([logarithmic, content.lines.map(({ id, dashed }) => [id, dashed])]);
  const input = { chart, content, window, markers, logarithmic };

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const made = createPlot(element, element.clientWidth, input, setCursor);
    plot.current = made;
    const observer = new ResizeObserver(() => made.resize(element.clientWidth));
    observer.observe(element);
    const forget = onPaletteChange(() => made.redraw());
    return () => {
      observer.disconnect();
      forget();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.update(input), [content, window.from, window.to, markers]);

  const above = useMemo(() => thresholdsAbove(chart, content), [chart, content]);
  const at = cursor === null ? undefined : content.at[cursor];
  const items: MenuItem[] = [
    { title: 'Show as table', checked: hasTable, run: () => setHasTable(!hasTable) },
    ...(chart.logarithmic
      ? [
          {
            title: 'Logarithmic axis',
            checked: logarithmic,
            run: () => change({ logarithmic: withItem(ui.logarithmic, chart.id, !logarithmic) }),
          },
        ]
      : []),
    { title: 'Save as CSV', run: () => host.save(`${chart.id}.csv`, 'utf8', chartsCsv([chart])) },
    {
      title: 'Save as PNG',
      run: () => {
        const canvas = plot.current?.canvas;
        if (canvas !== undefined)
          host.save(
            `${chart.id}.png`,
            'base64',
            picture([{ title: chart.title, canvas, legend: content.lines }]),
          );
      },
    },
  ];

  return (
    <div
      class={content.stale === undefined ? 'chart' : 'chart chart-stale'}
      id={targetId(chart.id)}
      tabIndex={-1}
      data-chart={chart.id}
    >
      <div class="chart-head">
        <h4>{visible(chart.title)}</h4>
        <span class="chart-time">
          {at === undefined ? visible(content.stale ?? '') : clockText(at, true)}
          {at !== undefined && nearMarker(markers, at, window)}
        </span>
        <Menu label={`${visible(chart.title)}: more`} text="⋯" items={items} />
      </div>
      <div
        ref={frame}
        class="plot"
        role="img"
        tabIndex={0}
        aria-label={describe(chart, content)}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          plot.current?.step(event.shiftKey ? step * 10 : step);
        }}
      />
      <ul class="legend">
        {content.lines.map((line, index) => {
          const value = line.values[cursor ?? lastKnown(line.values)] ?? null;
          return (
            <li key={line.id} title={visible(line.source)}>
              <Swatch index={index} dashed={line.dashed} />
              <Name text={line.label} length={28} />
              <b>{value === null ? 'no data' : axisText(value, chart.scale)}</b>
            </li>
          );
        })}
        {above.map(({ label, value, source }) => (
          <li key={label} class="threshold" title={visible(source)}>
            {thresholdText(label, value, chart)} is above the axis
          </li>
        ))}
      </ul>
      <Notes notes={notes} />
      {hasTable && <ValuesTable chart={chart} content={content} />}
    </div>
  );
}

function Swatch({ index, dashed }: { readonly index: number; readonly dashed: boolean }) {
  const { color, dash } = lineStyle(index, dashed);
  const [, redraw] = useState(0);
  useEffect(() => onPaletteChange(() => redraw((count) => count + 1)), []);
  return (
    <svg class="swatch" viewBox="0 0 16 4" width="16" height="4" aria-hidden="true">
      <line x1="0" y1="2" x2="16" y2="2" stroke={color} stroke-width="2" stroke-dasharray={dash.join(' ')} />
    </svg>
  );
}

/** The values behind a chart, newest first. */
function ValuesTable({ chart, content }: { readonly chart: Chart; readonly content: ChartContent }) {
  const order = content.at.map((_, index) => content.at.length - 1 - index);
  return (
    <div class="table-frame values" tabIndex={0} role="group" aria-label={`${visible(chart.title)}, values`}>
      <table aria-label={visible(chart.title)}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {content.lines.map((line) => (
              <th key={line.id} scope="col" class="cell-number">
                <Name text={line.label} length={24} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {order.map((index) => (
            <tr key={content.at[index]}>
              <th scope="row">{timeText(content.at[index] ?? 0)}</th>
              {content.lines.map((line) => {
                const value = line.values[index] ?? null;
                return (
                  <td key={line.id} class="cell-number">
                    {value === null ? '' : axisText(value, chart.scale)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What the chart says, in a sentence: for those who do not see it. */
function describe(chart: Chart, content: ChartContent): string {
  const lines = content.lines.map((line) => {
    const known = line.values.filter((value) => value !== null);
    const last = known.at(-1);
    if (last === undefined) return `${visible(line.label)}: no data`;
    const text = (value: number): string => axisText(value, chart.scale);
    return `${visible(line.label)}: ${text(last)}, between ${text(Math.min(...known))} and ${text(Math.max(...known))}`;
  });
  const limits = content.thresholds.map(({ label, value }) => thresholdText(label, value, chart));
  const thresholds = limits.length === 0 ? '' : ` Thresholds: ${limits.join('; ')}.`;
  return `${visible(chart.title)}. ${lines.join('; ')}.${thresholds} Arrow keys move along the time axis.`;
}

function lastKnown(values: readonly (number | null)[]): number {
  for (let index = values.length - 1; index >= 0; index--) if ((values[index] ?? null) !== null) return index;
  return -1;
}

/** What happened at about the time under the crosshair. */
function nearMarker(markers: readonly Marker[], at: number, { from, to }: TimeWindow) {
  const near = markers.filter((marker) => Math.abs(marker.at - at) < (to - from) / 100);
  return near.length === 0 ? null : <span> · {near.map(({ label }) => visible(label)).join(', ')}</span>;
}
