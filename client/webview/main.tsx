import { render } from 'preact';
import type { PanelState, ToPage } from '../../server/src/protocol/panel';
import { App } from './app';
import { wholeNamesOnCopy } from './copy';
import type { VsCodeApi } from './host';
import { followTheme } from './palette';
import type { UiState } from './ui-state';
import { parseUiState } from './ui-state';

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();
const root = document.getElementById('app');
let ui: UiState = parseUiState(api.getState());
let state: PanelState | undefined;
let receivedAt = Date.now();

const send: VsCodeApi['postMessage'] = (message) => api.postMessage(message);

function change(part: Partial<UiState>): void {
  ui = { ...ui, ...part };
  api.setState(ui);
  draw();
}

let isDue = false;

/** Draws once for all that changed in this turn, and never from within a part that is being drawn. */
function draw(): void {
  if (isDue) return;
  isDue = true;
  queueMicrotask(drawNow);
}

function drawNow(): void {
  isDue = false;
  if (root !== null) render(<App {...{ state, receivedAt, ui, change, send }} />, root);
}

addEventListener('message', (event: MessageEvent<ToPage>) => {
  // VS Code is the only sender: the page's policy lets nothing else in.
  if (event.data.type !== 'state') return;
  state = event.data.state;
  receivedAt = Date.now();
  draw();
});

followTheme();
wholeNamesOnCopy();
draw();
send({ type: 'ready' });
