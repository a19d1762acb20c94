import type { QuickPickItem, Uri } from 'vscode';
import { QuickPickItemKind, commands, window, workspace } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { State } from 'vscode-languageclient/node';
import type {
  PanelConnection,
  PanelContext,
  PanelContexts,
  PanelNamespaces,
} from '../../../server/src/protocol/panel';
import { panelContextsRequest, panelNamespacesRequest } from '../../../server/src/protocol/panel';
import type { LiveSourceSettings } from '../../../server/src/protocol/settings';
import { defaultSettings } from '../../../server/src/protocol/settings';
import { consentKey, consentText } from './consent';
import type { PanelMemory } from './memory';
import { originOf } from './memory';
import { seal } from './seal';

/** Which cluster to read from, and the user's agreement to it. */

export interface Asking {
  readonly client: LanguageClient;
  readonly memory: PanelMemory;
  readonly sealKey: Buffer;
  readonly sources: LiveSourceSettings;
}

export interface Problem {
  readonly kind: 'problem';
  readonly why: string;
  readonly whatToDo: string;
}

export type Connecting =
  | { readonly kind: 'connection'; readonly connection: PanelConnection }
  /** The user chose nothing, or did not agree. */
  | { readonly kind: 'declined' }
  | Problem;

export type Choice = { readonly kind: 'cancelled' | 'demo' | 'disconnect' | 'chosen' } | Problem;

/** The sources beside the cluster that the settings name for a manifest. */
export function liveSources(uri: Uri | undefined): LiveSourceSettings {
  const settings = workspace.getConfiguration('plimsoll.live', uri);
  const { prometheus, cloudwatch, aws } = defaultSettings.live;
  const read = <T extends object>(group: string, defaults: T): T =>
    Object.fromEntries(
      Object.entries(defaults).map(([name, value]) => [
        name,
        settings.get(`${group}.${name}`, value as unknown),
      ]),
    ) as T;
  return {
    prometheus: read('prometheus', prometheus),
    cloudwatch: read('cloudwatch', cloudwatch),
    aws: read('aws', aws),
  };
}

/**
 * A connection to the chosen context. Without an agreement to all that would be contacted, the user is asked if that is
 * wanted now; nothing but the kubeconfig has been read by then.
 */
export async function connectionTo(asking: Asking & { readonly mayAsk: boolean }): Promise<Connecting> {
  const { memory, sources, sealKey, mayAsk } = asking;
  const found = await readContexts(asking);
  if (found.kind === 'problem') return found;
  const { contexts } = found.contexts;
  const context =
    mayAsk || contexts.length === 1
      ? await chosenContext(found.contexts, memory)
      : contexts.find(({ name }) => name === memory.context);
  if (context === undefined) return { kind: 'declined' };
  const key = consentKey(context, sources);
  if (!memory.agreed(key)) {
    if (!mayAsk) {
      return {
        kind: 'problem',
        why: `It has not been agreed what is read from the context ${context.name} with the present settings`,
        whatToDo: 'Connect again to see what it is',
      };
    }
    const { message, detail } = consentText(context, sources);
    const agreed = await window.showInformationMessage(message, { modal: true, detail }, 'Read');
    if (agreed !== 'Read') return { kind: 'declined' };
    await memory.agree(key);
  }
  const origin = originOf(sources.prometheus.url);
  const token = origin === undefined ? undefined : await memory.prometheusToken(origin);
  const { namespace } = memory;
  return {
    kind: 'connection',
    connection: {
      kind: 'cluster',
      context: context.name,
      ...(namespace === undefined ? {} : { namespace }),
      sources,
      ...(token === undefined ? {} : { prometheusToken: seal(token, sealKey) }),
    },
  };
}

/** What a command wants of a cluster: what the user is told, the answer that allows it, and the name it is kept under. */
export interface Wanted {
  readonly text: (context: PanelContext) => { readonly message: string; readonly detail: string };
  readonly yes: string;
  /** Absent: the user is asked each time. */
  readonly key?: (context: PanelContext) => string;
}

/** The context that a command asks, once the user has agreed to what it asks; why there is none is told. */
export async function contextFor(
  client: LanguageClient,
  memory: PanelMemory,
  { text, yes, key }: Wanted,
): Promise<{ readonly context: string; readonly namespace: string | undefined } | undefined> {
  const found = await readContexts({ client });
  if (found.kind === 'problem') {
    void window.showErrorMessage(`Plimsoll: ${found.why}. ${found.whatToDo}`);
    return undefined;
  }
  const context = await chosenContext(found.contexts, memory);
  if (context === undefined) return undefined;
  const name = key?.(context);
  if (name === undefined || !memory.agreed(name)) {
    const { message, detail } = text(context);
    const agreed = await window.showInformationMessage(message, { modal: true, detail }, yes);
    if (agreed !== yes) return undefined;
    if (name !== undefined) await memory.agree(name);
  }
  return { context: context.name, namespace: memory.namespace };
}

