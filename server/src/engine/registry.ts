import { ruleAreas, rules } from '../rules/index';
import type { Rule, RuleMeta } from '../rules/rule';
import { ownRules } from './own-rules';

/** Everything that can be reported, configured, suppressed and explained, sorted by id. */
export const ruleMetas: readonly RuleMeta[] = [...rules, ...ownRules].sort((a, b) => (a.id < b.id ? -1 : 1));

const byId: ReadonlyMap<string, RuleMeta> = new Map(ruleMetas.map((meta) => [meta.id, meta]));

const optionsById: ReadonlyMap<string, Rule['options']> = new Map(
  rules.map((rule) => [rule.id, rule.options]),
);

export function ruleMeta(id: string): RuleMeta | undefined {
  return byId.get(id);
}

/** The options that a rule takes; none for the engine's own. */
export function ruleOptions(id: string): Rule['options'] {
  return optionsById.get(id) ?? {};
}

/** Where a rule's document stands in the source tree, relative to its root. */
export function ruleDocPath(id: string): string {
  const area = ruleAreas[id];
  return area === undefined ? `server/src/engine/docs/${id}.md` : `server/src/rules/${area}/${id}.md`;
}

/** The page that explains a rule. */
export function ruleDocUrl(id: string): string {
  return `https://github.com/plimsoll-dev/plimsoll/blob/main/${ruleDocPath(id)}`;
}
