import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import type { Instant } from '../../server/src/autoscale/controller';
import type { Decision } from '../../server/src/autoscale/decide';
import { fillBehavior } from '../../server/src/autoscale/defaults';
import { explain } from '../../server/src/autoscale/explain';
import { hpaOfScaledObject } from '../../server/src/autoscale/keda';
import { assessLiveStatus, readHpaStatus } from '../../server/src/autoscale/live-status';
import { readMilli, toDecimalText, toQuantityText } from '../../server/src/autoscale/milli';
import type { Pod } from '../../server/src/autoscale/pods';
import { readHpaSpec } from '../../server/src/autoscale/read-spec';
import type { HpaSpec, MetricSpec } from '../../server/src/autoscale/spec';
import { stabilizeBothWays, stabilizeDown } from '../../server/src/autoscale/stabilization';
import { initialState, step } from '../../server/src/autoscale/step';

const metric: MetricSpec = {
  type: 'External',
  metric: 'queue',
  target: { type: 'AverageValue', averageValue: 10_000n },
};

const policy = fc.record({
  type: fc.constantFrom('Pods' as const, 'Percent' as const),
  value: fc.integer({ min: 1, max: 200 }),
  periodSeconds: fc.integer({ min: 1, max: 120 }),
});

const rules = fc.record({
  stabilizationWindowSeconds: fc.option(fc.integer({ min: 0, max: 120 }), { nil: undefined }),
  selectPolicy: fc.constantFrom('Max' as const, 'Min' as const, 'Disabled' as const),
  policies: fc.array(policy, { minLength: 1, maxLength: 3 }),
  tolerance: fc.option(fc.double({ min: 0, max: 0.9, noNaN: true }), { nil: undefined }),
});

const spec = fc
  .record({
    minReplicas: fc.integer({ min: 1, max: 20 }),
    above: fc.integer({ min: 0, max: 60 }),
    behavior: fc.option(fc.tuple(rules, rules), { nil: undefined }),
  })
  .map(({ minReplicas, above, behavior }): HpaSpec => ({
    minReplicas,
    maxReplicas: minReplicas + above,
    metrics: [metric],
    behavior: behavior === undefined ? undefined : fillBehavior(...behavior),
  }));

/** Loads in pods' worth of work; undefined: the metric fails. Each is held for one sync. */
const loads = fc.array(fc.option(fc.double({ min: 0, max: 120, noNaN: true }), { nil: undefined }), {
  minLength: 1,
  maxLength: 40,
});

function podsOf(count: number): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `pod-${index}`,
    phase: 'Running',
    deleting: false,
    startTime: 0,
    ready: { status: 'True', since: 0 },
    containers: [],
  }));
}

const period = 15_010;

/** All pods are ready at once; nobody else changes the target. */
function play(given: HpaSpec, start: number, load: readonly (number | undefined)[]): readonly Decision[] {
  let replicas = start;
  let state = initialState;
  return load.map((value, index) => {
    const result = step(
      state,
      {
        spec: given,
        target: { specReplicas: replicas, statusReplicas: replicas, pods: podsOf(replicas) },
        readings: [
          value === undefined
            ? { kind: 'error', message: 'no answer' }
            : { kind: 'series', values: [BigInt(Math.round(value * 10_000))] },
        ],
      },
      index * period,
    );
    state = result.state;
    replicas = result.decision.to;
    return result.decision;
  });
}

test('the count stays between minimum and maximum once it is there', () => {
  fc.assert(
    fc.property(spec, fc.integer({ min: 1, max: 100 }), loads, (given, start, load) => {
      for (const { to } of play(given, start, load)) {
        assert.ok((to >= given.minReplicas && to <= given.maxReplicas) || to === start);
      }
      const [first, second] = play(given, start, [load[0], load[0]]);
      const inside = start >= given.minReplicas && start <= given.maxReplicas;
      assert.equal(first?.kind === 'clamped', !inside);
      assert.ok(second !== undefined && second.from >= given.minReplicas && second.from <= given.maxReplicas);
    }),
  );
});

test('with behavior no step goes against what the metrics ask for', () => {
  fc.assert(
    fc.property(spec, fc.integer({ min: 1, max: 80 }), loads, (given, start, load) => {
      for (const decision of play(
        { ...given, behavior: given.behavior ?? fillBehavior({}, {}) },
        start,
        load,
      )) {
        if (decision.kind !== 'computed') continue;
        const wish = decision.proposal.replicas - decision.from;
        const change = decision.to - decision.from;
        assert.ok(wish >= 0 ? change >= 0 && change <= Math.max(wish, 0) : change <= 0);
      }
    }),
  );
});

test('a failed sync changes nothing and remembers nothing', () => {
  fc.assert(
    fc.property(spec, loads, (given, load) => {
      const start = given.minReplicas;
      const decisions = play(given, start, load);
      decisions.forEach(({ kind, from, to }, index) => {
        if (load[index] === undefined) assert.deepEqual([kind, to], ['failed', from]);
      });
    }),
  );
});

test('a policy of so many pods per period is kept in every period', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 120 }),
      loads,
      (value, periodSeconds, load) => {
        const behavior = fillBehavior(
          { policies: [{ type: 'Pods', value, periodSeconds }] },
          { selectPolicy: 'Disabled' },
        );
        const decisions = play({ minReplicas: 1, maxReplicas: 1000, metrics: [metric], behavior }, 1, load);
        for (const last of decisions) {
          const added = decisions
            .filter(({ at }) => at <= last.at && at > last.at - periodSeconds * 1000)
            .reduce((sum, { from, to }) => sum + to - from, 0);
          assert.ok(added <= value, `${added} added in ${periodSeconds} s`);
        }
      },
    ),
  );
});

