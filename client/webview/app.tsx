import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Intent, PanelModel } from '../../server/src/panel/model';
import type { FromPage, PanelState } from '../../server/src/protocol/panel';
import { PageProvider } from './context';
import { chartsCsv } from './csv';
import type { Host } from './host';
import { ageText } from './numbers';
import { Banner } from './parts/banner';
import { Charts, Markers } from './parts/charts';
import {
  Alarms,
  Baseline,
  ControlPlane,
  Cost,
  Logs,
  Overview,
  Readiness,
  SourceChips,
  Sources,
} from './parts/details';
import { Help } from './parts/help';
import type { MenuItem } from './parts/menu';
import { podFilterId, Pods } from './parts/pods';
import { Scaling } from './parts/scaling';
import { Content, EmptyNote, Part, targetId } from './parts/section';
import { Skeleton } from './parts/skeleton';
import { DataTable } from './parts/table';
import { Tiles } from './parts/tiles';
import type { RangeName } from './parts/toolbar';
import { rangeNames, Toolbar } from './parts/toolbar';
import { Triage } from './parts/triage';
import { picture } from './picture';
import { visible } from './text';
import type { UiState, View } from './ui-state';

export interface AppProps {
  readonly state: PanelState | undefined;
  /** When the state came. */
  readonly receivedAt: number;
  readonly ui: UiState;
  change(change: Partial<UiState>): void;
  send(message: FromPage): void;
}

/** Sections that are on another tab than the first. */
const views: Readonly<Record<string, View>> = { readiness: 'readiness', findings: 'readiness' };

