import type { Resource } from '../../kube/resource';
import { isPodCarrier } from '../../kube/pod-carriers';
import { rules } from '../../rules/index';
import type { Rule } from '../../rules/rule';
import type { Workspace } from '../../workspace/workspace';
import type { Span } from '../../yaml/node';
import type { Config } from '../config';
import { effectiveConfig } from '../config';
import { hides, suppressionsOf } from '../suppressions';

/** What a rule says about a resource, whatever preset is in use. */
export interface Said {
  readonly message: string;
  /** Relative to the document. */
  readonly at: Span;
  /** The author has accepted it: the reason, or how. */
  readonly acceptedBecause: string | undefined;
}

const byId: ReadonlyMap<string, Rule> = new Map(rules.map((rule) => [rule.id, rule]));

/**
 * Asks one rule about one resource. The checklist asks what a preset leaves out as well; a rule that the author has
 * turned off, here or everywhere, is accepted and not silent.
 *
 * A rule that throws says nothing here: a run of the linter tells of it.
 */
export function said(workspace: Workspace, config: Config, id: string, resource: Resource): readonly Said[] {
  const rule = byId.get(id);
  const applies =
    rule !== undefined &&
    (rule.kinds.includes(resource.kind) || (rule.kinds.includes('pod-carrier') && isPodCarrier(resource)));
  if (!applies) return [];
  const effective = effectiveConfig(config, resource);
  const { document } = resource.placed;
  const suppressions = suppressionsOf(document).list;
  const found: Said[] = [];
  try {
    rule.check(resource, {
      workspace,
      get live(): never {
        throw new Error(`the checklist is about files, and ${id} reads what a cluster said`);
      },
      models: effective.models,
      options: effective.options(rule),
      report({ at, message, container }) {
        const { start, end } = 'key' in at ? at.key : at;
        const { accepted } = effective.decide(rule, container);
        const hiding = suppressions.find((suppression) => hides(suppression, document, id, { start, end }));
        const because =
          hiding !== undefined
            ? (hiding.reason ?? 'suppressed in the file')
            : accepted !== undefined
              ? (accepted.reason ?? 'turned off in the configuration')
              : config.rules.get(id)?.level === 'off'
                ? 'turned off in the configuration'
                : undefined;
        found.push({ message, at: { start, end }, acceptedBecause: because });
      },
    });
  } catch {
    return [];
  }
  return found;
}