test('nothing is removed that was asked for within the scale-down window', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 1, max: 50 }),
      loads,
      (seconds, start, load) => {
        const behavior = fillBehavior({}, { stabilizationWindowSeconds: seconds });
        const decisions = play(
          { minReplicas: 1, maxReplicas: 200, metrics: [metric], behavior },
          start,
          load,
        );
        for (const now of decisions) {
          if (now.to >= now.from) continue;
          for (const earlier of decisions) {
            if (earlier.kind !== 'computed' || earlier.at > now.at || earlier.at <= now.at - seconds * 1000)
              continue;
            assert.ok(now.to >= Math.min(earlier.proposal.replicas, now.from));
          }
        }
      },
    ),
  );
});

test('under a steady load the count comes to rest near what the load needs', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 40, noNaN: true }),
      fc.integer({ min: 1, max: 40 }),
      (load, start) => {
        const behavior = fillBehavior({}, { stabilizationWindowSeconds: 0 });
        const given = { minReplicas: 1, maxReplicas: 50, metrics: [metric], behavior };
        const decisions = play(
          given,
          start,
          Array.from({ length: 20 }, () => load),
        );
        const last = decisions.at(-1);
        assert.ok(last !== undefined && last.to === last.from);
        const needed = Math.max(1, Math.ceil(Math.round(load * 10_000) / 10_000));
        assert.ok(last.to === needed || Math.abs(load / last.to - 1) <= 0.1001, `${last.to} for ${load}`);
      },
    ),
  );
});

test('more load never asks for fewer replicas', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 100, noNaN: true }),
      (start, one, other) => {
        const given = { minReplicas: 1, maxReplicas: 100, metrics: [metric], behavior: undefined };
        const ask = (load: number): number => {
          const [decision] = play(given, start, [load]);
          return decision?.kind === 'computed' ? decision.proposal.replicas : Number.NaN;
        };
        assert.ok(ask(Math.min(one, other)) <= ask(Math.max(one, other)));
      },
    ),
  );
});

const recommendations = fc.array(
  fc.record({ at: fc.integer({ min: 0, max: 600_000 }), replicas: fc.integer({ min: 0, max: 50 }) }),
  { maxLength: 12 },
);
const now: Instant = 600_000;
const count = fc.integer({ min: 0, max: 50 });
const window = fc.integer({ min: 0, max: 600_000 });

test('a longer scale-down window never gives a lower count, a longer scale-up window never a higher one', () => {
  fc.assert(
    fc.property(
      recommendations,
      count,
      count,
      window,
      window,
      window,
      (given, current, proposal, a, b, other) => {
        const [short, long] = a < b ? [a, b] : [b, a];
        const legacy = (length: number): number => stabilizeDown(given, proposal, length, now).replicas;
        assert.ok(legacy(short) <= legacy(long) && legacy(short) >= proposal);
        const both = (up: number, down: number): number =>
          stabilizeBothWays(given, current, proposal, { up, down }, now).replicas;
        assert.ok(both(other, short) <= both(other, long));
        assert.ok(both(short, other) >= both(long, other));
        const between = both(a, b);
        assert.ok(between >= Math.min(current, proposal) && between <= Math.max(current, proposal));
      },
    ),
  );
});

test('what holds the count is always named', () => {
  fc.assert(
    fc.property(recommendations, count, count, window, window, (given, current, proposal, up, down) => {
      for (const result of [
        stabilizeDown(given, proposal, down, now),
        stabilizeBothWays(given, current, proposal, { up, down }, now),
      ]) {
        assert.equal(result.heldBy === undefined, result.replicas === proposal);
      }
    }),
  );
});

test('every decision can be explained, and its first line begins with the result', () => {
  fc.assert(
    fc.property(spec, fc.integer({ min: 0, max: 80 }), loads, (given, start, load) => {
      for (const decision of play(given, start, load)) {
        const { summary, lines } = explain(decision, given);
        const { from, to } = decision;
        assert.ok(summary.startsWith(from === to ? `stays at ${from}` : `${from} -> ${to}`));
        assert.ok(
          !/undefined|NaN|Infinity/.test([summary, ...lines.map(({ text }) => text)].join('\n')),
          summary,
        );
      }
    }),
  );
});

test('quantity texts are read back as the same value', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (milli) => {
      assert.equal(readMilli(toQuantityText(milli)), milli);
      assert.equal(readMilli(toDecimalText(milli)), milli);
    }),
  );
});

test('any plain data is read or refused with a reason, never with an exception', () => {
  const known: HpaSpec = { minReplicas: 1, maxReplicas: 3, metrics: [metric], behavior: undefined };
  const field = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('External', 'Resource', 'cpu', 'Value', 'AverageValue', '10', 10),
  );
  const nested = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      field,
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          'metadata',
          'name',
          'spec',
          'maxReplicas',
          'metrics',
          'type',
          'external',
          'metric',
          'target',
          'value',
          'behavior',
          'scaleUp',
          'policies',
          'triggers',
          'currentMetrics',
          'conditions',
          'current',
          'averageValue',
        ),
        tie('node'),
      ),
    ),
  })).node;
  fc.assert(
    fc.property(nested, (value) => {
      const hpa = readHpaSpec(value);
      assert.ok(hpa.ok || hpa.problems.length > 0);
      const keda = hpaOfScaledObject(value);
      assert.ok(keda.kind !== 'unknown' || keda.problems.length > 0);
      const status = readHpaStatus(value, known);
      if (status.ok) assessLiveStatus(known, status.status);
      else assert.ok(status.problems.length > 0);
    }),
    { numRuns: 500 },
  );
});
