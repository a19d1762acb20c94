import { triggerFields, type TriggerField } from '../../kube/keda/fields';
import { isResourceType, triggerTypes } from '../../kube/keda/trigger-types';
import { isMap, textIn } from '../../yaml/node';
import type { Suggestion, SuggestionSource } from './suggestion';

/** Types of KEDA's triggers, the fields of their metadata, and the values that these take. */
export const triggerSuggestions: SuggestionSource = ({ cursor: { kind, path, holders }, unfinished }) => {
  if (unfinished.group !== 'keda.sh' || path[0] !== 'spec' || path[1] !== 'triggers') return [];
  if (typeof path[2] !== 'number') return [];
  if (path.length === 4 && path[3] === 'type' && kind === 'value') {
    return [...triggerTypes].map((label) => ({
      label,
      kind: 'value',
      ...(isResourceType(label) ? { detail: 'read by the HPA itself' } : {}),
    }));
  }
  if (path[3] !== 'metadata') return [];
  const trigger = holders[3];
  const type = isMap(trigger) ? textIn(trigger, 'type') : undefined;
  const fields = (type === undefined ? undefined : triggerFields[type]) ?? [];
  const metadata = holders[4];
  if (kind === 'key' && path.length === 4) {
    const used = new Set(isMap(metadata) ? metadata.entries.map(({ key }) => key.text) : []);
    return fields
      .filter(({ sources }) => sources.includes('metadata'))
      .filter(({ names }) => !names.some((name) => used.has(name)))
      .map(asKey);
  }
  if (kind !== 'value' || path.length !== 5) return [];
  const field = fields.find(({ names }) => names.includes(String(path[4])));
  const values = field?.oneOf ?? (field?.form === 'boolean' ? ['"true"', '"false"'] : []);
  return values.map((label) => ({ label, kind: 'value' }));
};

function asKey({ names: [name], required, form, default: fallback, oneOf }: TriggerField): Suggestion {
  const notes = [
    required === false ? [] : ['required'],
    oneOf === undefined ? [form] : [oneOf.join(' | ')],
    fallback === undefined || fallback === '' ? [] : [`${fallback} by default`],
  ].flat();
  return {
    label: name,
    // The values of metadata are texts: a bare number is refused.
    insert: form === 'number' || form === 'integer' || form === 'boolean' ? `${name}: ""` : `${name}: `,
    kind: 'key',
    detail: notes.join(', '),
    order: required === false ? '1' : '0',
  };
}
