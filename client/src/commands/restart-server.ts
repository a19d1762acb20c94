import { window } from 'vscode';
import { State } from 'vscode-languageclient/node';
import type { Services } from './services';

/** Stops the language server and starts it again, also after it failed to start. */
export async function restartServer({ client, output }: Services): Promise<void> {
  output.info('Restarting the language server');
  try {
    if (client.state === State.Running) await client.restart();
    else await client.start();
  } catch (error) {
    output.error(error instanceof Error ? error : String(error));
    void window.showErrorMessage('Plimsoll: the language server did not start. The output channel says why.');
  }
}
