import { isPodCarrier } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import type { LiveLookup } from '../live/lookup';
import type { LiveSnapshot } from '../live/snapshot';
import { rules as allRules } from '../rules/index';
import type { Fix, Needs, Place, Report, Rule, RuleContext, Severity } from '../rules/rule';
import type { DefinedSchemas } from '../structure/definitions';
import { noSchemas, type Schemas } from '../structure/schemas';
import type { Structure } from '../structure/shape';
import { mayMatter } from '../workspace/relevant-kinds';
import { isSeenInOutline, type Workspace } from '../workspace/workspace';
import type { PlacedDocument, YamlDocument, YamlProblem } from '../yaml/document';
import type { Span } from '../yaml/node';
import type { Config, Decision, Effective } from './config';
import { effectiveConfig, isIgnored } from './config';
import { otherObject, schemasOf } from './defined-objects';
import type {
  FileEdit,
  Finding,
  FindingFix,
  InternalError,
  ResourceRef,
  Skipped,
  SuppressedFinding,
} from './finding';
import type { OwnRuleId } from './own-rules';
import { severityOf, severityRank } from './presets';
import { ruleMeta } from './registry';
import type { Comparable } from './supersedes';
import { superseded } from './supersedes';
import { hides, suppressionRule, suppressionsOf } from './suppressions';
import { contains, enclosing } from './text';

export interface FileResult {
  readonly uri: string;
  /** In order of the text. */
  readonly findings: readonly Finding[];
  readonly suppressed: readonly SuppressedFinding[];
  readonly skipped: readonly Skipped[];
}

export interface LintResult {
  readonly files: readonly FileResult[];
  /** One for each rule that threw, where it did so first. */
  readonly internalErrors: readonly InternalError[];
}

export interface LintOptions {
  /** The files to report on; absent: every file of the workspace. */
  readonly uris?: readonly string[];
  /** Absent: all rules of the product. */
  readonly rules?: readonly Rule[];
  /** What is at hand beside the document; rules that need more are skipped, and listed. */
  readonly provides?: { readonly workspace: boolean };
  /** What clusters said, for rules that need it; absent: no cluster is connected. */
  readonly live?: LiveLookup;
  /** What objects may look like; absent: nothing is known of any kind. */
  readonly schemas?: Schemas;
  /** Nothing is asked about these files again, so that nothing is to be kept for that. */
  readonly once?: boolean;
}

/**
 * Checks files of a workspace. Synchronous and free of effects; it throws only when the engine itself is wrong.
 *
 * Findings of rules that need one document are kept with the document, so that after an edit they are worked out
 * again for the edited document alone. Rules that look at other files run each time.
 */
export function lint(
  workspace: Workspace,
  configFor: (uri: string) => Config,
  options: LintOptions = {},
): LintResult {
  const session: Session = {
    workspace,
    configFor,
    rules: options.rules ?? allRules,
    provides: { workspace: options.provides?.workspace ?? true },
    live: options.live,
    schemas: schemasOf(workspace, options.schemas ?? noSchemas),
    once: options.once === true,
    errors: new Map(),
    elsewhere: new Map(),
  };
  const uris = options.uris ?? [...workspace.files.keys()];
  const files = uris.map((uri) => lintFile(session, uri));
  return { files, internalErrors: [...session.errors.values()] };
}

interface Session {
  readonly workspace: Workspace;
  readonly configFor: (uri: string) => Config;
  readonly rules: readonly Rule[];
  readonly provides: { readonly workspace: boolean };
  readonly live: LiveLookup | undefined;
  readonly schemas: DefinedSchemas;
  readonly once: boolean;
  readonly errors: Map<string, InternalError>;
  /** Whether a rule speaks about a resource of another file: worked out once. */
  readonly elsewhere: Map<string, Map<Resource, boolean>>;
}

/** A report before suppressions, with its places relative to the document. */
interface LocalReport {
  readonly rule: string;
  readonly severity: Severity;
  readonly accepted: Decision['accepted'];
  readonly at: Span;
  readonly message: string;
  readonly container: string | undefined;
  readonly evidence: readonly string[] | undefined;
  readonly fixes: readonly FindingFix[];
  readonly related: readonly { readonly resource: Resource; readonly at: Span; readonly message: string }[];
  readonly rejected: boolean;
}

/** A finding on its way through the engine. */
interface Candidate extends Comparable {
  readonly finding: Finding;
  readonly placed: PlacedDocument;
  /** Relative to the document. */
  readonly at: Span;
  readonly accepted: Decision['accepted'];
}

