import type { RuleMeta } from '../rules/rule';

/**
 * What the engine reports by itself: it has an id, a severity and a document like any rule, and can be configured
 * and suppressed, but looks at text, configuration and suppressions instead of a resource.
 */
export type OwnRuleId =
  | 'yaml-syntax'
  | 'duplicate-key'
  | 'config-invalid'
  | 'unknown-suppression'
  | 'unused-suppression'
  | 'suppression-without-reason';

export const ownRules: readonly (RuleMeta & { readonly id: OwnRuleId })[] = [
  {
    id: 'yaml-syntax',
    summary: 'A manifest must be well-formed YAML',
    severity: 'error',
    needs: 'document',
    kinds: [],
    fixable: 'none',
    apiServerRejects: true,
  },
  {
    id: 'duplicate-key',
    summary: 'A key must occur only once in a map',
    severity: 'error',
    needs: 'document',
    kinds: [],
    fixable: 'none',
  },
  {
    id: 'config-invalid',
    summary: 'The configuration must name existing rules, keys and values',
    severity: 'error',
    needs: 'document',
    kinds: [],
    fixable: 'suggest',
  },
  {
    id: 'unknown-suppression',
    summary: 'A suppression must name existing rules in a known form',
    severity: 'warning',
    needs: 'document',
    kinds: [],
    fixable: 'suggest',
  },
  {
    id: 'unused-suppression',
    summary: 'A suppression must hide at least one finding',
    severity: 'info',
    needs: 'document',
    kinds: [],
    fixable: 'safe',
  },
  {
    id: 'suppression-without-reason',
    summary: 'A suppression gives its reason',
    severity: 'off',
    strict: 'info',
    needs: 'document',
    kinds: [],
    fixable: 'none',
  },
];
