import type { Container } from '../../kube/containers';
import { mapIn, numberIn, type ScalarNode, scalarIn, itemsIn, isScalar } from '../../yaml/node';

/** A pause that a `preStop` hook makes before the container is told to stop. */
export interface Pause {
  readonly seconds: number;
  /** Where it is written. */
  readonly node: ScalarNode;
}

const secondsIn: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600 };

/** `sleep 20`, `sleep 0.5m`, behind the start of a command. */
const sleep = /(?:^|[\s;&|(])(?:\/(?:usr\/)?bin\/)?sleep\s+(\d+(?:\.\d+)?)([smh]?)(?=$|[\s;&|)])/g;

/**
 * How long the `preStop` hook of a container sleeps at the least: its `sleep.seconds`, or every `sleep` of its command.
 * `undefined` without any that is known.
 */
export function preStopPause(container: Container): Pause | undefined {
  const hook = mapIn(container.node, 'lifecycle', 'preStop');
  const node = scalarIn(hook, 'sleep', 'seconds');
  const seconds = numberIn(hook, 'sleep', 'seconds');
  if (node !== undefined && seconds !== undefined) return { seconds, node };
  const words = itemsIn(hook, 'exec', 'command').filter(isScalar);
  if (words.some(({ unknown }) => unknown)) return undefined;
  const command = words.map(({ text }) => text).join(' ');
  let total = 0;
  for (const [, amount = '', unit = ''] of command.matchAll(sleep))
    total += Number(amount) * (secondsIn[unit] ?? 1);
  const at = words.find(({ text }) => /\bsleep\b/.test(text));
  return total === 0 || at === undefined ? undefined : { seconds: Math.round(total), node: at };
}
