import { truth, type Truth } from '../truth';
import type { FieldSource, TriggerField } from './fields';
import { readBoolean, readInteger, readNumber } from './values';

/** A trigger of a ScaledObject or ScaledJob as plain text. `undefined` stands for text that is only known later. */
export interface Trigger {
  readonly type: string;
  /** Empty when there is none. */
  readonly metricType: string | undefined;
  readonly metadata: ReadonlyMap<string, string | undefined>;
  /** A template or the rest of a patched object can bring more metadata. */
  readonly open: boolean;
  /** Whether scalingModifiers compose the metric, so that the trigger needs no target of its own. */
  readonly composed: Truth;
}

/**
 * What a trigger gets from elsewhere: parameters of its TriggerAuthentication, the pod identity's provider (empty for
 * none), and the environment of the target's container. `unseen` can hold anything.
 */
export interface TriggerAuth {
  readonly parameters: ReadonlyMap<string, string | undefined> | 'unseen';
  /** `undefined` when there is one that is not known. */
  readonly podIdentity: string | undefined;
  readonly env: ReadonlyMap<string, string | undefined> | 'unseen';
}

/** No authentication, and a container without environment. */
export const noAuth: TriggerAuth = { parameters: new Map(), podIdentity: '', env: new Map() };

export const unseenAuth: TriggerAuth = { parameters: 'unseen', podIdentity: undefined, env: 'unseen' };

/** Where a problem is. A field has the name that is written, or would be. */
export type ProblemPlace =
  | { readonly part: 'type' | 'metricType' | 'metadata' }
  | { readonly part: 'key' | 'value'; readonly name: string };

export interface TriggerProblem {
  readonly at: ProblemPlace;
  /** A clause about what was seen, without its consequence. No secret values. */
  readonly message: string;
  /** `ignored`: KEDA builds the trigger without the field. */
  readonly verdict: 'refused' | 'ignored';
  /** Release 2.20.2 does not refuse it, the main branch after it does. */
  readonly isNew: boolean;
  /** Problems that a rule of its own speaks about, or that one finding gathers. */
  readonly topic?: 'missing' | 'misspelt' | 'cloudwatch-window';
  /** What was probably meant, as the name or the value in its place. */
  readonly suggestion?: string;
}

/** The text of a field after looking in all its sources. */
export type Reading =
  | {
      readonly state: 'value';
      readonly text: string;
      readonly name: string;
      readonly from: FieldSource | 'default';
    }
  | { readonly state: 'absent' | 'unknown' };

const absent: Reading = { state: 'absent' };
const unknown: Reading = { state: 'unknown' };

/** As KEDA's `configParamValue`: source by source, name by name; spaces are cut off and empty text is none. */
export function readField(trigger: Trigger, auth: TriggerAuth, field: TriggerField): Reading {
  for (const from of field.sources) {
    if (from === 'auth' && auth.parameters === 'unseen') return unknown;
    for (const name of field.names) {
      const found = readSource(trigger, auth, from, name);
      if (found.state !== 'absent') return found;
    }
  }
  // Parameters of an authentication that is seen are all known, but a template may add metadata.
  if (trigger.open && field.sources.some((from) => from !== 'auth')) return unknown;
  return field.default === undefined
    ? absent
    : { state: 'value', text: field.default, name: field.names[0], from: 'default' };
}

function readSource(trigger: Trigger, auth: TriggerAuth, from: FieldSource, name: string): Reading {
  switch (from) {
    case 'metadata':
      return reading(trigger.metadata, name, name, from);
    case 'auth':
      return auth.parameters === 'unseen' ? unknown : reading(auth.parameters, name, name, from);
    case 'env': {
      const key = `${name}FromEnv`;
      if (!trigger.metadata.has(key)) return absent;
      const variable = trigger.metadata.get(key);
      if (variable === undefined) return unknown;
      if (variable === '') return absent;
      return auth.env === 'unseen' ? unknown : reading(auth.env, variable, key, from);
    }
  }
}

function reading(
  values: ReadonlyMap<string, string | undefined>,
  key: string,
  name: string,
  from: FieldSource,
): Reading {
  if (!values.has(key)) return absent;
  const text = values.get(key);
  if (text === undefined) return unknown;
  return text.trim() === '' ? absent : { state: 'value', text: text.trim(), name, from };
}

/** The fields of one trigger, for checks that look at several of them. */
export interface TriggerReader {
  readonly trigger: Trigger;
  readonly auth: TriggerAuth;
  /** By the first name of a field. */
  read(name: string): Reading;
  /** Something is written, a default does not count. */
  given(name: string): Truth;
  /** The value, or the default, is one of these. */
  is(name: string, ...texts: readonly string[]): Truth;
  isTrue(name: string): Truth;
  /** The value or default as a number; `undefined` when it is unknown, absent or none. */
  number(name: string): number | undefined;
  /** Adds a problem when the condition certainly holds. */
  refuse(condition: Truth, at: ProblemPlace, message: string, more?: Partial<TriggerProblem>): void;
}

export function makeReader(
  trigger: Trigger,
  auth: TriggerAuth,
  fields: ReadonlyMap<string, TriggerField>,
  problems: TriggerProblem[],
): TriggerReader {
  const read = (name: string): Reading => {
    const field = fields.get(name);
    return field === undefined ? absent : readField(trigger, auth, field);
  };
  return {
    trigger,
    auth,
    read,
    given: (name) => {
      const found = read(name);
      return found.state === 'unknown'
        ? 'unknown'
        : truth(found.state === 'value' && found.from !== 'default');
    },
    is: (name, ...texts) => {
      const found = read(name);
      return found.state === 'unknown'
        ? 'unknown'
        : truth(found.state === 'value' && texts.includes(found.text));
    },
    isTrue: (name) => {
      const found = read(name);
      if (found.state === 'absent') return 'no';
      const value = found.state === 'value' ? readBoolean(found.text) : undefined;
      return value === undefined ? 'unknown' : truth(value);
    },
    number: (name) => {
      const found = read(name);
      if (found.state !== 'value') return undefined;
      if (fields.get(name)?.form !== 'integer') return readNumber(found.text);
      const whole = readInteger(found.text);
      return whole === undefined ? undefined : Number(whole);
    },
    refuse: (condition, at, message, more = {}) => {
      if (condition === 'yes') problems.push({ at, message, verdict: 'refused', isNew: false, ...more });
    },
  };
}
