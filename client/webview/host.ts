import type { Intent } from '../../server/src/panel/model';
import type { FromPage } from '../../server/src/protocol/panel';
import type { UiState } from './ui-state';

/** What VS Code gives a page. */
export interface VsCodeApi {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: UiState): void;
}

/** What the parts of the page do, apart from drawing. */
export interface Host {
  /** Done here, when it is about this page, or by the host. */
  act(intent: Intent): void;
  save(name: string, encoding: 'utf8' | 'base64', content: string): void;
}
