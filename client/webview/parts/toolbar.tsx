import type { PanelModel } from '../../../server/src/panel/model';
import { usePage } from '../context';
import { visible } from '../text';
import type { View } from '../ui-state';
import { views } from '../ui-state';
import { Menu } from './menu';
import type { MenuItem } from './menu';
import { Name } from './name';
import { StateMark } from './state';

export type RangeName = PanelModel['range'];

export const rangeNames: readonly RangeName[] = ['15m', '1h', '6h', '24h', '7d'];

const rangeTitles: Readonly<Record<RangeName, string>> = {
  '15m': '15 minutes',
  '1h': '1 hour',
  '6h': '6 hours',
  '24h': '24 hours',
  '7d': '7 days',
};

const viewTitles: Readonly<Record<View, string>> = {
  engineer: 'Engineer',
  overview: 'Overview',
  readiness: 'Readiness',
};

export function Toolbar({
  model,
  range,
  reading,
  age,
  isOld,
  onRange,
  onRefresh,
  onHelp,
  items,
}: {
  readonly model: PanelModel;
  /** What was asked for, which the model may not show yet. */
  readonly range: RangeName;
  readonly reading: boolean;
  /** `12 s ago`. */
  readonly age: string;
  readonly isOld: boolean;
  onRange(range: RangeName): void;
  onRefresh(): void;
  onHelp(): void;
  readonly items: readonly MenuItem[];
}) {
  const { ui, change, host } = usePage();
  const { title, verdict } = model;
  const { place } = title;
  return (
    <header class="toolbar">
      <div class="bar">
        <div class="title">
          {title.demo && <span class="demo">DEMO</span>}
          <span class="subject">
            <span class="kind">{visible(title.kind)}</span>{' '}
            {place === undefined ? (
              <Name text={title.name} length={32} />
            ) : (
              <button
                type="button"
                class="link"
                title="Open the manifest"
                onClick={() => host.act({ kind: 'open-place', place })}
              >
                <Name text={title.name} length={32} />
              </button>
            )}
          </span>
          <button
            type="button"
            class="mini-verdict"
            title={visible(verdict.sentence)}
            onClick={() => host.act({ kind: 'show', target: 'verdict' })}
          >
            <StateMark state={verdict.state} /> {visible(verdict.word)}
          </button>
        </div>
        <div class="controls">
          <div class="segments" role="radiogroup" aria-label="Range">
            {rangeNames.map((each) => (
              <button
                key={each}
                type="button"
                role="radio"
                aria-checked={each === range}
                aria-label={rangeTitles[each]}
                tabIndex={each === range ? 0 : -1}
                onClick={() => onRange(each)}
                onKeyDown={(event) => {
                  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
                  const next = step === undefined ? undefined : rangeNames[rangeNames.indexOf(each) + step];
                  if (next === undefined) return;
                  event.preventDefault();
                  const at = event.currentTarget.parentElement?.children[rangeNames.indexOf(next)];
                  if (at instanceof HTMLElement) at.focus();
                  onRange(next);
                }}
              >
                {each}
              </button>
            ))}
          </div>
          <button
            type="button"
            class="icon"
            title="Refresh (r)"
            aria-label="Refresh"
            aria-keyshortcuts="r"
            onClick={onRefresh}
          >
            ⟳
          </button>
          <Menu label="Copy and export" text="⋯" items={items} />
          <button
            type="button"
            class="icon"
            title="Keys (?)"
            aria-label="Keys"
            aria-keyshortcuts="?"
            onClick={onHelp}
          >
            ?
          </button>
        </div>
      </div>
      <div class="bar second">
        <div class="tabs" role="tablist" aria-label="View">
          {views.map((view) => (
            <button
              key={view}
              type="button"
              role="tab"
              id={`tab-${view}`}
              aria-selected={ui.view === view}
              aria-controls="view"
              tabIndex={ui.view === view ? 0 : -1}
              onClick={() => change({ view })}
              onKeyDown={(event) => {
                const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                const next = step === undefined ? undefined : views[views.indexOf(view) + step];
                if (next === undefined) return;
                event.preventDefault();
                document.getElementById(`tab-${next}`)?.focus();
                change({ view: next });
              }}
            >
              {viewTitles[view]}
            </button>
          ))}
        </div>
        <p class="context" title={visible(title.context)}>
          {visible(title.context)}
        </p>
        <p class={isOld ? 'freshness old' : 'freshness'}>{reading ? 'reading…' : age}</p>
      </div>
    </header>
  );
}
