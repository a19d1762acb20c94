/**
 * Names come from a cluster, where anybody may have written them. They reach the page as text only; what would not be
 * seen, or would turn the text around it, is shown as its code point.
 */

/** Controls, line and paragraph separators, and what changes the direction of the text around it. */
// eslint-disable-next-line no-control-regex
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text of one line, with everything that hides or misleads made visible: `a<U+202E>b` for a reversed name. */
export function visible(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `<U+${code}>`;
  });
}

/** As {@link visible}, for a text of several lines: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}

/**
 * A long name cut in the middle: the start says whose it is, and the end tells two pods of one Deployment apart. The
 * result is at most `length` characters.
 */
export function cutMiddle(text: string, length: number): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  const end = Math.min(12, Math.floor((length - 1) / 2));
  const start = Math.max(1, length - 1 - end);
  return `${characters.slice(0, start).join('')}…${characters.slice(characters.length - end).join('')}`;
}
