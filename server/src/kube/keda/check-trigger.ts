import { triggerChecks } from './checks';
import { triggerFields, type TriggerField } from './fields';
import {
  makeReader,
  readField,
  type ProblemPlace,
  type Reading,
  type Trigger,
  type TriggerAuth,
  type TriggerProblem,
} from './trigger';
import { isForeignType, isResourceType, triggerTypes } from './trigger-types';
import { isMap, readBoolean, readDuration, readInteger, readNumber } from './values';

/**
 * What KEDA finds wrong with a trigger when it reads the ScaledObject (it does not look at the metadata on admission),
 * and names that it passes over. Nothing is said about what cannot be known: the answer of a trigger with unseen
 * authentication holds for whatever that authentication says.
 */
export function checkTrigger(trigger: Trigger, auth: TriggerAuth): readonly TriggerProblem[] {
  if (!triggerTypes.has(trigger.type)) {
    if (isForeignType(trigger.type)) return [];
    return [refused({ part: 'type' }, `KEDA has no trigger type "${trigger.type}"`)];
  }
  const problems: TriggerProblem[] = [...metricTypeProblems(trigger)];
  const fields = triggerFields[trigger.type];
  if (fields === undefined) return problems;
  for (const field of fields) problems.push(...fieldProblems(trigger, auth, field));
  const byName = new Map(fields.map((field) => [field.names[0], field]));
  triggerChecks[trigger.type]?.(makeReader(trigger, auth, byName, problems));
  return [...problems, ...ignoredNames(trigger, fields)];
}

function refused(at: ProblemPlace, message: string, more: Partial<TriggerProblem> = {}): TriggerProblem {
  return { at, message, verdict: 'refused', isNew: false, ...more };
}

function metricTypeProblems({ type, metricType }: Trigger): readonly TriggerProblem[] {
  if (metricType === undefined || metricType === '') return [];
  const allowed = isResourceType(type) ? ['Utilization', 'AverageValue'] : ['AverageValue', 'Value'];
  if (allowed.includes(metricType)) return [];
  return [
    refused(
      { part: 'metricType' },
      `metricType ${metricType} is not for ${type} triggers, which take ${allowed.join(' or ')}`,
    ),
  ];
}

function fieldProblems(trigger: Trigger, auth: TriggerAuth, field: TriggerField): readonly TriggerProblem[] {
  const found = readField(trigger, auth, field);
  const { isNew } = field;
  const needed = field.required === true || (field.required === 'alone' && trigger.composed === 'no');
  if (found.state === 'absent') {
    return needed ? [missingProblem(trigger, field)] : [];
  }
  if (found.state !== 'value' || found.from === 'default') return [];
  const problem = formProblem(found, field) ?? boundProblem(found, field, needed);
  if (problem === undefined) return [];
  // What comes from elsewhere may be a secret.
  const shown = found.from === 'metadata' ? `${found.name} "${found.text}"` : found.name;
  const at: ProblemPlace = found.from === 'auth' ? { part: 'type' } : { part: 'value', name: found.name };
  const suggestion = found.from === 'metadata' ? meant(found.text, field) : undefined;
  return [refused(at, `${shown} ${problem}`, { isNew, ...(suggestion === undefined ? {} : { suggestion }) })];
}

const yes = /^(?:true|yes|y|on|enabled?)$/i;
const no = /^(?:false|no|n|off|disabled?)$/i;

/** The value that was certainly meant: a boolean in other words, a choice in another case. */
function meant(text: string, { form, oneOf }: TriggerField): string | undefined {
  if (form === 'boolean') return yes.test(text) ? 'true' : no.test(text) ? 'false' : undefined;
  return oneOf?.find((each) => each.toLowerCase() === text.toLowerCase());
}

function missingProblem({ metadata }: Trigger, { names, sources, isNew }: TriggerField): TriggerProblem {
  const key = names.map((name) => `${name}FromEnv`).find((name) => (metadata.get(name) ?? '') !== '');
  if (key !== undefined && sources.includes('env')) {
    const variable = metadata.get(key) ?? '';
    return refused(
      { part: 'value', name: key },
      `${key} names "${variable}", which is not in the environment of the target's container`,
      { isNew },
    );
  }
  return refused({ part: 'key', name: names[0] }, names.join(' or '), { isNew, topic: 'missing' });
}

