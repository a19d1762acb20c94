import type { Container } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { toMemoryQuantity } from '../../kube/quantity';
import type { Resource } from '../../kube/resource';
import { durationText, quantityText } from '../../live/format';
import type { Duration } from '../../live/reading';
import { readingsOf } from '../../live/readings';
import type { Readings } from '../../live/readings';
import { defaultThresholds } from '../../live/thresholds';
import { replaceScalar } from '../../yaml/edit';
import { amountText, containerField, containerTitle, scalarLike, soleAmount } from '../resources/wording';
import { defineRule, type Fix } from '../rule';
import { hostNeedOf } from '../sizing/host-memory';
import { seenContainers, written, type SeenContainer } from './seen';

/** Room above what was measured, for what the range did not show. */
const room = 1.15;

const leastPoints = 60;
const leastRange: Duration = 50 * 60_000;

/** Under these a difference is not worth a change. */
const leastDifference = { cpu: 0.5, memory: 1024 ** 3 };

export default defineRule({
  id: 'request-far-from-use',
  summary: 'A request says what a container uses',
  severity: 'info',
  needs: 'live',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  options: {
    over: {
      default: defaultThresholds.requestOver,
      description: 'Request of what is used, above which it is too large',
      schema: { type: 'number', minimum: 1 },
    },
  },
  check(resource, { report, live, options, models }) {
    const readings = readingsOf(live);
    for (const seen of seenContainers(resource, live)) {
      for (const name of ['cpu', 'memory'] as const) {
        const use = useOf(readings, seen, name);
        const request = written(seen.container, 'requests', name);
        const amount = soleAmount(seen.container.requests, name);
        if (use === undefined || request === undefined || amount === undefined) continue;
        const server = modelServerOf(seen.container);
        const need =
          name === 'memory' && server !== undefined ? hostNeedOf(server, models)?.wanted : undefined;
        // What loading the model takes is not seen in a range in which nothing was loaded.
        const suggested = suggestion(name, Math.max(use.value * room, need ?? 0));
        const difference = Math.abs(request - use.value);
        if (difference < leastDifference[name]) continue;
        const tooSmall = request < use.value;
        if (!tooSmall && request <= Math.max(use.value * options.over, suggested.value)) continue;
        const unit = name === 'cpu' ? 'cores' : 'bytes';
        const used = quantityText(use.value, unit);
        const title = containerTitle(seen.container);
        const what = name === 'cpu' ? 'CPU' : 'memory';
        report({
          at: amount.entry.value.kind === 'scalar' ? amount.entry.value : amount.entry,
          message: tooSmall
            ? `${title} requests ${amountText(amount)} of ${what} and uses ${used} (${use.what} of ${durationText(use.range)}); the scheduler counts on what is not there`
            : `${title} requests ${amountText(amount)} of ${what} and uses ${used} (${use.what} of ${durationText(use.range)}); the rest is paid for and lies idle`,
          fixes: [
            requestFix(
              resource,
              seen.container,
              name,
              suggested.text,
              used,
              need !== undefined && need > use.value * room,
            ),
          ],
          evidence: [
            `${use.points} points of ${use.pods} pods over ${durationText(use.range)}, source ${use.source}`,
            ...(need === undefined ? [] : [`loading the model needs ${quantityText(need, 'bytes')}`]),
          ],
          ...containerField(seen.container),
        });
      }
    }
  },
});

interface Use {
  readonly value: number;
  /** `p95`, `maximum`. */
  readonly what: string;
  readonly points: number;
  readonly pods: number;
  readonly range: Duration;
  readonly source: string;
}

/**
 * What a container uses: of CPU the 95th percentile of the busiest pod, of memory the maximum, because memory that is
 * short kills. Only from enough points.
 */
function useOf(
  readings: Readings,
  { container, running }: SeenContainer,
  name: 'cpu' | 'memory',
): Use | undefined {
  const pods = new Set(running.map(({ pod }) => pod.pod.name));
  const series = readings
    .series(name === 'cpu' ? 'cpu.usage' : 'memory.working-set')
    .filter(
      ({ subject }) =>
        subject.kind === 'pod' && pods.has(subject.pod.name) && subject.container === container.name,
    );
  let points = 0;
  let range = 0;
  let value: number | undefined;
  for (const { at, values } of series) {
    const known = values.filter((one) => one !== null).sort((a, b) => a - b);
    const first = at[0];
    const last = at.at(-1);
    if (known.length < leastPoints || first === undefined || last === undefined || last - first < leastRange)
      continue;
    const found = name === 'cpu' ? known[Math.ceil(known.length * 0.95) - 1] : known.at(-1);
    if (found === undefined) continue;
    points += known.length;
    range = Math.max(range, last - first);
    value = Math.max(value ?? 0, found);
  }
  const source = series[0]?.source;
  if (value === undefined || source === undefined || value <= 0) return undefined;
  return {
    value,
    what: name === 'cpu' ? 'p95' : 'maximum',
    points,
    pods: series.length,
    range,
    source: source.from,
  };
}

function suggestion(
  name: 'cpu' | 'memory',
  wanted: number,
): { readonly value: number; readonly text: string } {
  if (name === 'memory') {
    const text = toMemoryQuantity(wanted);
    return { value: Number(text.slice(0, -2)) * 1024 ** 3, text };
  }
  const milli = Math.max(100, Math.ceil(wanted * 10) * 100);
  return { value: milli / 1000, text: milli % 1000 === 0 ? String(milli / 1000) : `${milli}m` };
}

function requestFix(
  resource: Resource,
  container: Container,
  name: 'cpu' | 'memory',
  text: string,
  used: string,
  byModel: boolean,
): Fix | undefined {
  const amount = soleAmount(container.requests, name);
  if (amount?.entry.value.kind !== 'scalar') return undefined;
  const limit = written(container, 'limits', name);
  const wanted =
    name === 'memory'
      ? Number(text.slice(0, -2)) * 1024 ** 3
      : text.endsWith('m')
        ? Number(text.slice(0, -1)) / 1000
        : Number(text);
  // A request above the limit is refused, and the limit is another decision.
  if (limit !== undefined && wanted > limit) return undefined;
  const edits = replaceScalar(
    resource.placed.document,
    amount.entry.value,
    scalarLike(amount.entry.value, text),
  );
  const why = byModel ? 'what loading the model needs' : `${used} x ${room}`;
  return edits && { title: `Request ${text} of ${name}, ${why}`, safe: false, edits };
}