/** The context that was chosen before, or the only one; else the user is asked. */
async function chosenContext(
  { contexts, current }: PanelContexts,
  memory: PanelMemory,
): Promise<PanelContext | undefined> {
  const before = contexts.find(({ name }) => name === memory.context);
  if (before !== undefined) return before;
  const [only, another] = contexts;
  const context = another === undefined ? only : await pickContext(contexts, current);
  if (context !== undefined) await memory.choose(context.name, undefined);
  return context;
}

/** The picker of the status bar. */
export async function chooseSource(
  asking: Asking & { readonly current: PanelConnection | undefined },
): Promise<Choice> {
  const { memory, current, client } = asking;
  const found = await readContexts(asking);
  const contexts = found.kind === 'problem' ? [] : found.contexts.contexts;
  if (found.kind === 'problem' && current === undefined) return found;

  const demo: QuickPickItem = { label: '$(beaker) Demo', description: 'a recorded surge, without a cluster' };
  const namespace: QuickPickItem = {
    label: '$(symbol-namespace) Namespace...',
    description: 'for objects whose manifest names none',
  };
  const disconnect: QuickPickItem = {
    label: '$(debug-disconnect) Disconnect',
    description: 'read nothing, and ask again before the next time',
  };
  const chosen = current?.kind === 'cluster' ? current.context : undefined;
  const names = contexts.map((each) => contextItem(each, each.name === chosen));
  const choice = await window.showQuickPick(
    [
      ...names,
      { label: '', kind: QuickPickItemKind.Separator },
      ...(current?.kind === 'cluster' ? [namespace] : []),
      demo,
      ...(current === undefined ? [] : [disconnect]),
    ],
    { title: 'Live panel: read from', placeHolder: 'Context of the kubeconfig', matchOnDescription: true },
  );
  if (choice === undefined) return { kind: 'cancelled' };
  if (choice === demo) return { kind: 'demo' };
  if (choice === disconnect) return { kind: 'disconnect' };
  if (choice === namespace) {
    const answer = await client.sendRequest<PanelNamespaces>(panelNamespacesRequest);
    const name = await pickNamespace(answer);
    if (name === undefined) return { kind: 'cancelled' };
    await memory.choose(memory.context, name === '' ? undefined : name);
    return { kind: 'chosen' };
  }
  const context = contexts[names.indexOf(choice as ContextItem)];
  if (context === undefined) return { kind: 'cancelled' };
  await memory.choose(context.name, undefined);
  return { kind: 'chosen' };
}

export async function offerTrust(): Promise<void> {
  await commands.executeCommand('workbench.trust.manage');
}

async function readContexts({
  client,
}: Pick<Asking, 'client'>): Promise<
  { readonly kind: 'contexts'; readonly contexts: PanelContexts } | Problem
> {
  if (client.state !== State.Running) {
    return {
      kind: 'problem',
      why: 'The language server is not running',
      whatToDo: 'Run "Plimsoll: Restart Language Server"',
    };
  }
  const contexts = await client.sendRequest<PanelContexts>(panelContextsRequest);
  if (contexts.problem !== undefined || contexts.contexts.length === 0) {
    return {
      kind: 'problem',
      why: contexts.problem ?? 'The kubeconfig has no context',
      whatToDo: 'For EKS, run: aws eks update-kubeconfig --name CLUSTER --region REGION',
    };
  }
  return { kind: 'contexts', contexts };
}

interface ContextItem extends QuickPickItem {
  readonly context: PanelContext;
}

function contextItem(context: PanelContext, isChosen: boolean): ContextItem {
  const about = [
    ...(context.account === undefined ? [] : [context.account]),
    ...(context.region === undefined ? [] : [context.region]),
    context.server,
  ];
  return { label: `${isChosen ? '$(check) ' : ''}${context.name}`, description: about.join(', '), context };
}

async function pickContext(
  contexts: readonly PanelContext[],
  current: string | undefined,
): Promise<PanelContext | undefined> {
  const sorted = [...contexts].sort((a, b) => Number(b.name === current) - Number(a.name === current));
  const choice = await window.showQuickPick(
    sorted.map((each) => contextItem(each, false)),
    {
      title: 'Read from',
      placeHolder: 'Context of the kubeconfig; nothing is contacted before you agree',
      matchOnDescription: true,
    },
  );
  return choice?.context;
}

/** A namespace, `''` for the context's own, or nothing. */
async function pickNamespace({ namespaces, problem }: PanelNamespaces): Promise<string | undefined> {
  const own = { label: "The context's own", name: '' };
  const named = namespaces.map((name) => ({ label: name, name }));
  if (named.length === 0) {
    // Listing namespaces is often denied; their names can be typed.
    return window.showInputBox({
      title: 'Namespace of the live panel',
      prompt: `${problem ?? 'No namespaces are listed'}. Empty: the context's own`,
      validateInput: (text) =>
        /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$/.test(text)
          ? undefined
          : 'A namespace has lower-case letters, digits and hyphens',
    });
  }
  return (await window.showQuickPick([own, ...named], { title: 'Namespace of the live panel' }))?.name;
}
