import assert from 'node:assert/strict';

/** Milliseconds of processor time, which other work on the machine hardly changes; the best of several. */
function processorTime(run: () => void): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

/**
 * Shows that work grows with the size of its input and not with the square of it: four times the size may take up to
 * ten times as long (the square takes sixteen). Says nothing about milliseconds, which are the machine's.
 */
export function assertGrowsLinearly(what: string, size: number, work: (size: number) => void): void {
  // The first runs are compiled on the way.
  work(size);
  const small = processorTime(() => work(size));
  const large = processorTime(() => work(4 * size));
  // The clock of the processor ticks in milliseconds on some machines.
  assert.ok(
    large <= 10 * small + 20,
    `${what}: ${small.toFixed(1)} ms for ${size}, ${large.toFixed(1)} ms for ${4 * size}`,
  );
}
