import { findPort, probesOf, runningContainers, type Container } from '../../kube/containers';
import type { Count } from '../../kube/count';
import { podTemplates } from '../../kube/pod-carriers';
import type { Probe } from '../../kube/probes';
import { entryOf, getIn, isNull, type YamlNode } from '../../yaml/node';
import { inSentence } from '../naming';
import { carriesTheWork, containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';

export default defineRule({
  id: 'probes-identical',
  summary: 'A liveness probe is slower to give up than the readiness probe on the same thing',
  severity: 'info',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      for (const container of runningContainers(template)) {
        // Restarting a proxy costs nothing; a model takes minutes to load again.
        if (!carriesTheWork(container)) continue;
        const { liveness, readiness } = probesOf(container);
        if (liveness === undefined || readiness === undefined) continue;
        const seconds = failsAfter(liveness, readiness);
        if (seconds === undefined || !sameHandler(container, liveness, readiness)) continue;
        report({
          at: liveness.entry,
          message: `The liveness and readiness probes of ${inSentence(containerTitle(container))} ask the same and give up after the same ${seconds} s: a server that is only busy is restarted and loads its model again, instead of being left alone for a while`,
          related: [{ resource, at: readiness.entry, message: 'The readiness probe is the same' }],
          ...containerField(container),
        });
      }
    }
  },
});

/** The seconds after which both fail for good, when all that decides it is known and the same. */
function failsAfter(liveness: Probe, readiness: Probe): number | undefined {
  const pairs: readonly (readonly [Count, Count])[] = [
    [liveness.periodSeconds, readiness.periodSeconds],
    [liveness.failureThreshold, readiness.failureThreshold],
    [liveness.timeoutSeconds, readiness.timeoutSeconds],
  ];
  if (!pairs.every(([a, b]) => a.known && b.known && a.value === b.value)) return undefined;
  const { periodSeconds, failureThreshold } = liveness;
  return periodSeconds.known && failureThreshold.known
    ? periodSeconds.value * failureThreshold.value
    : undefined;
}

/** What the API fills in where it is not written. */
const defaults: Readonly<Record<string, string>> = { path: '/', scheme: 'HTTP' };

function sameHandler(container: Container, a: Probe, b: Probe): boolean {
  const [first, ...others] = a.handlers;
  if (first === undefined || others.length > 0 || b.handlers.length !== 1 || b.handlers[0] !== first)
    return false;
  const left = getIn(a.node, first);
  const right = getIn(b.node, first);
  const keys = new Set([...keysOf(left), ...keysOf(right)]);
  return [...keys].every((key) => {
    const one = entryOf(left, key)?.value;
    const other = entryOf(right, key)?.value;
    if (key === 'port') return samePort(container, one, other);
    return same(one, other, defaults[key]);
  });
}

function keysOf(node: YamlNode | undefined): readonly string[] {
  return node?.kind === 'map' ? node.entries.map(({ key }) => key.text) : [];
}

/** A port's name and its number are the same port. */
function samePort(container: Container, a: YamlNode | undefined, b: YamlNode | undefined): boolean {
  if (a?.kind !== 'scalar' || b?.kind !== 'scalar' || a.unknown || b.unknown) return same(a, b);
  if (a.value === b.value) return true;
  const left = findPort(container, a);
  const right = findPort(container, b);
  return (
    left.state === 'found' &&
    right.state === 'found' &&
    left.number.known &&
    right.number.known &&
    left.number.value === right.number.value
  );
}

/** Equal and known all through; `absent` is what nothing at all means. */
function same(a: YamlNode | undefined, b: YamlNode | undefined, absent?: string): boolean {
  if (isNull(a) || isNull(b)) {
    if (isNull(a) && isNull(b)) return true;
    const written = isNull(a) ? b : a;
    return absent !== undefined && written?.kind === 'scalar' && !written.unknown && written.text === absent;
  }
  if (a === undefined || b === undefined || a.kind !== b.kind) return false;
  if (a.kind === 'scalar') return b.kind === 'scalar' && !a.unknown && !b.unknown && a.value === b.value;
  if (a.kind === 'sequence') {
    if (b.kind !== 'sequence' || a.open || b.open || a.items.length !== b.items.length) return false;
    return a.items.every((item, index) => same(item, b.items[index]));
  }
  if (b.kind !== 'map' || a.open || b.open) return false;
  const keys = new Set([...keysOf(a), ...keysOf(b)]);
  return [...keys].every((key) => same(entryOf(a, key)?.value, entryOf(b, key)?.value));
}
