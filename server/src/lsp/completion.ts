import type { CompletionItem, CompletionList } from 'vscode-languageserver';
import { CompletionItemKind } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { complete } from '../editor/completion/complete';
import type { Suggestion } from '../editor/completion/suggestion';
import { toRange } from './convert';
import type { Cancellation } from './guard';
import type { Project } from './project';

/** What completion is asked about. */
export interface CompletionRequest {
  /** In the form of `uriKey`. */
  readonly key: string;
  readonly document: TextDocument;
  /** Of the document. */
  readonly offset: number;
  readonly project: Project;
}

/** A source of completion items. What one throws is logged, and takes nothing away from the others. */
export interface CompletionProvider {
  readonly name: string;
  complete(
    request: CompletionRequest,
    cancellation: Cancellation,
  ): readonly CompletionItem[] | Promise<readonly CompletionItem[]>;
}

/** Characters behind which clients ask by themselves: those that start a value or go on in a label key. */
export const completionTriggers: string[] = [' ', '/', '.', '-', '[', ',', '"', "'"];

const kinds: Readonly<Record<Suggestion['kind'], CompletionItemKind>> = {
  key: CompletionItemKind.Property,
  operator: CompletionItemKind.Operator,
  value: CompletionItemKind.EnumMember,
  name: CompletionItemKind.Reference,
};

/** Keys, operators and values of requirements on nodes, and names of objects. */
export const schedulingCompletion: CompletionProvider = {
  name: 'scheduling',
  complete({ key, document, offset, project }) {
    const answer = complete(project.workspace(), key, offset);
    if (answer === undefined) return [];
    const range = toRange(document, answer.replace);
    return answer.suggestions.map(
      ({ label, insert, kind, detail, documentation, order }): CompletionItem => ({
        label,
        kind: kinds[kind],
        ...(detail === undefined ? {} : { detail }),
        ...(documentation === undefined ? {} : { documentation }),
        sortText: `${order ?? ''} ${label}`,
        filterText: label,
        textEdit: { range, newText: insert ?? label },
      }),
    );
  },
};

/** In the order in which their items are listed. */
export const completionProviders: readonly CompletionProvider[] = [schedulingCompletion];

/** Asks every provider. An item whose text another one already writes at the same place is left out. */
export async function completions(
  request: CompletionRequest,
  cancellation: Cancellation,
  failed: (provider: string, error: unknown) => void,
  providers: readonly CompletionProvider[] = completionProviders,
): Promise<CompletionList> {
  const items: CompletionItem[] = [];
  const seen = new Set<string>();
  for (const provider of providers) {
    if (cancellation.isCancellationRequested) break;
    try {
      for (const item of await provider.complete(request, cancellation)) {
        if (seen.has(item.label)) continue;
        seen.add(item.label);
        items.push(item);
      }
    } catch (error) {
      failed(provider.name, error);
    }
  }
  return { isIncomplete: false, items };
}