export function App({ state, receivedAt, ui, change, send }: AppProps) {
  const model = state?.kind === 'model' ? state.model : undefined;
  const [asked, setAsked] = useState<RangeName | undefined>();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [target, setTarget] = useState<string | undefined>();
  const range = asked ?? model?.range ?? '1h';
  // What was asked for is shown until the answer is there.
  useEffect(() => setAsked(undefined), [model?.range]);

  /** The newest wish, also between two drawings: keys can come faster. */
  const wish = useRef(range);
  wish.current = range;
  const ask = useCallback(
    (next: RangeName) => {
      wish.current = next;
      setAsked(next);
      send({ type: 'range', range: next });
    },
    [send],
  );
  const host = useMemo<Host>(
    () => ({
      act: (intent: Intent) => {
        if (intent.kind === 'show') setTarget(intent.target);
        else send({ type: 'intent', intent });
      },
      save: (name, encoding, content) => send({ type: 'save', name, encoding, content }),
    }),
    [send],
  );
  const showView = target === undefined ? undefined : (views[target] ?? shownIn(ui.view, target));
  useEffect(() => {
    if (target === undefined) return;
    if (showView !== undefined && showView !== ui.view) change({ view: showView });
    else {
      const element = findTarget(target);
      const part = element?.closest('.part')?.id.replace(/^target-/, '');
      if (part !== undefined && ui.folded.includes(part)) {
        change({ folded: ui.folded.filter((each) => each !== part) });
      }
      if (element !== undefined) reveal(element);
      setTarget(undefined);
    }
  }, [target, ui.view]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const step = { '[': -1, ']': 1 }[event.key];
      if (step !== undefined) {
        const next = rangeNames[rangeNames.indexOf(wish.current) + step];
        if (next !== undefined) ask(next);
      } else if (event.key === 'r') send({ type: 'refresh' });
      else if (event.key === '?') setHelpOpen(true);
      else if (event.key === '/') {
        event.preventDefault();
        if (ui.view !== 'engineer') change({ view: 'engineer' });
        const unfolded = ui.folded.filter((each) => each !== 'pods');
        if (unfolded.length !== ui.folded.length) change({ folded: unfolded });
        // After the parts that it may bring back.
        setTimeout(() => document.getElementById(podFilterId)?.focus());
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [ask, send, ui.view, ui.folded]);

  const isKnown = state !== undefined && state.kind !== 'loading';
  return (
    <PageProvider value={{ host, ui, change }}>
      <Announcer model={model} />
      <Help isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
      {state?.kind === 'waiting' && (
        <main class="waiting">
          <h1>Plimsoll live panel</h1>
          <EmptyNote empty={state.empty} />
        </main>
      )}
      {!isKnown && <Skeleton title={state?.kind === 'loading' ? state.title : ''} />}
      {state?.kind === 'model' && (
        <Panel
          {...{ receivedAt, ui, range, host }}
          model={state.model}
          reading={state.reading}
          onRange={ask}
          onRefresh={() => send({ type: 'refresh' })}
          onHelp={() => setHelpOpen(true)}
        />
      )}
    </PageProvider>
  );
}

function Panel({
  model,
  reading,
  receivedAt,
  ui,
  range,
  host,
  onRange,
  onRefresh,
  onHelp,
}: {
  readonly model: PanelModel;
  readonly reading: boolean;
  readonly receivedAt: number;
  readonly ui: UiState;
  readonly range: RangeName;
  readonly host: Host;
  onRange(range: RangeName): void;
  onRefresh(): void;
  onHelp(): void;
}) {
  const now = useNow();
  const age = Math.max(0, now - receivedAt);
  const isOld = age > 2 * model.refresh;
  return (
    <div class={isOld ? 'panel old' : 'panel'}>
      <Toolbar
        {...{ model, range, reading, isOld, onRange, onRefresh, onHelp }}
        age={isOld ? `${ageText(age)} old` : `${ageText(age)} ago`}
        items={exportItems(model, host)}
      />
      <main id="view" role="tabpanel" aria-labelledby={`tab-${ui.view}`}>
        <Banner verdict={model.verdict} />
        {ui.view === 'engineer' && <Engineer model={model} />}
        {ui.view === 'overview' && (
          <>
            <Overview overview={model.overview} said={[model.verdict, ...model.verdict.also]} />
            <SourceChips sources={model.sources} />
            <PartOf id="sources" title="Sources">
              <Sources sources={model.sources} />
            </PartOf>
          </>
        )}
        {ui.view === 'readiness' && (
          <>
            <PartOf id="readiness" title="Production readiness">
              <Content section={model.readiness}>{(value) => <Readiness readiness={value} />}</Content>
            </PartOf>
            <PartOf id="findings" title="Findings in the manifest">
              <Content section={model.findings}>
                {(table) => <DataTable table={table} title="Findings" />}
              </Content>
            </PartOf>
          </>
        )}
      </main>
    </div>
  );
}

function Engineer({ model }: { readonly model: PanelModel }) {
  const triage = (
    <PartOf id="triage" title="Triage">
      <Content section={model.triage}>{(cases) => <Triage cases={cases} />}</Content>
    </PartOf>
  );
  const isUrgent = model.triage.kind === 'shown' && model.triage.value.length > 0;
  return (
    <>
      <Tiles tiles={model.tiles} />
      <SourceChips sources={model.sources} />
      <Charts groups={model.charts} markers={model.markers} window={model.window} />
      <Markers markers={model.markers} />
      {isUrgent && triage}
      <PartOf id="scaling" title="Scaling">
        <Content section={model.scaling}>{(value) => <Scaling scaling={value} />}</Content>
      </PartOf>
      <PartOf id="pods" title="Pods">
        <Content section={model.pods}>{(table) => <Pods table={table} />}</Content>
      </PartOf>
      {!isUrgent && triage}
      <PartOf id="alarms" title="Alarms">
        <Content section={model.alarms}>{(value) => <Alarms alarms={value} />}</Content>
      </PartOf>
      <div class="columns">
        <PartOf id="cost" title="Cost">
          <Content section={model.cost}>{(value) => <Cost cost={value} />}</Content>
        </PartOf>
        <PartOf id="baseline" title="Baseline">
          <Content section={model.baseline}>{(value) => <Baseline baseline={value} />}</Content>
        </PartOf>
        <PartOf id="control-plane" title="Control plane">
          <Content section={model.controlPlane}>{(value) => <ControlPlane view={value} />}</Content>
        </PartOf>
        <PartOf id="logs" title="Logs Insights">
          <Content section={model.logs}>{(value) => <Logs logs={value} />}</Content>
        </PartOf>
      </div>
      <PartOf id="sources" title="Sources">
        <Sources sources={model.sources} />
      </PartOf>
    </>
  );
}

function PartOf({
  id,
  title,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <Part id={id} title={title}>
      {children}
    </Part>
  );
}

/** Says the verdict to those who listen, once when it changes; not at each refresh. */
function Announcer({ model }: { readonly model: PanelModel | undefined }) {
  const verdict = model?.verdict;
  const said = useRef<{ key: string; text: string }>({ key: '', text: '' });
  const key = `${verdict?.name} ${verdict?.state} ${model?.title.text}`;
  if (verdict !== undefined && said.current.key !== key) {
    said.current = { key, text: visible(`${verdict.word}: ${verdict.sentence}`) };
  }
  return (
    <div role="status" aria-live="polite" class="unseen">
      {said.current.text}
    </div>
  );
}

function exportItems(model: PanelModel, host: Host): readonly MenuItem[] {
  const charts = model.charts.flatMap((group) => group.charts);
  return [
    { title: 'Copy as Markdown', run: () => host.act({ kind: 'copy', text: model.markdown }) },
    {
      title: 'Save charts as PNG',
      run: () => {
        const parts = charts.flatMap((chart) => {
          const canvas = document.getElementById(targetId(chart.id))?.querySelector('canvas');
          return canvas && chart.content.kind === 'shown'
            ? [{ title: chart.title, canvas, legend: chart.content.value.lines }]
            : [];
        });
        const heading = `${model.title.text}: ${model.verdict.word}`;
        if (parts.length > 0) host.save('charts.png', 'base64', picture(parts, heading));
      },
    },
    { title: 'Save charts as CSV', run: () => host.save('charts.csv', 'utf8', chartsCsv(charts)) },
    {
      title: 'Choose context or namespace',
      run: () => host.act({ kind: 'configure-source', source: 'kubernetes' }),
    },
    {
      title: 'Settings',
      run: () => host.act({ kind: 'open-settings', setting: 'plimsoll.live' }),
    },
  ];
}

/** The time, every five seconds while anybody looks. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, 5000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The view that has a target, when the present one has not. */
function shownIn(view: View, target: string): View | undefined {
  return findTarget(target) === undefined && view !== 'engineer' ? 'engineer' : undefined;
}

function findTarget(target: string): HTMLElement | undefined {
  const wanted = [
    target,
    target.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    `charts-${target}`,
  ];
  for (const each of wanted) {
    const found = document.getElementById(targetId(each));
    if (found !== null) return found;
  }
  return undefined;
}

function reveal(element: HTMLElement): void {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  element.scrollIntoView({ block: 'start', behavior: isCalm ? 'auto' : 'smooth' });
  element.focus({ preventScroll: true });
  element.classList.add('found');
  setTimeout(() => element.classList.remove('found'), 1500);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [popover], dialog') !== null
  );
}
