/** Names that are cut in the middle are copied whole. */
export function wholeNamesOnCopy(): void {
  document.addEventListener('copy', (event) => {
    const selection = document.getSelection();
    if (selection === null || selection.rangeCount === 0 || selection.isCollapsed) return;
    const range = selection.getRangeAt(0);
    const text = textOf(range);
    if (text === undefined) return;
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  });
}

/** The selected text with whole names; nothing when no name is in it. */
function textOf(range: Range): string | undefined {
  const { commonAncestorContainer: inside } = range;
  const element = inside instanceof Element ? inside : inside.parentElement;
  const name = element?.closest<HTMLElement>('[data-copy]');
  if (name !== null && name !== undefined) {
    return range.toString() === name.textContent ? name.dataset['copy'] : undefined;
  }
  const copy = document.createElement('div');
  copy.className = 'unseen';
  copy.append(range.cloneContents());
  const names = copy.querySelectorAll<HTMLElement>('[data-copy]');
  if (names.length === 0) return undefined;
  for (const each of names) each.textContent = each.dataset['copy'] ?? each.textContent;
  // Only text that is laid out has the line ends of its rows.
  document.body.append(copy);
  const text = copy.innerText;
  copy.remove();
  return text;
}