function lintFile(session: Session, uri: string): FileResult {
  const file = session.workspace.files.get(uri);
  const none: FileResult = { uri, findings: [], suppressed: [], skipped: [] };
  if (file === undefined) return none;
  const config = session.configFor(uri);
  if (isIgnored(config, uri))
    return { ...none, skipped: [{ why: 'Excluded by "ignore" in the configuration' }] };

  const skipped: Skipped[] = [];
  const unmet = new Map<string, string>();
  const findings: Finding[] = [];
  const suppressed: SuppressedFinding[] = [];
  const byDocument = new Map<number, Resource[]>();
  for (const resource of session.workspace.resourcesOf(uri)) {
    const { index } = resource.placed;
    const known = byDocument.get(index);
    if (known === undefined) byDocument.set(index, [resource]);
    else known.push(resource);
  }
  const fileLevel = effectiveConfig(config, { uri });
  for (const placed of file.documents) {
    const { document, index } = placed;
    const known = byDocument.get(index);
    const other =
      known === undefined ? otherObject(session.workspace, session.schemas, uri, placed) : undefined;
    const resources = known ?? (other === undefined ? [] : [other]);
    if (resources.length === 0 && !isMeantForUs(document)) continue;
    const candidates = document.problems.flatMap((problem) =>
      problemCandidate(uri, placed, problem, fileLevel),
    );
    let ran: Ran | undefined;
    // What stands behind a mistake would look as if it were missing.
    if (document.problems.some(({ code }) => code !== 'duplicate-key')) {
      skipped.push({
        document: index,
        why: 'The document is not well-formed YAML, so no rule was run on it',
      });
    } else {
      const effective = resources.map((resource) => effectiveConfig(config, resource));
      candidates.push(...checkDocument(session, placed, resources, effective, unmet));
      ran = ranIn(session, effective);
    }
    const silent = superseded(candidates, (rule, resource) =>
      speaksElsewhere(session, rule, resource as Resource),
    );
    applySuppressions(uri, placed, candidates, silent, ran, fileLevel, findings, suppressed);
  }
  for (const [rule, why] of unmet) skipped.push({ rule, why });
  return { uri, findings: findings.sort(inOrder), suppressed, skipped };
}

/** Whether a rule was run on a document, and could have been heard. */
type Ran = (rule: string) => boolean;

function inOrder(a: Finding, b: Finding): number {
  return (
    a.at.start - b.at.start ||
    severityRank[a.severity] - severityRank[b.severity] ||
    (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0)
  );
}

/** A document that is meant to be a Kubernetes object of a kind that matters, even if it cannot be read as one. */
export function isMeantForUs(document: YamlDocument): boolean {
  return isMeantAsObject(document) && mayMatter(document);
}

