import { useEffect, useId, useRef } from 'preact/hooks';
import { visible } from '../text';

export interface MenuItem {
  readonly title: string;
  /** Absent: an item that does something; otherwise one that is on or off. */
  readonly checked?: boolean;
  run(): void;
}

/** A button that opens a list of commands; arrow keys move in it, Escape closes it. */
export function Menu({
  label,
  text,
  items,
  class: className = '',
  isTabStop = true,
}: {
  /** For screen readers and on hover. */
  readonly label: string;
  readonly text: string;
  readonly items: readonly MenuItem[];
  readonly class?: string;
  /** Off in rows other than the one with the focus: Tab would lead through all of them. */
  readonly isTabStop?: boolean;
}) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  /** Where the button was when the list was opened. */
  const top = useRef(0);

  const isOpen = (): boolean => list.current?.matches(':popover-open') ?? false;
  const close = (): void => {
    if (isOpen()) list.current?.hidePopover();
    button.current?.focus({ preventScroll: true });
  };
  const open = (): void => {
    const popup = list.current;
    const anchor = button.current?.getBoundingClientRect();
    if (popup === null || anchor === undefined) return;
    top.current = anchor.top;
    popup.showPopover();
    const { width, height } = popup.getBoundingClientRect();
    const below = anchor.bottom + height <= innerHeight;
    popup.style.left = `${Math.max(4, Math.min(anchor.right - width, innerWidth - width - 4))}px`;
    popup.style.top = `${Math.max(4, below ? anchor.bottom : anchor.top - height)}px`;
    popup.querySelector<HTMLElement>('[role^=menuitem]')?.focus({ preventScroll: true });
  };
  const move = (event: KeyboardEvent): void => {
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
    const at = buttons.findIndex((each) => each === document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      close();
    } else if (next !== undefined) {
      event.preventDefault();
      buttons.at(next % Math.max(1, buttons.length))?.focus({ preventScroll: true });
    }
    event.stopPropagation();
  };

  useEffect(() => {
    // A list that stayed where it was while its button went away would belong to nothing.
    const hide = (): void => {
      const now = button.current?.getBoundingClientRect().top ?? 0;
      if (isOpen() && Math.abs(now - top.current) > 4) list.current?.hidePopover();
    };
    addEventListener('scroll', hide, true);
    return () => removeEventListener('scroll', hide, true);
  }, []);

  return (
    <span class="menu">
      <button
        ref={button}
        type="button"
        class={`icon ${className}`}
        tabIndex={isTabStop ? 0 : -1}
        aria-haspopup="menu"
        aria-controls={id}
        aria-label={label}
        title={label}
        onClick={(event) => {
          event.stopPropagation();
          if (isOpen()) close();
          else open();
        }}
      >
        {text}
      </button>
      <div ref={list} id={id} popover="auto" role="menu" aria-label={label} class="popup" onKeyDown={move}>
        {items.map((item) => (
          <button
            key={item.title}
            type="button"
            tabIndex={-1}
            role={item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
            {...(item.checked === undefined ? {} : { 'aria-checked': item.checked })}
            onClick={(event) => {
              event.stopPropagation();
              close();
              item.run();
            }}
          >
            <span class="check" aria-hidden="true">
              {item.checked === true ? '✓' : ''}
            </span>
            {visible(item.title)}
          </button>
        ))}
      </div>
    </span>
  );
}
