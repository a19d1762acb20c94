import type { LivePanel } from '../panel/panel';

/** Keeps a bearer token for the Prometheus of the settings. */
export async function setPrometheusToken(panel: LivePanel): Promise<void> {
  await panel.setPrometheusToken();
}
