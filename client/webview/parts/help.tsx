import { useEffect, useRef } from 'preact/hooks';

const keys: readonly (readonly [string, string])[] = [
  ['/', 'Filter pods'],
  ['r', 'Refresh'],
  ['[', 'Shorter range'],
  [']', 'Longer range'],
  ['?', 'These keys'],
  ['↑ ↓', 'Row above or below, in a table'],
  ['Enter', 'First action of the row'],
  ['← →', 'Crosshair along the time axis, in a chart'],
  ['Esc', 'Close, or clear the filter'],
];

export function Help({ isOpen, onClose }: { readonly isOpen: boolean; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element === null || element.open === isOpen) return;
    if (isOpen) element.showModal();
    else element.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}
