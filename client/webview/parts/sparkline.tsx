/**
 * A line without axes, behind a tile's value. It is decoration: the tile's text says the value, and the chart that the
 * tile leads to has a table. Gaps are gaps; a point alone between two gaps is a dot.
 */
export function Sparkline({ values }: { readonly values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <div class="sparkline" />;
  const least = Math.min(...known);
  const most = Math.max(...known);
  // Noise of a level line is not drawn as if it were a mountain: the height stands for a seventh of the value at least.
  const room = Math.max(0, (Math.abs(most) / 7 - (most - least)) / 2);
  const low = least - room;
  const high = most + room;
  const x = (index: number): number => (index / Math.max(1, values.length - 1)) * width;
  // A level line is drawn in the middle.
  const y = (value: number): number =>
    high === low ? height / 2 : height - 2 - ((value - low) / (high - low)) * (height - 4);
  let path = '';
  let isDrawing = false;
  values.forEach((value, index) => {
    if (value === null) {
      isDrawing = false;
      return;
    }
    path += `${isDrawing ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    if (!isDrawing && (values[index + 1] ?? null) === null) path += 'h0.1';
    isDrawing = true;
  });
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <path d={path} vector-effect="non-scaling-stroke" />
    </svg>
  );
}

const width = 120;
const height = 28;
