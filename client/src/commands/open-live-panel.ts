import type { LivePanel } from '../panel/panel';

/** Opens the live panel beside the editor. */
export async function openLivePanel(panel: LivePanel): Promise<void> {
  await panel.open();
}
