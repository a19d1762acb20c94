import type { Resource } from '../kube/resource';
import type { LiveSnapshot } from '../live/snapshot';
import type { UserModel } from '../sizing/models/types';
import type { Structure } from '../structure/shape';
import type { Edit } from '../yaml/edit';
import type { Entry, Span, YamlNode } from '../yaml/node';
import type { Workspace } from '../workspace/workspace';

/**
 * - `error`: the API server rejects it or the pod cannot run.
 * - `warning`: GPUs are wasted, or there is an outage under load.
 * - `info`: advice, or an estimate.
 * - `hint`: style.
 */
export type Severity = 'error' | 'warning' | 'info' | 'hint';

/** What a rule has to see: one document, the other files, or a cluster. Unmet needs are listed as skipped. */
export type Needs = 'document' | 'workspace' | 'live';

export interface Fix {
  /** An imperative with the number it writes: `Request 4 GPUs`. */
  readonly title: string;
  /** Does not change what the author meant, and holds no number that we chose: it may run in fix-all. */
  readonly safe: boolean;
  /** Relative to the document of the resource. */
  readonly edits: readonly Edit[];
}

/** Another place that belongs to a finding, in the same or another document. */
export interface Related {
  readonly resource: Resource;
  readonly at: Place;
  readonly message: string;
}

/** A key with its value stands for the key; a node for its own text. */
export type Place = YamlNode | Entry | Span;

export interface Report {
  readonly at: Place;
  /** What was seen, with names and numbers, then the consequence. No full stop at the end. */
  readonly message: string;
  /** Where one report differs from the rule's usual severity. */
  readonly severity?: Severity;
  readonly fixes?: readonly (Fix | undefined)[];
  readonly related?: readonly Related[];
  /** The container (or other part) that the finding is about, for overrides in the configuration. */
  readonly container?: string;
  /** The API server refuses the object for this, though not for everything that the rule reports. */
  readonly apiServerRejects?: true;
  /** What the message rests on, one statement each: a term of a sum, a figure with its source. */
  readonly evidence?: readonly string[];
}

export interface RuleContext<Options> {
  /** For rules that need it only: what a rule of one document sees must not depend on other files. */
  readonly workspace: Workspace;
  /** What an object of this kind may look like, for rules of one document; absent for kinds without a schema. */
  readonly structure?: Structure | undefined;
  /** What the cluster said about the object; for rules that need `live` only. */
  readonly live: LiveSnapshot;
  /** The object as the cluster has it, for rules that need `live`; `undefined` where it is not known. */
  readonly applied?: unknown;
  readonly options: Options;
  /** Models that the configuration of the file describes; they win over the catalogue. */
  readonly models: readonly UserModel[];
  report(report: Report): void;
}

/** One option of a rule: its default and, for people and the configuration schema, what it means. */
export interface OptionMeta<T = unknown> {
  readonly default: T;
  readonly description: string;
  readonly schema: OptionSchema;
}

/** The part of JSON Schema that options are described with; the configuration is checked against it. */
export type OptionSchema =
  | { readonly type: 'boolean' }
  | { readonly type: 'integer' | 'number'; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: 'string'; readonly enum?: readonly string[]; readonly pattern?: string }
  | { readonly type: 'array'; readonly items: OptionSchema }
  | { readonly type: 'object'; readonly additionalProperties: OptionSchema };

export interface RuleMeta {
  /** Flat kebab-case, a statement of the problem; also the file's name. */
  readonly id: string;
  /** One sentence; the first one of the rule's document. */
  readonly summary: string;
  /** Severity in the `recommended` preset, or off there. */
  readonly severity: Severity | 'off';
  /** Severity in the `strict` preset, where it differs. */
  readonly strict?: Severity;
  readonly needs: Needs;
  /** Of a rule that needs `live`: it looks at `applied` alone, which can be known without a snapshot. */
  readonly appliedAlone?: true;
  /** Kinds as in the manifest (`Deployment`), `pod-carrier` for everything with a pod template, or `any`. */
  readonly kinds: readonly string[];
  /** `safe`: all fixes may run in fix-all; `suggest`: some need a decision; `none`: it has none. */
  readonly fixable: 'safe' | 'suggest' | 'none';
  /**
   * The API server refuses the object for what this rule reports, so softer findings on the same field say nothing
   * more (see `engine/supersedes.ts`).
   */
  readonly apiServerRejects?: true;
}

export interface Rule<Options = unknown> extends RuleMeta {
  readonly options: { readonly [K in keyof Options]: OptionMeta<Options[K]> };
  check(resource: Resource, context: RuleContext<Options>): void;
}

type RuleDefinition<Options> = Omit<Rule<Options>, 'options'> &
  (keyof Options extends never
    ? { readonly options?: Rule<Options>['options'] }
    : Pick<Rule<Options>, 'options'>);

/** Types a rule; its options are inferred from their defaults. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a rule without options has an empty record
export function defineRule<Options = {}>(definition: RuleDefinition<Options>): Rule {
  return { options: {}, ...definition } as unknown as Rule;
}
