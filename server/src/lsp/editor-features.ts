import type { ClientCapabilities, Connection, ServerCapabilities } from 'vscode-languageserver';
import { LSPErrorCodes, ResponseError } from 'vscode-languageserver';
import { sizingDocument } from '../editor/sizing-report';
import type { AddModelResult, SizingReportResult } from '../protocol/messages';
import { addModel } from './add-model';
import { addModelRequest, sizingReportRequest } from '../protocol/messages';
import { completions, completionTriggers, type CompletionProvider } from './completion';
import { definitions } from './definition';
import { documentLinks } from './document-links';
import type { Cancellation, Guard } from './guard';
import { cancelled } from './guard';
import { inlayHints } from './inlay-hints';
import { documentUri, fieldsOf, isFields, positionOf, rangeOf, stringOf } from './params';
import type { Project } from './project';
import { references } from './references';
import { uriKey } from './uris';

/** What the answers of this file need of the server. */
export interface EditorFeatures {
  readonly connection: Connection;
  readonly guard: Guard;
  readonly project: Project;
  readonly capabilities: () => ClientCapabilities;
  readonly isOpen: (key: string) => boolean;
  /** Until the settings are there, and what is on its way from the disk about a file. */
  readonly settled: (key: string) => Promise<void>;
  /** Who is asked for completion, in the order in which their items are listed. */
  readonly providers: readonly CompletionProvider[];
}

export const editorCapabilities: ServerCapabilities = {
  inlayHintProvider: true,
  definitionProvider: true,
  referencesProvider: true,
  documentLinkProvider: {},
  completionProvider: { triggerCharacters: completionTriggers },
};

/** Answers about single documents that only the editor asks for. */
export function registerEditorFeatures(features: EditorFeatures): {
  /** Something that answers rest on has changed, and the author pauses. */
  pause(): void;
} {
  const { connection, guard, project, capabilities, isOpen, settled } = features;
  /** What each open document was last told, with the part that it was about. */
  const hinted = new Map<string, { readonly params: unknown; readonly text: string }>();

  const about = async (params: unknown, cancellation: Cancellation): Promise<string> => {
    const key = uriKey(documentUri(params));
    await settled(key);
    if (cancellation.isCancellationRequested) throw cancelled();
    return key;
  };

  connection.languages.inlayHint.on(
    guard.request('textDocument/inlayHint', async (params: unknown, cancellation: Cancellation) => {
      const range = rangeOf(fieldsOf(params)['range'], 'range');
      const key = await about(params, cancellation);
      const hints = inlayHints(key, range, project);
      hinted.set(key, { params: range, text: JSON.stringify(hints) });
      return hints;
    }),
  );

  connection.onDefinition(
    guard.request('textDocument/definition', async (params: unknown, cancellation: Cancellation) => {
      const position = positionOf(fieldsOf(params)['position'], 'position');
      const key = await about(params, cancellation);
      const links = capabilities().textDocument?.definition?.linkSupport ?? false;
      return definitions(key, position, project, links);
    }),
  );

  connection.onReferences(
    guard.request('textDocument/references', async (params: unknown, cancellation: Cancellation) => {
      const fields = fieldsOf(params);
      const position = positionOf(fields['position'], 'position');
      const context = isFields(fields['context']) ? fields['context'] : {};
      const key = await about(params, cancellation);
      return references(key, position, project, context['includeDeclaration'] === true);
    }),
  );

  connection.onDocumentLinks(
    guard.request('textDocument/documentLink', async (params: unknown, cancellation: Cancellation) =>
      documentLinks(await about(params, cancellation), project),
    ),
  );

  connection.onCompletion(
    guard.request('textDocument/completion', async (params: unknown, cancellation: Cancellation) => {
      const position = positionOf(fieldsOf(params)['position'], 'position');
      const key = await about(params, cancellation);
      const document = project.document(key);
      if (document === undefined) return null;
      const request = { key, document, offset: document.offsetAt(position), project };
      return completions(
        request,
        cancellation,
        (provider, error) => {
          void guard.background(`completion (${provider})`, () => Promise.reject(error));
        },
        features.providers,
      );
    }),
  );

  connection.onRequest(
    addModelRequest,
    guard.request(addModelRequest, async (params: unknown): Promise<AddModelResult> => {
      const { textDocument, name, figures } = fieldsOf(params);
      const key = textDocument === undefined ? undefined : uriKey(documentUri(params));
      await settled(key ?? '');
      const result = addModel(key, stringOf(name, 'name'), figures, project);
      if ('problem' in result) throw new ResponseError(LSPErrorCodes.RequestFailed, result.problem);
      return result;
    }),
  );

  connection.onRequest(
    sizingReportRequest,
    guard.request(
      sizingReportRequest,
      async (params: unknown, cancellation: Cancellation): Promise<SizingReportResult | null> => {
        const given = fieldsOf(params)['position'];
        const position = given === undefined || given === null ? undefined : positionOf(given, 'position');
        const key = await about(params, cancellation);
        const document = project.document(key);
        if (document === undefined) return null;
        const offset = position === undefined ? undefined : document.offsetAt(position);
        return sizingDocument(project.workspace(), key, offset, project.configFor(key).models) ?? null;
      },
    ),
  );

  return {
    pause() {
      if (capabilities().workspace?.inlayHint?.refreshSupport !== true) return;
      let isOutdated = false;
      for (const [key, { params, text }] of hinted) {
        if (!isOpen(key)) hinted.delete(key);
        else if (JSON.stringify(inlayHints(key, rangeOf(params, 'range'), project)) !== text)
          isOutdated = true;
      }
      if (!isOutdated) return;
      void guard.background('workspace/inlayHint/refresh', async () => {
        await connection.languages.inlayHint.refresh();
      });
    },
  };
}
