import type { LogOutputChannel, Uri } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

/** What the commands work with; made once by `extension.ts`. */
export interface Services {
  readonly extensionUri: Uri;
  readonly client: LanguageClient;
  readonly output: LogOutputChannel;
}
