import type { Disposable } from 'vscode';
import { EventEmitter, Uri, commands, window, workspace } from 'vscode';
import { State } from 'vscode-languageclient/node';
import type { ReadinessDocument, ReadinessParams } from '../../../server/src/protocol/messages';
import { readinessRequest } from '../../../server/src/protocol/messages';
import { restartServer } from './restart-server';
import type { Services } from './services';

const uri = Uri.from({ scheme: 'plimsoll-readiness', path: '/Production readiness.md' });

/** A read-only page that is filled again each time it is asked for; nobody is asked to save it. */
export interface ReadinessPage extends Disposable {
  show(markdown: string): Promise<void>;
}

export function createReadinessPage(): ReadinessPage {
  const changed = new EventEmitter<Uri>();
  let text = '';
  const provider = workspace.registerTextDocumentContentProvider(uri.scheme, {
    onDidChange: changed.event,
    provideTextDocumentContent: () => text,
  });
  return {
    async show(markdown) {
      text = markdown;
      changed.fire(uri);
      try {
        await commands.executeCommand('markdown.showPreview', uri);
      } catch {
        // The built-in Markdown extension can be disabled; the text is readable as it is.
        await window.showTextDocument(uri, { preview: true });
      }
    },
    dispose() {
      provider.dispose();
      changed.dispose();
    },
  };
}

/** Shows the checklist of the open file's workloads; without any there, of the whole workspace. */
export async function productionReadiness(services: Services, page: ReadinessPage): Promise<void> {
  const { client } = services;
  if (client.state === State.Stopped || client.state === State.StartFailed) await restartServer(services);
  if (client.state !== State.Running) return;
  const active = window.activeTextEditor?.document;
  const params: ReadinessParams =
    active === undefined ? {} : { uri: client.code2ProtocolConverter.asUri(active.uri) };
  const { markdown } = await client.sendRequest<ReadinessDocument>(readinessRequest, params);
  await page.show(markdown);
}