function formProblem({ text }: Reading & { state: 'value' }, field: TriggerField): string | undefined {
  switch (field.form) {
    case 'number':
      return readNumber(text) === undefined
        ? 'is not a number in the form that KEDA reads (5, 0.5, 1e3)'
        : undefined;
    case 'integer':
      return readInteger(text) === undefined
        ? 'is not a whole number in the form that KEDA reads'
        : undefined;
    case 'boolean':
      return readBoolean(text) === undefined ? 'is neither true nor false' : undefined;
    case 'duration':
      return readDuration(text) === undefined
        ? 'is neither a duration such as 30s nor a whole number of milliseconds'
        : undefined;
    case 'map':
      return isMap(text) ? undefined : 'is not a list of name=value pairs, with no other "=" and ","';
    case 'text':
      return choiceProblem(text, field);
  }
}

function choiceProblem(text: string, { oneOf, exclusive }: TriggerField): string | undefined {
  if (oneOf === undefined) return undefined;
  const items = text.split(',').map((item) => item.trim());
  if (!items.every((item) => oneOf.includes(item))) return `is not one of ${oneOf.join(', ')}`;
  const rivals = items.filter((item) => exclusive?.includes(item) === true);
  return rivals.length > 1 ? `has more than one of ${exclusive?.join(', ') ?? ''}` : undefined;
}

function boundProblem(
  { text }: Reading & { state: 'value' },
  field: TriggerField,
  needed: boolean,
): string | undefined {
  if (field.form !== 'number' && field.form !== 'integer') return undefined;
  const amount = Number(text);
  if (field.atLeast !== undefined && amount < field.atLeast) return `is below ${field.atLeast}`;
  const isOptional = field.required === 'alone' && !needed;
  if (field.above !== undefined && amount <= field.above && !isOptional) return `is not above ${field.above}`;
  return field.not !== undefined && amount === field.not && needed
    ? 'counts as none, and it is needed'
    : undefined;
}

/** Old names that many examples still show; KEDA passes over them without harm. */
const oldNames: ReadonlySet<string> = new Set(['metricName', 'cortexOrgID', 'cortexOrgId']);

function ignoredNames(trigger: Trigger, fields: readonly TriggerField[]): readonly TriggerProblem[] {
  // The scaler behind it gets all metadata.
  if (trigger.type === 'external' || trigger.type === 'external-push') return [];
  const sourcesOf = new Map(
    fields.flatMap((field) => field.names.map((name) => [name, field.sources] as const)),
  );
  return [...trigger.metadata.keys()].flatMap((name): readonly TriggerProblem[] => {
    const sources = sourcesOf.get(name);
    if (sources?.includes('metadata') === true || oldNames.has(name)) return [];
    const at: ProblemPlace = { part: 'key', name };
    const ignored = (message: string): readonly TriggerProblem[] => [
      {
        at,
        message,
        verdict: 'ignored',
        isNew: false,
        ...(sources === undefined ? { topic: 'misspelt' } : {}),
      },
    ];
    const base = /^(.+)FromEnv$/.exec(name)?.[1];
    if (base !== undefined && sourcesOf.get(base)?.includes('env') === true) return [];
    if (base !== undefined && sourcesOf.has(base))
      return ignored(`${base} of ${trigger.type} cannot come from the environment`);
    if (sources === undefined)
      return refusedElsewhere(trigger, name) ? [] : ignored(`${trigger.type} has no field ${name}`);
    const other = sources.includes('env')
      ? `a TriggerAuthentication or ${name}FromEnv`
      : 'a TriggerAuthentication';
    return refusedElsewhere(trigger, name)
      ? []
      : ignored(`${name} is read from ${other} only, not from the metadata`);
  });
}

/** The names that KEDA reads from the metadata of a type; `undefined` for types whose fields are not judged. */
export function metadataNames(type: string): readonly string[] | undefined {
  return triggerFields[type]?.flatMap(({ names, sources }) => [
    ...(sources.includes('metadata') ? names : []),
    ...(sources.includes('env') ? names.map((name) => `${name}FromEnv`) : []),
  ]);
}

/** Names that a check of the type refuses. */
function refusedElsewhere({ type }: Trigger, name: string): boolean {
  return (isResourceType(type) && name === 'type') || (type === 'influxdb' && name === 'authToken');
}

/** Whether KEDA refuses the trigger: then it builds none of the ScaledObject's triggers. */
export function isRefused(problems: readonly TriggerProblem[]): boolean {
  return problems.some(({ verdict }) => verdict === 'refused');
}
