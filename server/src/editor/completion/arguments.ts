import { runningContainers } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { modelCatalogue } from '../../sizing/models/catalogue';
import { isScalar, isSequence } from '../../yaml/node';
import { engineArguments, type EngineArgument } from './engine-arguments';
import type { Suggestion, SuggestionSource } from './suggestion';

/** Options of the model server that a container runs, and their values. */
export const argumentSuggestions: SuggestionSource = ({ cursor, unfinished, current }) => {
  const list = cursor.holders.at(-1);
  const field = cursor.path.at(-2);
  if (cursor.kind !== 'value' || !isSequence(list) || (field !== 'args' && field !== 'command')) return [];
  const known = argumentsOf(unfinished, cursor.holders) ?? argumentsOf(current, undefined);
  if (known === undefined) return [];
  if (cursor.option !== undefined) {
    const option = known.find(({ name }) => `--${name}` === cursor.option);
    return option === undefined ? [] : valuesOf(option);
  }
  const before = list.items.at(-2);
  const previous = isScalar(before) ? known.find(({ name }) => `--${name}` === before.text) : undefined;
  const used = new Set(
    list.items.flatMap((item) => (isScalar(item) ? [item.text.replace(/^--|=.*$/gs, '')] : [])),
  );
  return [
    ...(previous === undefined ? [] : valuesOf(previous)),
    ...known.filter(({ name }) => !used.has(name)).map(asSuggestion),
  ];
};

/** Of the container that is on the way to the cursor, else of the only model server of the pod. */
function argumentsOf(
  resource: Parameters<typeof podTemplates>[0] | undefined,
  holders: readonly unknown[] | undefined,
): readonly EngineArgument[] | undefined {
  if (resource === undefined) return undefined;
  const engines = podTemplates(resource)
    .flatMap(runningContainers)
    .filter(({ node }) => holders === undefined || holders.includes(node))
    .flatMap((container) => modelServerOf(container)?.engine ?? []);
  const [engine] = engines;
  return engine === undefined || new Set(engines).size > 1 ? undefined : engineArguments[engine];
}

function asSuggestion({ name, summary, value }: EngineArgument): Suggestion {
  return {
    label: `--${name}`,
    insert: value === undefined ? `--${name}` : `--${name}=`,
    kind: 'key',
    documentation: summary,
    ...(typeof value === 'object' ? { detail: value.join(' | ') } : {}),
    order: '1',
  };
}

function valuesOf({ value, summary }: EngineArgument): readonly Suggestion[] {
  if (value === 'model') {
    const names = modelCatalogue.flatMap(({ id, aliases }) => [
      id,
      ...aliases.filter((alias) => alias.includes('/')),
    ]);
    return [...new Set(names)].map((label) => ({ label, kind: 'name', documentation: summary, order: '0' }));
  }
  if (typeof value !== 'object') return [];
  return value.map((each, index) => ({
    label: each,
    kind: 'value',
    documentation: summary,
    order: `0${String(index).padStart(2, '0')}`,
  }));
}
