/** Waiting for conditions: nothing in the lab sleeps for a time that somebody guessed. */

/** The time between two looks; the thing looked at is on this machine. */
const pollMs = 100;

/** Thrown when a deadline passes; holds what was seen last. */
export class DeadlineError extends Error {}

/**
 * Looks until the condition answers something other than `undefined`, and answers that. `look` may throw: that counts
 * as not yet. Throws a {@link DeadlineError} with `what`, and what the last look threw, after so many milliseconds.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  deadlineMs: number,
  lastSeen: () => string = () => '',
): Promise<T> {
  const end = Date.now() + deadlineMs;
  let thrown: string;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      thrown = '';
    } catch (error) {
      if (error instanceof GivenUp) throw error;
      thrown = error instanceof Error ? error.message : String(error);
    }
    if (Date.now() > end) {
      const details = [thrown, lastSeen()].filter((text) => text !== '').join('\n');
      throw new DeadlineError(
        `not within ${deadlineMs / 1000} s: ${what}${details === '' ? '' : `\n${details}`}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Thrown by a look that knows that waiting on is in vain. */
export class GivenUp extends Error {}
