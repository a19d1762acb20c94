import { lineStyle } from './plot';
import { palette } from './palette';
import { visible } from './text';

export interface PicturePart {
  readonly title: string;
  readonly canvas: HTMLCanvasElement;
  readonly legend: readonly { readonly label: string; readonly dashed: boolean }[];
}

/** Charts below each other, with their titles and legends, on the theme's ground: a PNG in base64. */
export function picture(parts: readonly PicturePart[], heading?: string): string {
  const ratio = devicePixelRatio;
  const font = palette().font;
  const line = 18 * ratio;
  const edge = 12 * ratio;
  const width = Math.max(300 * ratio, ...parts.map(({ canvas }) => canvas.width)) + 2 * edge;
  const height =
    2 * edge +
    (heading === undefined ? 0 : line * 1.5) +
    parts.reduce((sum, { canvas }) => sum + canvas.height + 2 * line, 0);
  const target = document.createElement('canvas');
  target.width = width;
  target.height = height;
  const ctx = target.getContext('2d');
  if (ctx === null) return '';
  ctx.fillStyle = palette().background;
  ctx.fillRect(0, 0, width, height);
  ctx.textBaseline = 'middle';
  let y = edge;
  const write = (text: string, x: number, weight: string, color: string): number => {
    ctx.font = `${weight} ${12 * ratio}px ${font}`;
    ctx.fillStyle = color;
    ctx.fillText(visible(text), x, y + line / 2);
    return x + ctx.measureText(visible(text)).width;
  };
  if (heading !== undefined) {
    write(heading, edge, 'bold', palette().foreground);
    y += line * 1.5;
  }
  for (const { title, canvas, legend } of parts) {
    write(title, edge, 'bold', palette().foreground);
    y += line;
    ctx.drawImage(canvas, edge, y);
    y += canvas.height;
    let x = edge;
    legend.forEach(({ label, dashed }, index) => {
      const { color, dash } = lineStyle(index, dashed);
      ctx.strokeStyle = color;
      ctx.lineWidth = 2 * ratio;
      ctx.setLineDash(dash.map((each) => each * ratio));
      ctx.beginPath();
      ctx.moveTo(x, y + line / 2);
      ctx.lineTo(x + 16 * ratio, y + line / 2);
      ctx.stroke();
      x = write(label, x + 20 * ratio, 'normal', palette().faint) + 12 * ratio;
    });
    ctx.setLineDash([]);
    y += line;
  }
  return target.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
}
