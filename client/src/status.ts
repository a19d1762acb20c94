import type { LanguageStatusItem, LogOutputChannel } from 'vscode';
import { LanguageStatusSeverity, languages } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { State } from 'vscode-languageclient/node';
import type { Status } from '../../server/src/protocol/messages';
import { statusNotification } from '../../server/src/protocol/messages';
import { documentSelector } from './language-client';

/** Shows in the language status what the server found and skipped, and whether it runs. */
export function createStatusItem(client: LanguageClient, output: LogOutputChannel): LanguageStatusItem {
  const item = languages.createLanguageStatusItem('plimsoll.status', documentSelector);
  item.name = 'Plimsoll';
  let reported = '';

  client.onDidChangeState(({ newState }) => {
    if (newState === State.Running) return;
    const starting = newState === State.Starting;
    item.busy = starting;
    item.severity = starting ? LanguageStatusSeverity.Information : LanguageStatusSeverity.Error;
    item.text = starting ? 'Plimsoll is starting' : 'Plimsoll is not running';
    item.detail = starting ? '' : 'the language server stopped';
    item.command = starting
      ? { command: 'plimsoll.showOutput', title: 'Show Output' }
      : { command: 'plimsoll.restartServer', title: 'Restart' };
  });

  client.onNotification(statusNotification, (status: Status) => {
    item.busy = status.state === 'scanning';
    item.severity = severity(status);
    item.text = `Plimsoll: ${describeFindings(status.findings)}`;
    item.detail = [
      status.state === 'scanning' ? 'reading the workspace' : count(status.files, 'file'),
      ...(status.skipped.length > 0 ? [`${status.skipped.length} skipped`] : []),
      ...(status.incomplete === undefined ? [] : [status.incomplete]),
    ].join(', ');
    item.command = { command: 'plimsoll.showOutput', title: 'Show Output' };

    // The reasons are logged once, whenever the list changes: a skipped file must not pass for a checked one.
    const skipped = status.skipped.map(({ uri, reason }) => `Skipped ${uri}: ${reason}`).join('\n');
    if (skipped !== reported && skipped !== '') output.warn(skipped);
    reported = skipped;
  });

  return item;
}

/** `2 errors, 1 warning`, or `no findings`. */
export function describeFindings(findings: Status['findings']): string {
  const parts = (['error', 'warning', 'info', 'hint'] as const)
    .filter((each) => findings[each] > 0)
    .map((each) => (each === 'info' ? `${findings.info} info` : count(findings[each], each)));
  return parts.length === 0 ? 'no findings' : parts.join(', ');
}

export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function severity(status: Status): LanguageStatusSeverity {
  if (status.findings.error > 0) return LanguageStatusSeverity.Error;
  if (status.findings.warning > 0 || status.skipped.length > 0 || status.incomplete !== undefined)
    return LanguageStatusSeverity.Warning;
  return LanguageStatusSeverity.Information;
}
