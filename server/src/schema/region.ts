/** One document of a file, found by its markers alone: also one that is being typed and cannot be read. */
export interface Region {
  readonly start: number;
  readonly end: number;
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
}

const MARKER = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)[^\n]*\n?/gm;

/** A key at the top of a document, in block style, in flow style and in JSON. */
function topLevel(text: string, key: string): string | undefined {
  const block = new RegExp(
    `^["']?${key}["']?[ \\t]*:[ \\t]*(?:"([^"\\n]*)"|'([^'\\n]*)'|([^\\s#{}\\[\\],]+))`,
    'm',
  );
  const flow = new RegExp(
    `^\\s*\\{[^{}]*?["']?\\b${key}["']?\\s*:\\s*(?:"([^"\\n]*)"|'([^'\\n]*)'|([^\\s#{}\\[\\],]+))`,
  );
  const found = block.exec(text) ?? flow.exec(text);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

/** The document that an offset is in. A marker within a block scalar ends the document too, as YAML has it. */
export function regionAt(text: string, offset: number): Region {
  let start = 0;
  let end = text.length;
  for (const marker of text.matchAll(MARKER)) {
    const after = marker.index + marker[0].length;
    if (after <= offset && marker[0].trimEnd() !== marker[0]) start = after;
    else if (after <= offset && after === text.length) start = after;
    else if (marker.index >= offset) {
      end = marker.index;
      break;
    }
  }
  const own = text.slice(start, end);
  return { start, end, apiVersion: topLevel(own, 'apiVersion'), kind: topLevel(own, 'kind') };
}

/**
 * The text with everything outside of a region blank, and without what would lead away from our schema: the comment
 * `# yaml-language-server: $schema=...`. Positions stay what they are.
 */
export function only(text: string, { start, end }: Region): string {
  const blank = (part: string): string => part.replace(/[^\r\n]/g, ' ');
  const own = text
    .slice(start, end)
    .replace(/#[^\n]*yaml-language-server[^\n]*/g, (comment) => `#${' '.repeat(comment.length - 1)}`);
  return blank(text.slice(0, start)) + own + blank(text.slice(end));
}