/** A document that is meant to be a Kubernetes object of whatever kind. */
export function isMeantAsObject({ text }: YamlDocument): boolean {
  return (
    text.includes('kind') && text.includes('apiVersion') && /^[ \t]*["']?apiVersion["']?\s*:/m.test(text)
  );
}

// ---------------------------------------------------------------------------------------------------------------
// The engine's own checks

function ownFinding(
  uri: string,
  id: OwnRuleId,
  at: Span,
  message: string,
  effective: Effective,
  fixes: readonly FindingFix[] = [],
): Finding | undefined {
  const meta = ruleMeta(id);
  if (meta === undefined) return undefined;
  const { loudness, accepted } = effective.decide(meta);
  const severity = severityOf(loudness, undefined);
  if (severity === 'off' || accepted !== undefined) return undefined;
  return { rule: id, severity, uri, at, message, related: [], fixes };
}

function problemCandidate(
  uri: string,
  placed: PlacedDocument,
  problem: YamlProblem,
  effective: Effective,
): Candidate[] {
  const id: OwnRuleId = problem.code === 'duplicate-key' ? 'duplicate-key' : 'yaml-syntax';
  const at = { start: problem.start, end: problem.end };
  const finding = ownFinding(uri, id, shift(at, placed.offset), problem.message, effective);
  if (finding === undefined) return [];
  return [
    {
      finding,
      placed,
      at,
      accepted: undefined,
      rule: id,
      rank: severityRank[finding.severity],
      uri,
      resource: undefined,
      container: undefined,
      related: [],
      rejected: false,
      field: () => undefined,
    },
  ];
}

// ---------------------------------------------------------------------------------------------------------------
// Rules

interface CachedDocument {
  readonly rules: readonly Rule[];
  /** Of a document that moved among the others of its file there are new ones, and reports point at these. */
  readonly resources: readonly Resource[];
  readonly effective: readonly Effective[];
  readonly structures: readonly (Structure | undefined)[];
  /** By resource of the document. */
  readonly reports: readonly (readonly LocalReport[])[];
  readonly errors: readonly InternalError[];
}

const cache = new WeakMap<YamlDocument, CachedDocument>();

function checkDocument(
  session: Session,
  placed: PlacedDocument,
  resources: readonly Resource[],
  effective: readonly Effective[],
  unmet: Map<string, string>,
): Candidate[] {
  const cached = documentReports(session, placed, resources, effective);
  for (const error of cached.errors) keepFirst(session.errors, error);
  const candidates: Candidate[] = [];
  resources.forEach((resource, index) => {
    for (const report of cached.reports[index] ?? [])
      candidates.push(toCandidate(session.workspace, report, resource));
    const place = effective[index];
    if (place === undefined) return;
    const wider = widerReports(session, resource, place, unmet);
    for (const error of wider.errors) keepFirst(session.errors, error);
    for (const report of wider.reports) candidates.push(toCandidate(session.workspace, report, resource));
    for (const report of liveReports(session, resource, place, unmet))
      candidates.push(toCandidate(session.workspace, report, resource));
  });
  return candidates;
}

/** What a cluster says changes by the second, so nothing of it is kept. */
function liveReports(
  session: Session,
  resource: Resource,
  place: Effective,
  unmet: Map<string, string>,
): readonly LocalReport[] {
  const { live } = planOf(session, place, resource);
  if (live.length === 0) return [];
  const snapshot = session.live?.find(resource);
  const applied = session.live?.applied(resource);
  const able = live.filter(
    ({ appliedAlone }) => snapshot !== undefined || (appliedAlone && applied !== undefined),
  );
  if (able.length < live.length) {
    const why =
      session.live === undefined
        ? 'It needs a cluster, and none is connected'
        : 'The cluster was not asked about any object here that it speaks of';
    for (const rule of live) if (!able.includes(rule)) unmet.set(rule.id, why);
  }
  return runRules(able, session.workspace, resource, place, undefined, session.errors, { snapshot, applied });
}

interface WiderReports {
  readonly reports: readonly LocalReport[];
  readonly errors: readonly InternalError[];
}

interface CachedWider extends WiderReports {
  readonly surroundings: object;
  readonly rules: readonly Rule[];
  readonly effective: Effective;
}

const nothing: WiderReports = { reports: [], errors: [] };

const widerCache = new WeakMap<Resource, CachedWider>();

/**
 * What the rules that look at other files say about a resource. About a workload they say the same for as long as it and
 * its surroundings are the same, so that typing in one workload does not ask about all the others again.
 */
function widerReports(
  session: Session,
  resource: Resource,
  place: Effective,
  unmet: Map<string, string>,
): WiderReports {
  const { workspace, rules } = session;
  const keeps = !session.once && session.provides.workspace && isSeenInOutline(resource);
  const known = keeps ? widerCache.get(resource) : undefined;
  if (
    known !== undefined &&
    known.rules === rules &&
    known.effective === place &&
    known.surroundings === workspace.surroundings
  ) {
    return known;
  }
  const { wider } = planOf(session, place, resource);
  const why = unmetNeed(session, 'workspace');
  if (why !== undefined) {
    for (const { id } of wider) unmet.set(id, why);
    return nothing;
  }
  const errors = new Map<string, InternalError>();
  const reports = runRules(wider, workspace, resource, place, undefined, errors);
  const fresh = { reports, errors: [...errors.values()] };
  if (keeps) {
    widerCache.set(resource, { ...fresh, surroundings: workspace.surroundings, rules, effective: place });
  }
  return fresh;
}

/** What the rules that need this document only say about it; from the cache when nothing they see has changed. */
function documentReports(
  session: Session,
  placed: PlacedDocument,
  resources: readonly Resource[],
  effective: readonly Effective[],
): CachedDocument {
  const structures = resources.map(({ group, version, kind }) => session.schemas.of(group, version, kind));
  const known = session.once ? undefined : cache.get(placed.document);
  if (
    known !== undefined &&
    known.rules === session.rules &&
    sameItems(known.resources, resources) &&
    sameItems(known.effective, effective) &&
    sameItems(known.structures, structures)
  ) {
    return known;
  }
  const errors = new Map<string, InternalError>();
  const reports = resources.map((resource, index) => {
    const place = effective[index];
    if (place === undefined) return [];
    const { document } = planOf(session, place, resource);
    return runRules(document, undefined, resource, place, structures[index], errors);
  });
  const fresh: CachedDocument = {
    rules: session.rules,
    resources,
    effective,
    structures,
    reports,
    errors: [...errors.values()],
  };
  if (!session.once) cache.set(placed.document, fresh);
  return fresh;
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

/** The rules that run on resources of one kind in one place of the configuration, by what they need. */
interface Plan {
  readonly document: readonly Rule[];
  readonly wider: readonly Rule[];
  readonly live: readonly Rule[];
}

const plans = new WeakMap<
  Effective,
  { readonly rules: readonly Rule[]; readonly byKind: Map<string, Plan> }
>();

function planOf(session: Session, effective: Effective, resource: Resource): Plan {
  let known = plans.get(effective);
  if (known?.rules !== session.rules) {
    known = { rules: session.rules, byKind: new Map() };
    plans.set(effective, known);
  }
  // Two groups can share a kind, of which one has pods.
  const key = `${resource.group}/${resource.kind}`;
  let plan = known.byKind.get(key);
  if (plan === undefined) {
    const rules = session.rules.filter((rule) => appliesTo(rule, resource) && effective.mayRun(rule));
    plan = {
      document: rules.filter(({ needs }) => needs === 'document'),
      wider: rules.filter(({ needs }) => needs === 'workspace'),
      live: rules.filter(({ needs }) => needs === 'live'),
    };
    known.byKind.set(key, plan);
  }
  return plan;
}

function appliesTo(rule: Rule, resource: Resource): boolean {
  return (
    rule.kinds.includes(resource.kind) ||
    rule.kinds.includes('any') ||
    (rule.kinds.includes('pod-carrier') && isPodCarrier(resource))
  );
}

function unmetNeed(session: Session, needs: Needs): string | undefined {
  switch (needs) {
    case 'document':
      return undefined;
    case 'workspace':
      return session.provides.workspace
        ? undefined
        : 'It needs the other files, and only this one is at hand';
    case 'live':
      return session.live === undefined ? 'It needs a cluster, and none is connected' : undefined;
  }
}

/**
 * Runs rules on one resource. What one reported before it threw is kept, and the others run. They share one context,
 * whose answers depend on the rule whose turn it is: there are a hundred rules for each of many thousand objects.
 */
function runRules(
  rules: readonly Rule[],
  workspace: Workspace | undefined,
  resource: Resource,
  effective: Effective,
  structure: Structure | undefined,
  errors: Map<string, InternalError>,
  live?: { readonly snapshot: LiveSnapshot | undefined; readonly applied: unknown },
): LocalReport[] {
  const reports: LocalReport[] = [];
  let rule = rules[0];
  if (rule === undefined) return reports;
  let ownReports = 0;
  const context: RuleContext<Readonly<Record<string, unknown>>> = {
    get workspace() {
      if (workspace !== undefined) return workspace;
      throw new Error(`${rule?.id} needs "${rule?.needs}" and reads the workspace`);
    },
    structure,
    get live() {
      if (live?.snapshot !== undefined) return live.snapshot;
      throw new Error(`${rule?.id} needs "${rule?.needs}" and reads what a cluster said`);
    },
    applied: live?.applied,
    get options() {
      return rule === undefined ? {} : effective.options(rule);
    },
    models: effective.models,
    report(report) {
      if (rule === undefined) return;
      const decision = effective.decide(rule, report.container);
      const severity = severityOf(decision.loudness, report.severity);
      if (severity === 'off') return;
      const local = toLocal(rule, resource, report, severity, decision, workspace === undefined);
      const again = reports
        .slice(ownReports)
        .some(({ at, message }) => at.start === local.at.start && message === local.message);
      if (!again) reports.push(local);
    },
  };
  for (rule of rules) {
    ownReports = reports.length;
    try {
      rule.check(resource, context);
    } catch (error) {
      keepFirst(errors, {
        rule: rule.id,
        uri: resource.uri,
        message: `Rule ${rule.id} failed on ${resource.kind} ${resource.name ?? '(no name)'}: ${
          error instanceof Error ? error.message : String(error)
        }`,
        stack: error instanceof Error ? error.stack : undefined,
      });
    }
  }
  return reports;
}

function keepFirst(errors: Map<string, InternalError>, error: InternalError): void {
  if (!errors.has(error.rule)) errors.set(error.rule, error);
}

function toLocal(
  rule: Rule,
  resource: Resource,
  report: Report,
  severity: Severity,
  decision: Decision,
  documentOnly: boolean,
): LocalReport {
  const related = (report.related ?? []).map((place) => {
    if (documentOnly && place.resource.placed.document !== resource.placed.document) {
      throw new Error(`${rule.id} needs "${rule.needs}" and points at another document`);
    }
    return { resource: place.resource, at: spanOf(place.at, place.resource), message: place.message };
  });
  return {
    rule: rule.id,
    severity,
    accepted: decision.accepted,
    at: spanOf(report.at, resource),
    message: report.message,
    container: report.container,
    evidence: report.evidence,
    fixes: (report.fixes ?? []).flatMap((fix) => (fix === undefined ? [] : toFix(rule, fix))),
    related,
    rejected: rule.apiServerRejects === true || report.apiServerRejects === true,
  };
}

/** A place as a span of at least one character: an empty value is shown on its key. */
function spanOf(place: Place, resource: Resource): Span {
  const { start, end } = 'key' in place ? place.key : place;
  if (end > start) return { start, end };
  const { root } = resource.placed.document;
  const { field } = enclosing(root, { start, end });
  return field === undefined ? { start, end } : { start: field.start, end: field.keyEnd };
}

function toFix(rule: Rule, fix: Fix): FindingFix[] {
  if (fix.edits.length === 0) return [];
  const edits = [...fix.edits].sort((a, b) => a.start - b.start || a.end - b.end);
  edits.forEach((edit, index) => {
    const next = edits[index + 1];
    if (next !== undefined && next.start < edit.end)
      throw new Error(`${rule.id}: the edits of "${fix.title}" overlap`);
  });
  return [{ title: fix.title, safe: fix.safe, edits }];
}

function toCandidate(workspace: Workspace, report: LocalReport, resource: Resource): Candidate {
  const { uri } = resource;
  const placed = workspace.placeOf(resource);
  const { offset } = placed;
  const finding: Finding = {
    rule: report.rule,
    severity: report.severity,
    uri,
    at: shift(report.at, offset),
    message: report.message,
    related: report.related.map((place) => ({
      uri: place.resource.uri,
      at: shift(place.at, workspace.placeOf(place.resource).offset),
      message: place.message,
    })),
    fixes: report.fixes.map((fix) => ({ ...fix, edits: fix.edits.map((edit) => shiftEdit(edit, offset)) })),
    resource: resourceRef(resource),
    ...(report.container === undefined ? {} : { container: report.container }),
    ...(report.evidence === undefined ? {} : { evidence: report.evidence }),
    ...(report.rejected ? { apiServerRejects: true } : {}),
  };
  let field: ReturnType<Comparable['field']> | null = null;
  return {
    finding,
    placed,
    at: report.at,
    accepted: report.accepted,
    rule: report.rule,
    rank: severityRank[report.severity],
    uri,
    resource,
    container: report.container,
    related: report.related.map((place) => place.resource),
    rejected: report.rejected,
    field: () => (field === null ? (field = fieldOf(placed, report.at)) : field),
  };
}

function fieldOf(placed: PlacedDocument, at: Span): ReturnType<Comparable['field']> {
  const { field } = enclosing(placed.document.root, at);
  return field === undefined ? undefined : { ...shift(field, placed.offset), key: field.key };
}

export function resourceRef(resource: Resource): ResourceRef {
  const { uri, placed, apiVersion, kind, name, namespace } = resource;
  return { uri, document: placed.index, apiVersion, kind, name, namespace };
}

function shift(span: Span, by: number): Span {
  return { start: span.start + by, end: span.end + by };
}

function shiftEdit(edit: FileEdit, by: number): FileEdit {
  return { start: edit.start + by, end: edit.end + by, newText: edit.newText };
}

function speaksElsewhere(session: Session, id: string, resource: Resource): boolean {
  const rule = session.rules.find((candidate) => candidate.id === id);
  if (rule === undefined || !appliesTo(rule, resource) || unmetNeed(session, rule.needs) !== undefined)
    return false;
  let known = session.elsewhere.get(id);
  if (known === undefined) session.elsewhere.set(id, (known = new Map<Resource, boolean>()));
  let speaks = known.get(resource);
  if (speaks === undefined) {
    const effective = effectiveConfig(session.configFor(resource.uri), resource);
    speaks =
      effective.mayRun(rule) &&
      runRules([rule], session.workspace, resource, effective, undefined, session.errors).some(
        ({ accepted }) => accepted === undefined,
      );
    known.set(resource, speaks);
  }
  return speaks;
}

// ---------------------------------------------------------------------------------------------------------------
// Suppressions

function ranIn(session: Session, effective: readonly Effective[]): Ran {
  return (id) => {
    const rule = session.rules.find((candidate) => candidate.id === id);
    // The engine's own checks always run; `*` covers whatever ran.
    if (rule === undefined) return id === '*' || (ruleMeta(id)?.kinds.length ?? 1) === 0;
    if (unmetNeed(session, rule.needs) !== undefined) return false;
    return effective.some((place) => {
      const { loudness } = place.decide(rule);
      return (
        loudness.kind === 'set' ||
        (loudness.kind === 'preset' && !(loudness.errorsOnly && rule.severity !== 'error'))
      );
    });
  };
}

function applySuppressions(
  uri: string,
  placed: PlacedDocument,
  candidates: readonly Candidate[],
  silent: ReadonlySet<Candidate>,
  ran: Ran | undefined,
  effective: Effective,
  findings: Finding[],
  suppressed: SuppressedFinding[],
): void {
  const { document, offset } = placed;
  const { list, problems } = suppressionsOf(document);
  const used = new Set<object>();
  const take = (finding: Finding, at: Span, accepted: Decision['accepted'], isSilent: boolean): void => {
    const hiding = list.filter((suppression) => hides(suppression, document, finding.rule, at));
    for (const suppression of hiding) used.add(suppression);
    if (isSilent) return;
    const [first] = hiding;
    if (first !== undefined) {
      const reason = hiding.find(({ reason }) => reason !== undefined)?.reason;
      suppressed.push({ finding, kind: 'inSource', justification: reason });
    } else if (accepted !== undefined) {
      suppressed.push({ finding, kind: 'external', justification: accepted.reason });
    } else {
      findings.push(finding);
    }
  };
  for (const candidate of candidates) {
    take(candidate.finding, candidate.at, candidate.accepted, silent.has(candidate));
  }

  // Findings about suppressions can be suppressed by name; a `*` that hid the report of its own uselessness would
  // never be found.
  const about = (id: OwnRuleId, at: Span, message: string, fixes: readonly FindingFix[]): void => {
    const finding = ownFinding(uri, id, shift(at, offset), message, effective, fixes);
    if (finding === undefined) return;
    const hiding = list.find(
      (suppression) =>
        suppression.rule === id && !contains(suppression.at, at) && hides(suppression, document, id, at),
    );
    if (hiding === undefined) {
      findings.push(finding);
    } else {
      used.add(hiding);
      suppressed.push({ finding, kind: 'inSource', justification: hiding.reason });
    }
  };
  for (const problem of problems) {
    const { at, message, replacement } = problem;
    const plain = /^[\w*-]+$/.test(document.text.slice(at.start, at.end));
    const fixes: FindingFix[] =
      replacement === undefined || !plain
        ? []
        : [
            {
              title: `Write ${replacement}`,
              safe: false,
              edits: [{ ...shift(at, offset), newText: replacement }],
            },
          ];
    about(suppressionRule[problem.kind], at, message, fixes);
  }
  if (ran !== undefined) {
    const aboutSuppressions: readonly string[] = Object.values(suppressionRule);
    // Those about suppressions last: the loop itself may use them.
    const inTurn = [...list].sort(
      (a, b) => Number(aboutSuppressions.includes(a.rule)) - Number(aboutSuppressions.includes(b.rule)),
    );
    for (const suppression of inTurn) {
      if (used.has(suppression) || !ran(suppression.rule)) continue;
      const what = suppression.rule === '*' ? 'Nothing is' : `No finding of ${suppression.rule} is`;
      const fixes: FindingFix[] =
        suppression.removal === undefined
          ? []
          : [
              {
                title: 'Remove the suppression',
                safe: true,
                edits: [shiftEdit(suppression.removal, offset)],
              },
            ];
      about('unused-suppression', suppression.at, `${what} hidden by this suppression`, fixes);
    }
  }
}
