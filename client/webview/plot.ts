import uPlot from 'uplot';
import type { Chart, ChartContent, Marker, Threshold } from '../../server/src/panel/model';
import { axisText, clockText, dayText } from './numbers';
import { palette } from './palette';
import { visible } from './text';

/** All charts share this crosshair. */
const crosshair = 'plimsoll';

/** Pixels of the plotting area and its axes. */
export const plotHeight = 150;

export interface PlotInput {
  readonly chart: Chart;
  readonly content: ChartContent;
  readonly window: { readonly from: number; readonly to: number };
  readonly markers: readonly Marker[];
  readonly logarithmic: boolean;
}

/** The name of a threshold, with its value where the name does not have it. */
export function thresholdText(label: string, value: number, { scale }: Chart): string {
  return visible(/\d/.test(label) ? label : `${label} ${axisText(value, scale)}`);
}

/** The thresholds that are too far above the data to be drawn. */
export function thresholdsAbove(chart: Chart, content: ChartContent): readonly Threshold[] {
  const values = content.lines.flatMap((line) => line.values.filter((value) => value !== null));
  // Not as arguments: there can be more values than a call takes.
  const high = values.reduce((most, value) => Math.max(most, value), 0) * chart.scale.factor;
  const low = values.reduce((least, value) => Math.min(least, value), Infinity) * chart.scale.factor;
  const [, top] = valueRange(chart, Number.isFinite(low) ? low : null, high, content.thresholds);
  return content.thresholds.filter(({ value }) => value * chart.scale.factor > top);
}

/** The plot of a chart, without its legend: uPlot draws, the page says what is under the crosshair. */
export interface Plot {
  /** Draws new data; the crosshair and the shape stay. */
  update(input: PlotInput): void;
  resize(width: number): void;
  redraw(): void;
  /** Moves the crosshair by so many points. */
  step(points: number): void;
  readonly canvas: HTMLCanvasElement;
  destroy(): void;
}

/** Lines after the sixth have a colour again; a dash tells them from the first. */
export function lineStyle(
  index: number,
  dashed: boolean,
): { readonly color: string; readonly dash: number[] } {
  const { lines } = palette();
  const round = Math.floor(index / Math.max(1, lines.length));
  const dash = dashed ? [6, 4] : ([[], [2, 3], [8, 3, 2, 3]][round % 3] ?? []);
  return { color: lines[index % Math.max(1, lines.length)] ?? palette().foreground, dash };
}

/**
 * The range of the value axis, in its unit: what the chart prescribes, else its data; thresholds that are near the data are in it,
 * so that one sees how near.
 */
export function valueRange(
  chart: Pick<Chart, 'min' | 'max' | 'scale'>,
  low: number | null,
  high: number | null,
  thresholds: readonly Threshold[],
): readonly [number, number] {
  const { factor } = chart.scale;
  const min = chart.min === undefined ? undefined : chart.min * factor;
  const max = chart.max === undefined ? undefined : chart.max * factor;
  const top = high ?? 0;
  const near = thresholds
    .map(({ value }) => value * factor)
    .filter((value) => value <= Math.max(top, 0) * 2.5);
  const from = min ?? Math.min(low ?? 0, ...near);
  const to = max ?? Math.max(top, ...near);
  const room = (to - from) * 0.08;
  return to > from
    ? [min ?? from - room, max ?? to + room]
    : [from, from + (from === 0 ? 1 : Math.abs(from))];
}

