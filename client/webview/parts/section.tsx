import type { ComponentChildren } from 'preact';
import type { Action, Empty, Section } from '../../../server/src/panel/model';
import { usePage } from '../context';
import { visible } from '../text';
import { withItem } from '../ui-state';
import { StateMark, stateWords } from './state';

/** A part of the page with a heading, which can be folded and jumped to. */
export function Part({
  id,
  title,
  aside,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const { ui, change } = usePage();
  const isOpen = !ui.folded.includes(id);
  return (
    <section class="part" id={targetId(id)} aria-labelledby={`title-${id}`} tabIndex={-1}>
      <div class="part-head">
        <h2 id={`title-${id}`}>
          <button
            type="button"
            class="fold"
            aria-expanded={isOpen}
            onClick={() => change({ folded: withItem(ui.folded, id, isOpen) })}
          >
            <span class="twistie" aria-hidden="true" />
            {visible(title)}
          </button>
        </h2>
        {isOpen && aside}
      </div>
      {isOpen && children}
    </section>
  );
}

/** The id of the element that an intent `show` with this target scrolls to. */
export function targetId(target: string): string {
  return `target-${target}`;
}

/** What a section holds, or why it holds nothing. */
export function Content<T>({
  section,
  children,
}: {
  readonly section: Section<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (section.kind === 'empty') return <EmptyNote empty={section} />;
  return (
    <>
      {children(section.value)}
      <Notes notes={section.notes ?? []} />
    </>
  );
}

export function EmptyNote({ empty }: { readonly empty: Empty }) {
  return (
    <div class="empty">
      <p>
        <StateMark state={empty.state} label={stateWords[empty.state]} /> {visible(empty.why)}
        {empty.whatToDo !== '' && <span class="todo"> {visible(empty.whatToDo)}</span>}
      </p>
      <Actions actions={empty.actions} />
    </div>
  );
}

export function Notes({ notes }: { readonly notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>{visible(note)}</li>
      ))}
    </ul>
  );
}

/** Buttons. The first may stand out. */
export function Actions({
  actions,
  primary = false,
}: {
  readonly actions: readonly Action[];
  readonly primary?: boolean;
}) {
  const { host } = usePage();
  if (actions.length === 0) return null;
  return (
    <div class="actions">
      {actions.map(({ title, intent }, index) => (
        <button
          key={title}
          type="button"
          class={primary && index === 0 ? 'button primary' : 'button'}
          onClick={() => host.act(intent)}
        >
          {visible(title)}
        </button>
      ))}
    </div>
  );
}
