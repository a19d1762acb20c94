import type { CompletionItem, Hover, Position } from 'vscode-languageserver';
import { CompletionItemKind, InsertTextFormat } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { ClientCapabilities, Connection, ServerCapabilities } from 'vscode-languageserver';
import { schemaRequest, yamlExtensionNotification } from '../protocol/messages';
import type { SchemaResult } from '../protocol/messages';
import { advisorySchema } from '../schema/advisory';
import { kindNameOf, type SchemaTexts } from '../schema/kinds';
import { regionAt } from '../schema/region';
import { createYamlService, type YamlService } from '../schema/yaml-service';
import type { CompletionProvider } from './completion';
import type { Cancellation, Guard } from './guard';
import { InvalidParams } from './guard';
import { documentUri, fieldsOf, isFields, listOf, positionOf, stringOf } from './params';
import type { Project } from './project';
import { uriKey } from './uris';

/** A template that clients without a snippet manager of their own are offered. */
export interface SnippetText {
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly description: string;
  /** In the syntax of the Language Server Protocol, which is that of VS Code. */
  readonly body: string;
}

export interface SchemaFeatures {
  readonly connection: Connection;
  readonly guard: Guard;
  readonly project: Project;
  readonly capabilities: () => ClientCapabilities;
  /** Until the settings are there, and what is on its way from the disk about a file. */
  readonly settled: (key: string) => Promise<void>;
  readonly texts: SchemaTexts;
  /** What a client without snippets of its own is offered. */
  readonly snippets: () => readonly SnippetText[];
}

export const schemaCapabilities: ServerCapabilities = {
  documentSymbolProvider: true,
  foldingRangeProvider: true,
  selectionRangeProvider: true,
};

/** Completion, descriptions, outline, folding and selection from schemas and from the shape of the text. */
export function registerSchemaFeatures(features: SchemaFeatures): {
  readonly completion: CompletionProvider;
  hover(key: string, position: Position): Promise<Hover | undefined>;
} {
  const { connection, guard, project, capabilities, settled, texts } = features;
  const service: YamlService = createYamlService(texts);
  /** The YAML extension of Red Hat is at work, and completes and describes with our schemas. */
  let hasYamlExtension = false;

  const isOn = (key: string): boolean => {
    const { enable, schemaSupport } = project.folderOf(key).settings;
    return enable && (schemaSupport === 'builtin' || (schemaSupport === 'auto' && !hasYamlExtension));
  };
  /** A template is not YAML yet: what stands at a place is only known when it is rendered. */
  const isTemplate = (key: string, offset?: number): boolean =>
    (project.workspace().files.get(key)?.documents ?? []).some(
      ({ document, offset: start }) =>
        document.templated &&
        (offset === undefined || (start <= offset && offset <= start + document.text.length)),
    );

  const describes = (key: string, document: TextDocument, position: Position): boolean =>
    isOn(key) && !isTemplate(key, document.offsetAt(position));

  const canSnippets = (): boolean =>
    capabilities().textDocument?.completion?.completionItem?.snippetSupport === true;

  const snippetItems = (document: TextDocument, offset: number): readonly CompletionItem[] => {
    if (!canSnippets()) return [];
    const region = regionAt(document.getText(), offset);
    const typed = document.getText().slice(region.start, region.end).trim();
    if (!/^\w*$/.test(typed)) return [];
    return features.snippets().map(({ name, prefixes, description, body }): CompletionItem => ({
      label: prefixes[0] ?? name,
      kind: CompletionItemKind.Snippet,
      detail: name,
      documentation: description,
      insertText: body,
      insertTextFormat: InsertTextFormat.Snippet,
      sortText: `~ ${name}`,
    }));
  };

  const completion: CompletionProvider = {
    name: 'schemas',
    async complete({ key, document, offset }) {
      const position = document.positionAt(offset);
      if (!describes(key, document, position)) return [];
      const items = await service.complete(document, position);
      return [...items.map(asItem), ...snippetItems(document, offset)];
    },
  };

  /** Without a number that nobody chose, and as plain text for clients that have no tab stops. */
  const asItem = (item: CompletionItem): CompletionItem => {
    const write = (text: string): string => {
      const plain = text.replace(/\$\{(\d+):0\}/g, '$$$1');
      return canSnippets() ? plain : plain.replace(/\$\{\d+:([^{}]*)\}|\$\{\d+\}|\$\d+/g, '$1');
    };
    const { textEdit, insertText, insertTextFormat, ...rest } = item;
    return {
      ...rest,
      sortText: `~ ${item.sortText ?? item.label}`,
      ...(insertText === undefined ? {} : { insertText: write(insertText) }),
      ...(textEdit === undefined ? {} : { textEdit: { ...textEdit, newText: write(textEdit.newText) } }),
      ...(canSnippets() && insertTextFormat !== undefined ? { insertTextFormat } : {}),
    };
  };

  connection.onDocumentSymbol(
    guard.request('textDocument/documentSymbol', async (params: unknown, cancellation: Cancellation) => {
      const found = await documentOf(params, cancellation);
      if (found === undefined) return null;
      const symbols = await service.symbols(found);
      if (capabilities().textDocument?.documentSymbol?.hierarchicalDocumentSymbolSupport === true)
        return [...symbols];
      // Older clients have no tree: the objects alone.
      return symbols.map(({ name, kind, range }) => ({
        name,
        kind,
        location: { uri: found.uri, range },
      }));
    }),
  );

  connection.onFoldingRanges(
    guard.request('textDocument/foldingRange', async (params: unknown, cancellation: Cancellation) => {
      const found = await documentOf(params, cancellation);
      if (found === undefined) return null;
      const limit = capabilities().textDocument?.foldingRange?.rangeLimit;
      return [...(await service.folding(found, limit))];
    }),
  );

  connection.onSelectionRanges(
    guard.request('textDocument/selectionRange', async (params: unknown, cancellation: Cancellation) => {
      const positions = listOf(fieldsOf(params)['positions'], 'positions').map((position) =>
        positionOf(position, 'positions'),
      );
      const found = await documentOf(params, cancellation);
      return found === undefined ? null : [...(await service.selection(found, positions))];
    }),
  );

  connection.onNotification(
    yamlExtensionNotification,
    guard.notification(yamlExtensionNotification, (params: unknown) => {
      hasYamlExtension = fieldsOf(params)['active'] === true;
    }),
  );

  connection.onRequest(
    schemaRequest,
    guard.request(schemaRequest, (params: unknown): SchemaResult | null => {
      const kinds = listOf(fieldsOf(params)['kinds'], 'kinds').map((each) => {
        if (!isFields(each)) throw new InvalidParams('kinds holds something that is no object');
        return kindNameOf(
          stringOf(each['apiVersion'], 'kinds.apiVersion'),
          stringOf(each['kind'], 'kinds.kind'),
        );
      });
      const schema = advisorySchema(texts, kinds);
      return schema === undefined ? null : { schema };
    }),
  );

  /** A document whose outline and parts are ours to tell. */
  async function documentOf(params: unknown, cancellation: Cancellation): Promise<TextDocument | undefined> {
    const key = uriKey(documentUri(params));
    await settled(key);
    if (cancellation.isCancellationRequested || !isOn(key) || isTemplate(key)) return undefined;
    return project.document(key);
  }

  return {
    completion,
    async hover(key, position) {
      const document = project.document(key);
      if (document === undefined || !describes(key, document, position)) return undefined;
      return service.hover(document, position);
    },
  };
}
