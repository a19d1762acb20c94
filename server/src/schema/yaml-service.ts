import type {
  CompletionItem,
  DocumentSymbol,
  FoldingRange,
  Hover,
  Position,
  SelectionRange,
} from 'vscode-languageserver-types';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { LanguageService } from 'yaml-language-server/out/server/src/languageservice/yamlLanguageService';
import { apiVersionOf, kindNameOf, type KindName, type SchemaTexts } from './kinds';
import { only, regionAt, type Region } from './region';

/**
 * What yaml-language-server knows about a place, with a schema chosen for each document of a file by its group, version
 * and kind. It is loaded when it is first asked, and nothing is ever fetched: schemas are those that are shipped.
 */
export interface YamlService {
  complete(document: TextDocument, position: Position): Promise<readonly CompletionItem[]>;
  /** Descriptions of keys and values. */
  hover(document: TextDocument, position: Position): Promise<Hover | undefined>;
  symbols(document: TextDocument): Promise<readonly DocumentSymbol[]>;
  folding(document: TextDocument, limit: number | undefined): Promise<readonly FoldingRange[]>;
  selection(document: TextDocument, positions: readonly Position[]): Promise<readonly SelectionRange[]>;
}

/** Of a schema, and of the documents that it is for: yaml-language-server finds the one by the name of the other. */
interface Choice {
  readonly path: string;
  readonly schema: () => string | undefined;
}

/** `SymbolKind.Object` and `CompletionItemKind.Class`; the package of the types is not loaded for two numbers. */
const OBJECT_SYMBOL = 19;
const CLASS_ITEM = 7;

/** Schemas that are kept ready; a file seldom has documents of more kinds. */
const MOST_READY = 24;

const isConfig = (document: TextDocument): boolean => /(^|\/)\.plimsoll\.ya?ml$/.test(document.uri);

/** Of what is handed to yaml-language-server, which keeps what it read for all services of a process. */
let version = 0;

/** Files whose top level is not an object's, whatever they start with. */
const otherFormats =
  /(^|\/)(kustomization\.ya?ml|values[^/]*\.ya?ml|Chart\.ya?ml|(docker-)?compose[^/]*\.ya?ml|\.github\/.*|\.gitlab-ci[^/]*|action\.ya?ml|openapi[^/]*|mkdocs\.ya?ml|pnpm-[^/]*|\.pre-commit[^/]*)$/;

export function createYamlService(texts: SchemaTexts): YamlService {
  let service: Promise<LanguageService> | undefined;
  const ready = new Map<string, object>();

  const load = (): Promise<LanguageService> =>
    (service ??= import('yaml-language-server/out/server/src/languageservice/yamlLanguageService').then(
      ({ getLanguageService }) =>
        getLanguageService({
          // All schemas are given below; a `$ref` to anywhere else leads nowhere.
          schemaRequestService: (uri) => Promise.reject(new Error(`${uri} is not fetched`)),
          workspaceContext: { resolveRelativePath: (path) => path },
        }),
    ));

  const configure = (loaded: LanguageService): void => {
    loaded.configure({
      validate: false,
      format: false,
      hover: true,
      completion: true,
      hoverSchemaSource: false,
      disableDefaultProperties: true,
      schemas: [...ready].map(([path, schema]) => ({
        uri: `plimsoll-schema:///${path}.json`,
        fileMatch: [`/${path}.yaml`],
        schema,
      })),
    });
  };

  /** The text of one document under a name that its schema is found by; `undefined` when there is none. */
  const prepare = async (
    document: TextDocument,
    region: Region,
    choice: Choice | undefined,
  ): Promise<{ readonly loaded: LanguageService; readonly part: TextDocument } | undefined> => {
    if (choice === undefined) return undefined;
    const { path } = choice;
    const loaded = await load();
    let schema = ready.get(path);
    if (schema === undefined) {
      const text = choice.schema();
      if (text === undefined) return undefined;
      schema = JSON.parse(text) as object;
      if (ready.size >= MOST_READY) ready.clear();
      ready.set(path, schema);
      configure(loaded);
    }
    return { loaded, part: named(path, only(document.getText(), region)) };
  };

  const configChoice: Choice = { path: 'plimsoll/config', schema: () => texts.config() };

  const schemaOf = (document: TextDocument, region: Region): Choice | undefined => {
    if (isConfig(document)) return configChoice;
    if (region.apiVersion === undefined || region.kind === undefined) return undefined;
    const name = kindNameOf(region.apiVersion, region.kind);
    return isKnown(name)
      ? {
          path: `${name.group === '' ? 'core' : name.group}/${name.version}/${name.kind}`,
          schema: () => texts.of(name),
        }
      : undefined;
  };
  const isKnown = (name: KindName): boolean =>
    texts
      .kinds()
      .some(
        ({ group, version: known, kind }) =>
          group === name.group && known === name.version && kind === name.kind,
      );

  /** For a document that does not say yet what it is. */
  const beginning = (document: TextDocument, region: Region): Choice | undefined => {
    if (isConfig(document) || otherFormats.test(document.uri)) return undefined;
    const { apiVersion, kind } = region;
    if (apiVersion === undefined && kind === undefined && !isBeginning(document, region)) return undefined;
    // The value that stands there may be half of one.
    const all = texts.kinds();
    const withKind = kind === undefined ? all : all.filter((name) => name.kind === kind);
    const withVersion =
      apiVersion === undefined ? all : all.filter((name) => apiVersionOf(name) === apiVersion);
    const values = (names: readonly string[]): object => ({
      type: 'string',
      enum: [...new Set(names)].sort(),
    });
    return {
      path: `plimsoll/beginning/${encodeURIComponent(apiVersion ?? '')}/${encodeURIComponent(kind ?? '')}`,
      schema: () =>
        JSON.stringify({
          type: 'object',
          properties: {
            apiVersion: {
              ...values((withKind.length > 0 ? withKind : all).map(apiVersionOf)),
              description: 'The group and version of the API that the object belongs to',
            },
            kind: {
              ...values((withVersion.length > 0 ? withVersion : all).map((name) => name.kind)),
              description: 'What kind of object this is',
            },
            metadata: {
              type: 'object',
              description: 'Name, namespace, labels and annotations',
              properties: {
                name: { type: 'string' },
                namespace: { type: 'string' },
                labels: { type: 'object' },
                annotations: { type: 'object' },
              },
            },
          },
        }),
    };
  };

  return {
    async complete(document, position) {
      const region = regionAt(document.getText(), document.offsetAt(position));
      const choice = schemaOf(document, region) ?? beginning(document, region);
      const prepared = await prepare(closedUp(document, position), region, choice);
      if (prepared === undefined) return [];
      const { items } = await prepared.loaded.doComplete(prepared.part, position, false);
      // Beside keys, it offers whole objects under the names that types have in their schema.
      return items.filter((item) => !item.label.includes('IoK8s') && item.kind !== CLASS_ITEM);
    },
    async hover(document, position) {
      const region = regionAt(document.getText(), document.offsetAt(position));
      const prepared = await prepare(document, region, schemaOf(document, region));
      return (await prepared?.loaded.doHover(prepared.part, position)) ?? undefined;
    },
    async symbols(document) {
      return byObject(document, (await load()).findDocumentSymbols2(fresh(document)));
    },
    async folding(document, limit) {
      const loaded = await load();
      return loaded.getFoldingRanges(fresh(document), limit === undefined ? {} : { rangeLimit: limit }) ?? [];
    },
    async selection(document, positions) {
      return (await load()).getSelectionRanges(fresh(document), [...positions]);
    },
  };
}

