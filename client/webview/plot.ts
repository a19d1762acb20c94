import uPlot from 'uplot';
import type { AxisScale, Chart, ChartContent, Marker, Threshold } from '../../server/src/panel/model';
import { axisText, clockText, dayText, digits } from './numbers';
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
 * The range of the value axis: what the chart prescribes, else its data; thresholds that are near the data are in it,
 * so that one sees how near.
 */
export function valueRange(
  { min, max }: Pick<Chart, 'min' | 'max'>,
  low: number | null,
  high: number | null,
  thresholds: readonly Threshold[],
): readonly [number, number] {
  const top = high ?? 0;
  const near = thresholds.map(({ value }) => value).filter((value) => value <= Math.max(top, 0) * 2.5);
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
    const values = input.content.lines.flatMap(({ values: all }) => all).filter((value) => (value ?? 0) > 0);
    const least = Math.min(...values.map((value) => value ?? Infinity));
    const [from, to] = uPlot.rangeLog(
      Number.isFinite(least) ? least : 0.001,
      Math.max(high ?? 1, least),
      10,
      false,
    );
    return [from ?? 0.001, to ?? 1];
  };

  const options: uPlot.Options = {
    width,
    height: plotHeight,
    padding: [14, 8, 0, 0],
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
        values: (_plot, splits) => tickTexts(splits, input.chart.scale),
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
      plot.setCursor({ left: plot.valToPos(instant / 1000, 'x'), top: plotHeight / 2 });
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

function dataOf({ content, logarithmic }: PlotInput): uPlot.AlignedData {
  return [
    content.at.map((at) => at / 1000),
    ...content.lines.map(({ values }) =>
      // A logarithmic axis has no place for zero.
      logarithmic ? values.map((value) => (value === null || value > 0 ? value : null)) : [...values],
    ),
  ];
}

/** Ticks need as many digits as tell them apart. The unit is beside each, as in every number of the panel. */
function tickTexts(splits: readonly number[], scale: AxisScale): string[] {
  const texts = splits.map((value) => axisText(value, scale));
  return new Set(texts).size === texts.length ? texts : splits.map((value) => digits(value * scale.factor));
}

function timeLabel(at: number, { from, to }: PlotInput['window']): string {
  const date = new Date(at);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return to - from > 12 * 3_600_000 && isMidnight ? dayText(at) : clockText(at, to - from <= 5 * 60_000);
}

function drawThresholds(plot: uPlot, { content }: PlotInput): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const [low, high] = [plot.scales['y']?.min ?? 0, plot.scales['y']?.max ?? 0];
  ctx.save();
  ctx.font = `${10 * ratio}px ${palette().font}`;
  ctx.textAlign = 'right';
  for (const { value, label, state } of content.thresholds) {
    if (value < low || value > high) continue;
    const y = Math.round(plot.valToPos(value, 'y', true)) + 0.5;
    ctx.strokeStyle = palette().states[state];
    ctx.lineWidth = ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const text = visible(label);
    const isLow = y - bbox.top < 14 * ratio;
    const baseline = isLow ? y + 11 * ratio : y - 3 * ratio;
    // A ground for the text, since lines run through it.
    const wide = ctx.measureText(text).width;
    ctx.globalAlpha = 0.75;
    ctx.fillStyle = palette().background;
    ctx.fillRect(
      bbox.left + bbox.width - wide - 4 * ratio,
      baseline - 9 * ratio,
      wide + 4 * ratio,
      11 * ratio,
    );
    ctx.globalAlpha = 1;
    ctx.fillStyle = palette().foreground;
    ctx.fillText(text, bbox.left + bbox.width - 2 * ratio, baseline);
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
