import { checkTrigger, metadataNames } from '../../kube/keda/check-trigger';
import { placeIn, triggersOf, type WrittenTrigger } from '../../kube/keda/read-triggers';
import type { TriggerProblem } from '../../kube/keda/trigger';
import { isResourceType, triggerTypes } from '../../kube/keda/trigger-types';
import { commentBehind, insertKey, removeEntry, renameKey, replaceScalar, type Edit } from '../../yaml/edit';
import { entryOf, isScalar, scalarIn, type Entry } from '../../yaml/node';
import { nearest } from '../nearest';
import { defineRule, type Fix, type Related, type Report, type RuleContext } from '../rule';
import { linePlace } from './place';
import { authenticationResource, triggerAuth } from './trigger-auth';

export default defineRule({
  id: 'keda-trigger-invalid',
  summary: 'A KEDA trigger has a known type and metadata that its scaler reads',
  severity: 'error',
  needs: 'workspace',
  kinds: ['ScaledObject', 'ScaledJob'],
  fixable: 'suggest',
  check(resource, context) {
    const triggers = triggersOf(resource);
    for (const trigger of triggers) checkOne(trigger, context);
    checkTogether(triggers, context);
  },
});

type Context = RuleContext<object>;

function checkOne(trigger: WrittenTrigger, { report, workspace }: Context): void {
  if (isPlaceholder(trigger.type)) return;
  const unquoted = unquotedValues(trigger);
  for (const entry of unquoted) report(unquotedReport(trigger, entry));
  const problems = checkTrigger(trigger, triggerAuth(workspace, trigger)).filter(
    ({ at, topic }) =>
      topic !== 'cloudwatch-window' &&
      !(at.part === 'value' && unquoted.some((entry) => entry.key.text === at.name)),
  );
  const missing = problems.filter(({ topic }) => topic === 'missing');
  const misspelt = misspellings(trigger, problems);
  // What a misspelt name was meant to bring is not missing as well.
  const stillMissing = missing.filter(
    ({ at }) => !('name' in at && [...misspelt.values()].includes(at.name)),
  );
  if (stillMissing.length > 0) report(missingReport(trigger, stillMissing));
  for (const problem of problems) {
    if (problem.topic === 'missing') continue;
    const related = authenticationResource(workspace, trigger);
    report({
      ...problemReport(trigger, problem, misspelt, missing),
      ...(related !== undefined && /TriggerAuthentication/.test(problem.message)
        ? { related: [authenticationPlace(related)] }
        : {}),
    });
  }
}

/** Stands for a type in a form that is to be filled in. */
function isPlaceholder(type: string): boolean {
  return /^(?:example|my|your|some)-|^<.*>$/.test(type);
}

function authenticationPlace(resource: NonNullable<ReturnType<typeof authenticationResource>>): Related {
  return {
    resource,
    at: scalarIn(resource.root, 'metadata', 'name') ?? resource.root,
    message: 'Its parameters come from here',
  };
}

function consequence({ resource }: WrittenTrigger, { isNew }: Pick<TriggerProblem, 'isNew'>): string {
  return isNew
    ? `KEDA after release 2.20.2 refuses the trigger, and with it the whole ${resource.kind}`
    : `KEDA refuses the trigger, and with it the whole ${resource.kind}: nothing is scaled`;
}

// ---------------------------------------------------------------------------------------------------------------
// Values without quotes

/** The API server takes nothing but strings. */
function unquotedValues({ metadataNode }: WrittenTrigger): readonly Entry[] {
  return (metadataNode?.entries ?? []).filter(
    ({ value }) =>
      isScalar(value) &&
      !value.unknown &&
      (typeof value.value === 'number' || typeof value.value === 'boolean'),
  );
}

function unquotedReport({ resource }: WrittenTrigger, { key, value }: Entry): Report {
  const scalar = isScalar(value) ? value : undefined;
  const type = typeof scalar?.value;
  const edits =
    scalar === undefined ? undefined : replaceScalar(resource.placed.document, scalar, scalar.text);
  return {
    at: value,
    message: `${key.text} is a ${type} without quotes, and the metadata of a trigger holds strings; the API server rejects the ${resource.kind}`,
    fixes: [
      edits === undefined
        ? undefined
        : { title: `Write ${scalar?.text ?? ''} as a string`, safe: true, edits },
    ],
  };
}

// ---------------------------------------------------------------------------------------------------------------
// Names

/** The known name that each misspelt one was probably meant for, by the name that is written. */
function misspellings(
  { type, metadata }: WrittenTrigger,
  problems: readonly TriggerProblem[],
): ReadonlyMap<string, string> {
  const known = (metadataNames(type) ?? []).filter((name) => !metadata.has(name));
  const found = new Map<string, string>();
  for (const { topic, at } of problems) {
    if (topic !== 'misspelt' || !('name' in at)) continue;
    const meant = nearest(at.name, known);
    if (meant !== undefined) found.set(at.name, meant);
  }
  return found;
}

/** Keys of the trigger itself that are easily written one step too deep. */
const besideMetadata: readonly string[] = ['metricType', 'useCachedMetrics', 'authenticationRef'];

function missingReport(trigger: WrittenTrigger, missing: readonly TriggerProblem[]): Report {
  const [first] = missing;
  const names = missing.map(({ message }) => message);
  const list =
    names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
  const isNew = missing.every((problem) => problem.isNew);
  return {
    at: linePlace(trigger.resource, placeIn(trigger, first?.at ?? { part: 'metadata' })),
    message: `The ${trigger.type} trigger lacks ${list}; ${consequence(trigger, { isNew })}`,
    ...(isNew ? { severity: 'warning' as const } : {}),
  };
}

