import type { LivePanel } from '../panel/panel';

/** Chooses what the live panel reads from. */
export async function chooseLiveContext(panel: LivePanel): Promise<void> {
  await panel.choose();
}