export function createPlot(
  element: HTMLElement,
  width: number,
  first: PlotInput,
  onCursor: (index: number | null) => void,
): Plot {
  let input = first;
  let index: number | null = null;

  const range = (low: number | null, high: number | null): [number, number] => {
    if (!input.logarithmic) {
      const [from, to] = valueRange(input.chart, low, high, input.content.thresholds);
      return [from, to];
    }
    // Without any value above zero the range is that of 1 to 10, which nothing is drawn in.
    const [from, to] = uPlot.rangeLog(Math.max(low ?? 1, 1e-9), Math.max(high ?? 10, 1e-9), 10, false);
    return [from ?? 1, to ?? 10];
  };

  const options: uPlot.Options = {
    width,
    height: plotHeight,
    padding: [14, 18, 0, 0],
    legend: { show: false },
    cursor: {
      drag: { x: false, y: false, setScale: false },
      sync: { key: crosshair, scales: ['x', null] },
      points: { size: 6 },
      y: false,
    },
    scales: {
      x: { time: true, range: () => [input.window.from / 1000, input.window.to / 1000] },
      y: {
        distr: first.logarithmic ? 3 : 1,
        range: (_plot, low, high) => range(low, high),
      },
    },
    axes: [
      {
        stroke: () => palette().faint,
        grid: { show: false },
        ticks: { stroke: () => palette().grid, width: 1, size: 4 },
        font: axisFont(),
        size: 24,
        gap: 3,
        space: 70,
        values: (_plot, splits) => splits.map((at) => timeLabel(at * 1000, input.window)),
      },
      {
        stroke: () => palette().faint,
        grid: { stroke: () => palette().grid, width: 1, dash: [1, 3] },
        ticks: { show: false },
        font: axisFont(),
        gap: 4,
        space: 30,
        size: (_plot, values) => 12 + 6.4 * Math.max(3, ...(values ?? []).map((value) => value.length)),
        values: (_plot, splits) => tickTexts(splits, input.chart.scale.suffix),
      },
    ],
    series: [{}, ...first.content.lines.map((line, at) => seriesOf(line, at))],
    hooks: {
      drawAxes: [(plot) => drawMarkers(plot, input.markers)],
      draw: [(plot) => drawThresholds(plot, input)],
      setCursor: [
        (plot) => {
          const next =
            plot.cursor.left !== undefined && plot.cursor.left >= 0 ? (plot.cursor.idx ?? null) : null;
          if (next === index) return;
          index = next;
          onCursor(next);
        },
      ],
    },
  };
  const plot = new uPlot(options, dataOf(first), element);

  return {
    update(next) {
      input = next;
      plot.setData(dataOf(next));
    },
    resize(nextWidth) {
      if (nextWidth > 0 && nextWidth !== plot.width) plot.setSize({ width: nextWidth, height: plotHeight });
    },
    redraw: () => plot.redraw(false, true),
    step(points) {
      const last = input.content.at.length - 1;
      const at = Math.max(0, Math.min(last, (index ?? (points > 0 ? -1 : last + 1)) + points));
      const instant = input.content.at[at];
      if (instant === undefined) return;
      // The types leave out the last argument, which tells the other charts.
      const setCursor = plot.setCursor as (
        at: { left: number; top: number },
        hook: boolean,
        tell: boolean,
      ) => void;
      setCursor({ left: plot.valToPos(instant / 1000, 'x'), top: plotHeight / 2 }, true, true);
    },
    get canvas() {
      return plot.ctx.canvas;
    },
    destroy: () => plot.destroy(),
  };
}

function axisFont(): string {
  return `11px ${palette().font}`;
}

function seriesOf(line: ChartContent['lines'][number], index: number): uPlot.Series {
  const { dash } = lineStyle(index, line.dashed);
  return {
    label: visible(line.label),
    stroke: () => lineStyle(index, line.dashed).color,
    width: line.emphasis === 'main' ? 2 : 1,
    alpha: line.emphasis === 'faint' ? 0.45 : 1,
    ...(dash.length === 0 ? {} : { dash }),
    spanGaps: false,
    points: { show: true, size: 4, filter: (plot, at) => alone(plot.data[at] ?? []) },
  };
}

function isKnown(value: number | null | undefined): boolean {
  return value !== null && value !== undefined;
}