/** yaml-language-server keeps what it read by name and version: each of ours is one that it has not seen. */
function named(path: string, text: string): TextDocument {
  return TextDocument.create(`plimsoll-document:///${path}.yaml`, 'yaml', ++version, text);
}

/** In flow style no value is completed in front of white space: `{ type: | }`. The bracket takes its place. */
function closedUp(document: TextDocument, position: Position): TextDocument {
  const text = document.getText();
  const offset = document.offsetAt(position);
  const [gap, spaces, bracket] = /^( +)([}\],])/.exec(text.slice(offset)) ?? [];
  if (gap === undefined || spaces === undefined || bracket === undefined) return document;
  const closed = text.slice(0, offset) + bracket + spaces + text.slice(offset + gap.length);
  return TextDocument.create(document.uri, 'yaml', document.version, closed);
}

function fresh(document: TextDocument): TextDocument {
  return named('plimsoll/shape', document.getText());
}

/** Nothing, or one line that may become a first key. */
function isBeginning(document: TextDocument, { start, end }: Region): boolean {
  const lines = document
    .getText()
    .slice(start, end)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  return lines.length === 0 || (lines.length === 1 && /^\w*$/.test(lines[0]?.trimEnd() ?? ''));
}

/** The keys of each document below a symbol that names its object; those of other documents as they are. */
function byObject(document: TextDocument, keys: readonly DocumentSymbol[]): readonly DocumentSymbol[] {
  const groups = new Map<number, { readonly region: Region; readonly keys: DocumentSymbol[] }>();
  for (const key of keys) {
    const region = regionAt(document.getText(), document.offsetAt(key.range.start));
    const group = groups.get(region.start);
    if (group === undefined) groups.set(region.start, { region, keys: [key] });
    else group.keys.push(key);
  }
  return [...groups.values()].flatMap(({ region: { apiVersion, kind }, keys: own }) => {
    const [first] = own;
    const last = own.at(-1);
    if (first === undefined || last === undefined || kind === undefined) return own;
    const metadata = own.find(({ name }) => name === 'metadata');
    const name = metadata?.children?.find((child) => child.name === 'name')?.detail ?? '';
    return {
      name: `${kind} ${name}`.trimEnd(),
      detail: apiVersion ?? '',
      kind: OBJECT_SYMBOL,
      range: { start: first.range.start, end: last.range.end },
      selectionRange: first.selectionRange,
      children: own,
    };
  });
}
