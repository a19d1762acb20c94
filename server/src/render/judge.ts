import type { Config } from '../engine/config';
import { effectiveConfig } from '../engine/config';
import type { Finding, RelatedPlace } from '../engine/finding';
import { ruleMeta } from '../engine/registry';
import { lint, type FileResult, type LintOptions } from '../engine/run';
import { hides, suppressionsOf } from '../engine/suppressions';
import type { Resource } from '../kube/resource';
import { objectsOf, type RawObject } from '../workspace/objects';
import { pathOf } from '../workspace/paths';
import type { Workspace } from '../workspace/workspace';
import type { SourceFile } from '../yaml/document';
import type { Span } from '../yaml/node';
import { parseFile } from '../yaml/parse';
import { helmPlace, helmSource, templateOf } from './map-helm';
import { documentsOf, generatorPlace, kustomizePlace, kustomizeSource, originOf } from './map-kustomize';
import { buildOrder } from './read-kustomization';
import { targetOf, type Target } from './steps';
import type { MappedFinding, ReadSource, RenderedText, RenderUnit, SourcePlace } from './types';

/** The name of what a unit renders, in its own folder: it is on no disk. */
const renderedName = '.plimsoll-rendered.yaml';

/** What was found in rendered texts, on the places that it comes from. */
export interface Judged {
  readonly findings: readonly MappedFinding[];
  /** Documents that were judged as rendered, as {@link documentKey}: what is said about them as they stand is not. */
  readonly replaced: ReadonlySet<string>;
  /** Suppressions that hid something, as {@link placeKey}. */
  readonly used: ReadonlySet<string>;
  readonly problems: readonly { readonly unit: RenderUnit; readonly why: string }[];
}

export function documentKey(uri: string, document: number): string {
  return `${uri}#${document}`;
}

export function placeKey(uri: string, { start }: Span): string {
  return `${uri}@${start}`;
}

export interface JudgeInput {
  readonly rendered: readonly RenderedText[];
  /** The files as they stand. */
  readonly workspace: Workspace;
  readonly configFor: (uri: string) => Config;
  readonly read: ReadSource;
  readonly options?: Pick<LintOptions, 'rules' | 'schemas'>;
}

/**
 * Lints what was rendered, as if it were the manifest, together with the files that no unit is made of (NodePools beside
 * a chart). Pure but for `read`.
 */
