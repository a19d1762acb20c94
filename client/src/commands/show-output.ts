import type { Services } from './services';

/** Reveals the output channel. */
export function showOutput({ output }: Services): void {
  output.show();
}