function problemReport(
  trigger: WrittenTrigger,
  problem: TriggerProblem,
  misspelt: ReadonlyMap<string, string>,
  missing: readonly TriggerProblem[],
): Report {
  const at = linePlace(trigger.resource, placeIn(trigger, problem.at));
  if (problem.verdict === 'refused') {
    return {
      at,
      message: `${capital(problem.message)}; ${consequence(trigger, problem)}`,
      ...(problem.isNew ? { severity: 'warning' as const } : {}),
      fixes: [refusedFix(trigger, problem)],
    };
  }
  const name = 'name' in problem.at ? problem.at.name : '';
  const meant = misspelt.get(name);
  if (besideMetadata.includes(name) && problem.topic === 'misspelt') {
    return {
      at,
      message: `${name} stands beside the metadata of a trigger, not in it, where KEDA passes over it`,
      severity: 'warning',
    };
  }
  if (meant === undefined) {
    return {
      at,
      message: `${capital(problem.message)}; KEDA passes over it`,
      severity: problem.topic === 'misspelt' ? 'info' : 'warning',
    };
  }
  const isMissing = missing.some((other) => 'name' in other.at && other.at.name === meant);
  const entry = entryOf(trigger.metadataNode, name);
  const edits = entry === undefined ? undefined : renameKey(trigger.resource.placed.document, entry, meant);
  return {
    at,
    message: isMissing
      ? `${capital(problem.message)}, and ${meant} is missing; ${consequence(trigger, problem)}`
      : `${capital(problem.message)}: KEDA passes over it, and ${meant} keeps its default`,
    ...(isMissing ? {} : { severity: 'warning' as const }),
    fixes: [edits === undefined ? undefined : { title: `Rename it to ${meant}`, safe: false, edits }],
  };
}

/** Sentences begin with a capital letter, names of fields stay as they are. */
function capital(message: string): string {
  return /^(?:the|an?|only) /.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
}

// ---------------------------------------------------------------------------------------------------------------
// Fixes

function refusedFix(trigger: WrittenTrigger, problem: TriggerProblem): Fix | undefined {
  const { document } = trigger.resource.placed;
  if (problem.at.part === 'type' && !triggerTypes.has(trigger.type)) {
    const type = nearest(trigger.type, triggerTypes);
    const edits = type === undefined ? undefined : replaceScalar(document, trigger.typeNode, type);
    return edits === undefined ? undefined : { title: `Use the type ${type ?? ''}`, safe: false, edits };
  }
  if (problem.at.part === 'key' && problem.at.name === 'type' && isResourceType(trigger.type))
    return moveMetricType(trigger);
  const place = placeIn(trigger, problem.at);
  if (problem.suggestion === undefined || !('kind' in place) || place.kind !== 'scalar') return undefined;
  const edits = replaceScalar(document, place, problem.suggestion);
  return edits === undefined ? undefined : { title: `Write ${problem.suggestion}`, safe: false, edits };
}

/** `metadata.type`, which KEDA read until 2.17, says the same as `metricType` beside the metadata. */
function moveMetricType({ resource, node, metadataNode, metadata }: WrittenTrigger): Fix | undefined {
  const { document } = resource.placed;
  const type = metadata.get('type')?.trim() ?? '';
  if (metadataNode === undefined || (type !== 'Utilization' && type !== 'AverageValue')) return undefined;
  const other = scalarIn(node, 'metricType');
  if (other !== undefined && other.text !== type) return undefined;
  const comment = commentBehind(document, entryOf(metadataNode, 'type'));
  const parts: readonly (readonly Edit[] | undefined)[] = [
    other === undefined ? insertKey(document, node, 'metricType', type, { before: 'metadata', comment }) : [],
    removeEntry(document, metadataNode, 'type'),
  ];
  return parts.includes(undefined)
    ? undefined
    : {
        title: `Move ${type} to metricType`,
        safe: true,
        edits: parts.flatMap((part) => part ?? []),
      };
}

// ---------------------------------------------------------------------------------------------------------------
// Several triggers

/** What KEDA's admission webhook says of the list: names are unique, and some types have nothing to cache. */
function checkTogether(triggers: readonly WrittenTrigger[], { report }: Context): void {
  const names = new Map<string, WrittenTrigger>();
  for (const trigger of triggers) {
    const { resource } = trigger;
    const name = scalarIn(trigger.node, 'name');
    if (name !== undefined && !name.unknown && name.value !== null && name.text !== '') {
      const first = names.get(name.text);
      if (first !== undefined) {
        report({
          at: name,
          message: `Two triggers have the name "${name.text}"; KEDA's webhook refuses the ${resource.kind}`,
          related: [
            {
              resource,
              at: scalarIn(first.node, 'name') ?? first.node,
              message: 'The first one of the name',
            },
          ],
        });
      }
      names.set(name.text, first ?? trigger);
    }
    const cached = scalarIn(trigger.node, 'useCachedMetrics');
    if (cached?.value === true && (isResourceType(trigger.type) || trigger.type === 'cron')) {
      report({
        at: cached,
        message: `useCachedMetrics is not for ${trigger.type} triggers; KEDA's webhook refuses the ${resource.kind}`,
      });
    }
  }
}
