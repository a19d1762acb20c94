import type { Tile } from '../../../server/src/panel/model';
import { usePage } from '../context';
import { visible } from '../text';
import { Sparkline } from './sparkline';
import { StateMark } from './state';

export function Tiles({ tiles }: { readonly tiles: readonly Tile[] }) {
  // All in one row, or in two: never one alone in a row of its own.
  const columns = { '--columns': tiles.length, '--narrow-columns': Math.ceil(tiles.length / 2) };
  return (
    <ul class="tiles" aria-label="Key figures" style={columns}>
      {tiles.map((tile) => (
        <li key={tile.id}>
          <TileButton tile={tile} />
        </li>
      ))}
    </ul>
  );
}

function TileButton({ tile }: { readonly tile: Tile }) {
  const { host } = usePage();
  const { title, shown, caption, state, word, sparkline, change, target } = tile;
  const isStale = shown.kind === 'value' && shown.stale !== undefined;
  return (
    <button
      type="button"
      class={`tile tile-${state}`}
      title={visible(shown.kind === 'value' ? shown.detail : `${shown.why} ${shown.whatToDo}`.trim())}
      onClick={() => host.act({ kind: 'show', target })}
    >
      <span class="tile-title">{visible(title)}</span>
      {shown.kind === 'value' ? (
        <span class={isStale ? 'tile-value stale' : 'tile-value'}>{visible(shown.text)}</span>
      ) : (
        <span class="tile-absent">
          {visible(shown.why)}
          {shown.whatToDo !== '' && <span class="todo"> {visible(shown.whatToDo)}</span>}
        </span>
      )}
      <span class="tile-state">
        <StateMark state={state} /> {visible(word)}
      </span>
      <span class="tile-caption">
        {shown.kind === 'value' && shown.stale !== undefined ? visible(shown.stale) : visible(caption)}
      </span>
      {change !== undefined && (
        <span class={`tile-change state-${change.state}`}>{visible(change.text)}</span>
      )}
      {sparkline !== undefined && <Sparkline values={sparkline} />}
    </button>
  );
}
