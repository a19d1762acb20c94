import type { Disposable } from 'vscode';
import { StatusBarAlignment, window } from 'vscode';
import type { PanelConnection } from '../../../server/src/protocol/panel';

export interface ConnectionItem extends Disposable {
  /** `undefined`: not connected. */
  show(connection: PanelConnection | undefined): void;
  hide(): void;
}

/** Where the panel reads from, in the status bar while it is open; a click chooses another place. */
export function createConnectionItem(): ConnectionItem {
  const item = window.createStatusBarItem('plimsoll.liveContext', StatusBarAlignment.Left);
  item.name = 'Plimsoll Live';
  item.command = 'plimsoll.chooseLiveContext';
  return {
    show(connection) {
      switch (connection?.kind) {
        case undefined:
          item.text = '$(debug-disconnect) not connected';
          item.tooltip = 'Plimsoll: nothing is read. Choose a context';
          break;
        case 'demo':
          item.text = '$(pulse) DEMO';
          item.tooltip = 'Plimsoll: the live panel shows its demo. Choose a context';
          break;
        case 'cluster': {
          const { context, namespace } = connection;
          item.text = `$(pulse) ${plain(context)}${namespace === undefined ? '' : ` / ${plain(namespace)}`}`;
          item.tooltip = 'Plimsoll: the live panel reads from here. Choose another context or namespace';
        }
      }
      item.show();
    },
    hide: () => item.hide(),
    dispose: () => item.dispose(),
  };
}

/** `$(name)` in a status bar is an icon, also when it comes from a kubeconfig. */
function plain(text: string): string {
  return text.replace(/\$\(/g, '$ (');
}