export function judge(input: JudgeInput): Judged {
  const steps = judgeEach(input);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As {@link judge}, one rendered text at a time, for those who have other things to do between. */
export function* judgeEach({
  rendered,
  workspace,
  configFor,
  read,
  options = {},
}: JudgeInput): Generator<void, Judged> {
  const findings: MappedFinding[] = [];
  const replaced = new Set<string>();
  const used = new Set<string>();
  const problems: { unit: RenderUnit; why: string }[] = [];
  const own = sourcesOf(rendered, read);
  let plain = workspace;
  for (const { uri } of workspace.files.values()) if (own(pathOf(uri))) plain = plain.without(uri);
  for (const text of rendered) {
    yield;
    const base = [...workspace.files.keys()].find((uri) => pathOf(uri) === text.unit.file) ?? text.unit.file;
    const uri = `${base.slice(0, base.lastIndexOf('/') + 1)}${renderedName}`;
    const file = parseFile(uri, text.text);
    const problem = file.documents.flatMap(({ document }) => document.problems)[0];
    if (problem !== undefined) {
      problems.push({ unit: text.unit, why: `what it renders is not well-formed YAML: ${problem.message}` });
      continue;
    }
    const whole = plain.with(file);
    const mapper = mapperOf(text, file, whole, read);
    for (const key of mapper.replaced) replaced.add(key);
    const result = lint(whole, configFor, { ...options, uris: [uri] }).files[0];
    for (const { finding, accepted } of said(result)) {
      const mapped = toSource(finding, accepted, mapper, configFor, used);
      if (mapped !== undefined) findings.push(mapped);
    }
  }
  return { findings: unique(findings), replaced, used, problems };
}

/** Whether a file is one that some unit is made of. */
function sourcesOf(rendered: readonly RenderedText[], read: ReadSource): (path: string) => boolean {
  const charts: string[] = [];
  const files = new Set<string>();
  for (const { unit } of rendered) {
    if (unit.kind === 'helm') {
      charts.push(`${unit.directory}/`);
      continue;
    }
    for (const { path, kustomization } of buildOrder(unit.directory, read)) {
      files.add(path);
      for (const listed of [...kustomization.resources, ...kustomization.patches]) files.add(listed);
    }
  }
  return (path) => files.has(path) || charts.some((chart) => path.startsWith(chart));
}

/** What the rules say; what the engine says about the text itself is about no source. */
function said(result: FileResult | undefined): readonly Pick<MappedFinding, 'finding' | 'accepted'>[] {
  if (result === undefined) return [];
  const isRule = ({ rule }: Finding): boolean => (ruleMeta(rule)?.kinds.length ?? 0) > 0;
  return [
    ...result.findings.filter(isRule).map((finding) => ({ finding, accepted: undefined })),
    ...result.suppressed
      .filter(({ finding }) => isRule(finding))
      .map(({ finding, kind, justification }) => ({ finding, accepted: { kind, justification } })),
  ];
}

interface Mapper {
  place(at: Span): SourcePlace | undefined;
  /** Documents that rendered objects come from. */
  readonly replaced: ReadonlySet<string>;
  readonly uri: string;
}

/** Finds the source of each object of a rendered text, and the places in it. */
function mapperOf(text: RenderedText, file: SourceFile, workspace: Workspace, read: ReadSource): Mapper {
  const replaced = new Set<string>();
  const sources = new Map<Resource, (target: Target) => SourcePlace | undefined>();
  const order = text.unit.kind === 'kustomize' ? buildOrder(text.unit.directory, read) : [];
  const counts = new Map<string, number>();
  const nth = (resource: Resource, from: string): number => {
    const key = `${from} ${resource.group}/${resource.kind}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count;
  };
  const sourceOf = (resource: Resource): ((target: Target) => SourcePlace | undefined) | undefined => {
    const { document } = resource.placed;
    if (text.unit.kind === 'helm') {
      const template = templateOf(document.text, text);
      if (template === undefined) return undefined;
      const source = helmSource(template, resource, nth(resource, template), read);
      if (source === undefined) return undefined;
      replaced.add(documentKey(source.file.uri, source.placed.index));
      return (target) => helmPlace(source, target, text, read);
    }
    const origin = originOf(resource.root, text);
    if (origin === undefined) return undefined;
    if (origin.kind === 'generated') return () => generatorPlace(origin.path, resource.name ?? '', read);
    const source = kustomizeSource(origin.path, resource, nth(resource, origin.path), order, read);
    if (source === undefined) return undefined;
    for (const { file: part, document: index } of documentsOf(source)) {
      replaced.add(documentKey(part.uri, index));
    }
    return (target) => kustomizePlace(source, target);
  };
  const resources = workspace.resourcesOf(file.uri);
  for (const resource of resources) {
    const source = sourceOf(resource);
    if (source !== undefined) sources.set(resource, source);
  }
  return {
    replaced,
    uri: file.uri,
    place(at) {
      const placed = file.documents.findLast(({ offset }) => offset <= at.start);
      if (placed === undefined) return undefined;
      const local = { start: at.start - placed.offset, end: at.end - placed.offset };
      const resource = resources.find(
        ({ placed: { index }, root }) =>
          index === placed.index && root.start <= local.start && local.end <= root.end,
      );
      const source = resource === undefined ? undefined : sources.get(resource);
      return resource === undefined ? undefined : source?.(targetOf(resource.root, local));
    },
  };
}

/** Puts a finding on its source, where it may be accepted by a comment or an override. */
function toSource(
  finding: Finding,
  acceptedThere: MappedFinding['accepted'],
  mapper: Mapper,
  configFor: (uri: string) => Config,
  used: Set<string>,
): MappedFinding | undefined {
  const place = mapper.place(finding.at);
  const meta = ruleMeta(finding.rule);
  if (place === undefined || meta === undefined) return undefined;
  const { uri } = place.file;
  const object = objectAt(place);
  const config = configFor(uri);
  const effective = effectiveConfig(config, {
    uri,
    kind: finding.resource?.kind,
    namespace: finding.resource?.namespace ?? object?.namespace,
    name: object?.name ?? finding.resource?.name,
  });
  const { loudness, accepted } = effective.decide(meta, finding.container);
  if (loudness.kind === 'off') return undefined;
  const suppression = suppressing(place, finding.rule, used);
  const related = finding.related.flatMap((other): RelatedPlace[] => {
    if (other.uri !== mapper.uri) return [other];
    const there = mapper.place(other.at);
    return there === undefined ? [] : [{ uri: there.file.uri, at: there.at, message: other.message }];
  });
  return {
    finding: {
      ...finding,
      severity: loudness.kind === 'set' ? loudness.severity : finding.severity,
      uri,
      at: place.at,
      related: [...place.related, ...related],
      // A fix of a rendered text is one for a text that is written nowhere.
      fixes: [],
      ...(object === undefined || finding.resource === undefined
        ? {}
        : {
            resource: {
              uri,
              document: place.document,
              apiVersion: object.apiVersion,
              kind: object.kind,
              name: object.name,
              namespace: object.namespace,
            },
          }),
    },
    accepted:
      suppression ??
      acceptedThere ??
      (accepted === undefined ? undefined : { kind: 'external', justification: accepted.reason }),
  };
}

function objectAt({ file, document, at }: SourcePlace): RawObject | undefined {
  const placed = file.documents.find(({ index }) => index === document);
  if (placed === undefined) return undefined;
  const objects = objectsOf(placed.document);
  return (
    objects.find(
      ({ root }) => root.start + placed.offset <= at.start && at.end <= root.end + placed.offset,
    ) ?? objects[0]
  );
}

function suppressing(place: SourcePlace, rule: string, used: Set<string>): MappedFinding['accepted'] {
  const placed = place.file.documents.find(({ index }) => index === place.document);
  if (placed === undefined) return undefined;
  const local = { start: place.at.start - placed.offset, end: place.at.end - placed.offset };
  const hiding = suppressionsOf(placed.document).list.filter((each) =>
    hides(each, placed.document, rule, local),
  );
  for (const { at } of hiding) {
    used.add(placeKey(place.file.uri, { start: at.start + placed.offset, end: at.end + placed.offset }));
  }
  return hiding.length === 0
    ? undefined
    : { kind: 'inSource', justification: hiding.find(({ reason }) => reason !== undefined)?.reason };
}

/** Several overlays say the same about what they have in common; one open finding hides none that is accepted. */
function unique(findings: readonly MappedFinding[]): readonly MappedFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ finding: { rule, uri, at, message } }) => {
    const key = JSON.stringify([rule, uri, at.start, at.end, message]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Documents of a list of findings by what they are about. */
export function isAbout({ resource, uri }: Finding, replaced: ReadonlySet<string>): boolean {
  return resource !== undefined && replaced.has(documentKey(uri, resource.document));
}
