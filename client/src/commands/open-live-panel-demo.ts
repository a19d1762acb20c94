import type { LivePanel } from '../panel/panel';

/** Opens the live panel with its demo, which contacts nobody. */
export async function openLivePanelDemo(panel: LivePanel): Promise<void> {
  await panel.openDemo();
}
