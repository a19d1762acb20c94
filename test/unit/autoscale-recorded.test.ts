import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { defaultController } from '../../server/src/autoscale/controller';
import { readMilli } from '../../server/src/autoscale/milli';
import type { Pod } from '../../server/src/autoscale/pods';
import { readHpaSpec } from '../../server/src/autoscale/read-spec';
import type { MetricReading } from '../../server/src/autoscale/reading';
import { initialState, step } from '../../server/src/autoscale/step';
import { flags, runs } from '../vectors/data/hpa-runs';
import type { Run } from '../vectors/data/hpa-runs';
import { run as runVectors } from '../vectors/hpa';
import { run as runTraces } from '../vectors/hpa-traces';

/** The entry that holds at a sync: the last one that began. */
function at<T extends readonly [number, ...unknown[]]>(list: readonly T[], sync: number): T | undefined {
  return list.findLast(([from]) => from <= sync);
}

function podsOf(count: number, ready: number): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `pod-${index}`,
    phase: 'Running',
    deleting: false,
    startTime: 0,
    ready: { status: index < ready ? 'True' : 'False', since: 0 },
    containers: [],
  }));
}

function readingOf(answer: readonly number[] | 'error' | null | undefined): MetricReading {
  if (answer === 'error' || answer === null || answer === undefined)
    return { kind: 'error', message: 'refused' };
  return { kind: 'series', values: answer.map((value) => readMilli(value) ?? 0n) };
}

function replay(run: Run): { readonly proposals: Run['proposals']; readonly changes: Run['changes'] } {
  const reading = readHpaSpec(run.hpa);
  assert.ok(reading.ok, 'the spec can be read');
  const proposals: [number, number | null][] = [];
  const changes: [number, number][] = [];
  let replicas = run.start;
  let state = initialState;
  for (let sync = 0; sync < run.syncs; sync += 1) {
    const edit = run.edits.find(([before]) => before === sync);
    if (edit !== undefined) replicas = edit[1];
    const [, status, ready] = at(run.created, sync) ?? [sync, replicas, replicas];
    const [, ...answers] = at(run.loads, sync) ?? [sync];
    const result = step(
      state,
      {
        spec: reading.spec,
        target: { specReplicas: replicas, statusReplicas: status, pods: podsOf(status, ready) },
        readings: answers.map(readingOf),
      },
      // A sync follows the one before it by its period and some milliseconds.
      2_000 + sync * 2_008,
      { ...defaultController, ...flags },
    );
    state = result.state;
    const { decision } = result;
    const proposal = decision.kind === 'computed' ? decision.proposal.replicas : null;
    if (proposals.length === 0 || proposals.at(-1)?.[1] !== proposal) proposals.push([sync, proposal]);
    if (decision.to !== decision.from) changes.push([sync, decision.to]);
    replicas = decision.to;
  }
  return { proposals, changes };
}

for (const run of runs) {
  test(`a run of the real controller: ${run.name}`, () => {
    const { proposals, changes } = replay(run);
    assert.deepEqual(changes, run.changes);
    assert.deepEqual(proposals, run.proposals);
  });
}

for (const [file, runner] of [
  ['hpa-vectors.json', runVectors],
  ['hpa-traces.json', runTraces],
] as const) {
  const path = join(__dirname, '../../../shared/facts', file);
  const skip = existsSync(path) ? false : `${file} is not beside the project`;
  test(`every case of ${file}`, { skip }, async () => {
    const { differences, summary, ok } = await runner(JSON.parse(readFileSync(path, 'utf8')), []);
    assert.deepEqual(differences, []);
    assert.match(summary, /^(\d+) of \1$/);
    assert.ok(ok);
  });
}
