import type { ChartGroup, Marker } from '../../../server/src/panel/model';
import { markerSigns } from '../plot';
import { clockText, timeText } from '../numbers';
import { visible } from '../text';
import { ChartCard } from './chart';
import type { TimeWindow } from './chart';
import { EmptyNote, Part } from './section';
import { StateMark, stateWords } from './state';

/** Charts on one time axis, group by group. A group whose charts all lack the same thing says so once. */
export function Charts({
  groups,
  markers,
  window,
}: {
  readonly groups: readonly ChartGroup[];
  readonly markers: readonly Marker[];
  readonly window: TimeWindow;
}) {
  return (
    <>
      {groups.map(({ id, title, charts }) => {
        const contents = charts.map(({ content }) => content);
        const [first] = contents;
        const why = first?.kind === 'empty' ? first.why : undefined;
        const lacksAll =
          why !== undefined && contents.every((each) => each.kind === 'empty' && each.why === why);
        return (
          <Part key={id} id={`charts-${id}`} title={title}>
            {lacksAll && first?.kind === 'empty' ? (
              <EmptyNote empty={first} />
            ) : (
              <div class="charts">
                {charts.map((chart) => (
                  <ChartCard key={chart.id} chart={chart} window={window} markers={markers} />
                ))}
              </div>
            )}
          </Part>
        );
      })}
    </>
  );
}

/** What happened in the range, for the marks in the charts. */
export function Markers({ markers }: { readonly markers: readonly Marker[] }) {
  if (markers.length === 0) return null;
  return (
    <details class="markers">
      <summary>{markers.length === 1 ? '1 mark' : `${markers.length} marks`} in the charts</summary>
      <ul>
        {[...markers].reverse().map((marker, index) => (
          <li key={`${marker.at}-${marker.kind}-${index}`} title={visible(marker.detail)}>
            <time dateTime={new Date(marker.at).toISOString()} title={timeText(marker.at)}>
              {clockText(marker.at, true)}
            </time>
            <span class="sign" aria-hidden="true">
              {markerSigns[marker.kind]}
            </span>
            <StateMark state={marker.state} label={stateWords[marker.state]} /> {visible(marker.label)}
            <span class="faint"> {visible(marker.detail)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
