/** Runs pieces of work one after the other, in order; one that fails does not stop the next. */
export interface Queue {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is waiting or running. */
  idle(): Promise<void>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  let length = 0;
  return {
    run(work) {
      length++;
      const result = last.then(work).finally(() => {
        length--;
      });
      last = result.catch(() => undefined);
      return result;
    },
    async idle() {
      while (length > 0) await last;
    },
  };
}
