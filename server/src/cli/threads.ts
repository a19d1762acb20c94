import { parentPort, Worker } from 'node:worker_threads';
import type { LintResult } from '../engine/run';
import { lintCells, type CellsJob, type Helper } from './lint-cells';

/** Starts the program once more as a thread, which waits for cells. */
export function startHelper(program: string): Helper {
  const worker = new Worker(program);
  // The program can end for another reason before it has anything to share.
  worker.unref();
  // A thread that fails before it is asked for anything fails what it is asked for.
  let failure: Error | undefined;
  let fail: ((error: Error) => void) | undefined;
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
    fail?.(failure);
  });
  return {
    lint: (job) =>
      new Promise<LintResult>((resolve, reject) => {
        if (failure !== undefined) reject(failure);
        fail = reject;
        worker.once('message', resolve);
        worker.ref();
        worker.postMessage(job);
      }),
    close: () => void worker.terminate(),
  };
}

/** In a thread that {@link startHelper} started: answers it. */
export function serveCells(): void {
  parentPort?.on('message', (job: CellsJob) => parentPort?.postMessage(lintCells(job)));
}