/** Points with a gap on either side, which no line shows. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  for (let index = 0; index < values.length; index++) {
    if (!isKnown(values[index])) continue;
    if (!isKnown(values[index - 1]) && !isKnown(values[index + 1])) found.push(index);
  }
  return found;
}

/** In the unit of the axis, so that its ticks are round numbers there. */
function dataOf({ chart, content, logarithmic }: PlotInput): uPlot.AlignedData {
  return [
    content.at.map((at) => at / 1000),
    ...content.lines.map(({ values }) =>
      values.map((value) =>
        // A logarithmic axis has no place for zero.
        value === null || (logarithmic && value <= 0) ? null : value * chart.scale.factor,
      ),
    ),
  ];
}

/** Ticks with their unit, but for those that a logarithmic axis leaves blank. */
function tickTexts(splits: readonly (number | null)[], suffix: string): string[] {
  return splits.map((value) => (value === null ? '' : axisText(value, { factor: 1, suffix })));
}

function timeLabel(at: number, { from, to }: PlotInput['window']): string {
  const date = new Date(at);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return to - from > 12 * 3_600_000 && isMidnight ? dayText(at) : clockText(at, to - from <= 5 * 60_000);
}

function drawThresholds(plot: uPlot, { chart, content }: PlotInput): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const [low, high] = [plot.scales['y']?.min ?? 0, plot.scales['y']?.max ?? 0];
  ctx.save();
  ctx.font = `${10 * ratio}px ${palette().font}`;
  ctx.textAlign = 'right';
  /** Where labels are, so that one beside another stays legible. */
  const placed: { readonly y: number; readonly left: number }[] = [];
  for (const { value: given, label, state } of content.thresholds) {
    const value = given * chart.scale.factor;
    if (value < low || value > high) continue;
    const y = Math.round(plot.valToPos(value, 'y', true)) + 0.5;
    ctx.strokeStyle = palette().states[state];
    ctx.lineWidth = ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const text = thresholdText(label, given, chart);
    const isLow = y - bbox.top < 14 * ratio;
    const baseline = isLow ? y + 11 * ratio : y - 3 * ratio;
    const wide = ctx.measureText(text).width;
    const beside = placed.filter((each) => Math.abs(each.y - baseline) < 11 * ratio).map(({ left }) => left);
    const right = Math.min(bbox.left + bbox.width - 2 * ratio, ...beside.map((left) => left - 8 * ratio));
    placed.push({ y: baseline, left: right - wide });
    // A ground for the text, since lines run through it.
    ctx.globalAlpha = 0.75;
    ctx.fillStyle = palette().background;
    ctx.fillRect(right - wide - 2 * ratio, baseline - 9 * ratio, wide + 4 * ratio, 11 * ratio);
    ctx.globalAlpha = 1;
    ctx.fillStyle = palette().foreground;
    ctx.fillText(text, right, baseline);
  }
  ctx.restore();
}

/** One sign for each kind of marker, above the plot; the legend of the page explains them. */
export const markerSigns: Readonly<Record<Marker['kind'], string>> = {
  rollout: '◆',
  scale: '↕',
  restart: '↻',
  oom: '✕',
  alarm: '!',
  node: '■',
  event: '•',
};

function drawMarkers(plot: uPlot, markers: readonly Marker[]): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const [from, to] = [plot.scales['x']?.min ?? 0, plot.scales['x']?.max ?? 0];
  ctx.save();
  ctx.font = `${10 * ratio}px ${palette().font}`;
  ctx.textAlign = 'center';
  for (const { at, kind, state } of markers) {
    if (at / 1000 < from || at / 1000 > to) continue;
    const x = Math.round(plot.valToPos(at / 1000, 'x', true)) + 0.5;
    const color = state === 'good' ? palette().faint : palette().states[state];
    ctx.strokeStyle = color;
    ctx.fillStyle = color;
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.globalAlpha = 0.7;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillText(markerSigns[kind], x, bbox.top - 3 * ratio);
  }
  ctx.restore();
}
