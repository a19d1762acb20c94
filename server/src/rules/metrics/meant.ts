import { nearest } from '../nearest';

/** A metric that a name was probably meant to be. */
export interface Meant {
  readonly name: string;
  /** A slip of the pen, and not only a name of similar words. */
  readonly sure: boolean;
}

interface Names {
  readonly metrics: readonly { readonly name: string; readonly type?: string }[];
}

const seriesSuffix = /_(?:bucket|sum|count|created)$/;

/** The metric of a family that an unknown name was probably meant to be, with the suffix that was written. */
export function meantMetric(written: string, { metrics }: Names): Meant | undefined {
  const suffix = seriesSuffix.exec(written)?.[0] ?? '';
  const plain = metrics.map(({ name }) => name);
  const most = Math.max(1, Math.min(3, Math.floor(written.length / 8)));
  const close = nearest(written, plain, most);
  if (close !== undefined) return { name: close, sure: true };
  const base = written.slice(0, written.length - suffix.length);
  const histograms = metrics.filter(({ type }) => type === 'histogram' || type === 'summary');
  const series =
    suffix === ''
      ? undefined
      : nearest(
          base,
          histograms.map(({ name }) => name),
          most,
        );
  if (series !== undefined) return { name: series + suffix, sure: true };
  const same = plain.find((name) => sameWords(written, name));
  if (same !== undefined) return { name: same, sure: true };
  return mostWordsShared(written, plain);
}

function wordsOf(name: string): readonly string[] {
  return name.toLowerCase().split(/[_:.]/);
}

/** `..._GPU_UTILIZATION` for `..._GPU_UTIL`: one word is longer or shorter at its end; or the words in another order. */
function sameWords(a: string, b: string): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.length !== right.length) return false;
  if ([...left].sort().join() === [...right].sort().join()) return true;
  const different = left.flatMap((word, index) =>
    word === right[index] ? [] : [[word, right[index] ?? '']],
  );
  const [only, ...others] = different;
  const [x = '', y = ''] = only ?? [];
  return others.length === 0 && Math.min(x.length, y.length) >= 3 && (x.startsWith(y) || y.startsWith(x));
}

/** At least two words beside the prefix, and more than half of all. */
function mostWordsShared(written: string, names: readonly string[]): Meant | undefined {
  const own = new Set(wordsOf(written));
  let best: string | undefined;
  let bestShare = 0.5;
  for (const name of names) {
    const other = new Set(wordsOf(name));
    const shared = [...own].filter((word) => other.has(word)).length;
    const share = shared / new Set([...own, ...other]).size;
    if (shared >= 3 && share > bestShare) {
      best = name;
      bestShare = share;
    }
  }
  return best === undefined ? undefined : { name: best, sure: false };
}
