import { ProgressLocation, window, type CancellationToken } from 'vscode';
import type { CliResult } from '../run-cli';

/** Runs the command line while its progress is shown, with a way to cancel: then there is no result. */
export function runWithProgress(
  title: string,
  run: (token: CancellationToken) => Promise<CliResult>,
): Thenable<CliResult | undefined> {
  return window.withProgress(
    { location: ProgressLocation.Notification, title: `Plimsoll: ${title}`, cancellable: true },
    async (_, token) => {
      const result = await run(token);
      return token.isCancellationRequested ? undefined : result;
    },
  );
}
