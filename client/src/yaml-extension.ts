import type { Disposable, LogOutputChannel } from 'vscode';
import { Disposable as Disposables, extensions, workspace } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { SchemaParams, SchemaResult, YamlExtensionParams } from '../../server/src/protocol/messages';
import { schemaRequest, yamlExtensionNotification } from '../../server/src/protocol/messages';
import type { SchemaSupport } from '../../server/src/protocol/settings';

const extensionId = 'redhat.vscode-yaml';

/** The scheme of the schemas that we hand over; the other extension asks us for what is behind them. */
const scheme = 'plimsoll';

/** The part of that extension's API that is used. */
interface YamlExtension {
  registerContributor(
    scheme: string,
    requestSchema: (resource: string) => string | undefined,
    requestSchemaContent: (uri: string) => Promise<string>,
    label?: string,
  ): boolean;
}

function isYamlExtension(api: unknown): api is YamlExtension {
  return typeof (api as Partial<YamlExtension> | undefined)?.registerContributor === 'function';
}

/** The kinds that a text names, in order and each once; nothing for a template, which is not YAML yet. */
export function kindsIn(text: string): SchemaParams['kinds'] {
  if (/\{\{|\{%/.test(text)) return [];
  const found = new Map<string, SchemaParams['kinds'][number]>();
  for (const part of text.split(/^---.*$/m)) {
    const apiVersion = /^apiVersion:[ \t]*["']?([\w./-]+)/m.exec(part)?.[1];
    const kind = /^kind:[ \t]*["']?(\w+)/m.exec(part)?.[1];
    if (apiVersion !== undefined && kind !== undefined)
      found.set(`${apiVersion}/${kind}`, { apiVersion, kind });
  }
  return [...found.values()];
}

/** The name of the schema for some kinds: the same kinds have the same one, so that it is asked for once. */
export function schemaUri(kinds: SchemaParams['kinds']): string {
  return `${scheme}://schemas/${encodeURIComponent(JSON.stringify(kinds))}`;
}

export function kindsOfUri(uri: string): SchemaParams['kinds'] {
  return JSON.parse(decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1))) as SchemaParams['kinds'];
}

/**
 * Lets the YAML extension of Red Hat complete and describe with our schemas while it is active, and tells our server to
 * leave that to it. It is never started for our sake.
 */
export function befriendYamlExtension(client: LanguageClient, output: LogOutputChannel): Disposable {
  let isRegistered = false;
  const support = (): SchemaSupport =>
    workspace.getConfiguration('plimsoll').get<SchemaSupport>('schemaSupport', 'auto');

  const requestSchema = (resource: string): string | undefined => {
    if (support() === 'off' || support() === 'builtin') return undefined;
    const document = workspace.textDocuments.find(({ uri }) => uri.toString() === resource);
    const kinds = document === undefined ? [] : kindsIn(document.getText());
    return kinds.length === 0 ? undefined : schemaUri(kinds);
  };
  const requestSchemaContent = async (uri: string): Promise<string> => {
    const result: SchemaResult | null = await client.sendRequest(schemaRequest, { kinds: kindsOfUri(uri) });
    return result?.schema ?? '{}';
  };

  const look = (): void => {
    const extension = extensions.getExtension<unknown>(extensionId);
    const api = extension?.isActive === true ? extension.exports : undefined;
    const active = isYamlExtension(api);
    if (active && !isRegistered) {
      isRegistered = true;
      api.registerContributor(scheme, requestSchema, requestSchemaContent, 'Plimsoll');
      output.info(
        'The YAML extension of Red Hat is active: it completes and describes with the schemas of Plimsoll',
      );
    }
    if (!client.isRunning()) return;
    const params: YamlExtensionParams = { active };
    client.sendNotification(yamlExtensionNotification, params).catch((error: unknown) => {
      output.error(error instanceof Error ? error : String(error));
    });
  };

  return Disposables.from(
    extensions.onDidChange(look),
    // There is no event for an extension that becomes active; it does so with the first YAML file, as we do.
    workspace.onDidOpenTextDocument(look),
    client.onDidChangeState(look),
  );
}
