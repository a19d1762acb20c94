import type { Baseline } from '../live/baseline';
import { metricIds } from '../live/vocabulary';
import type { RangeName } from '../live/want';
import { logsQueryIds, ranges } from '../live/want';
import type { PanelConnection, PanelRefresh, PanelSession, PanelTextParams } from '../protocol/panel';
import { InvalidParams } from './guard';
import { parseSources } from './live-settings';
import { fieldsOf, isFields, positionOf, stringOf } from './params';

/** Checks of what the client sends about the panel; see `params.ts`. */

export function sessionOf(value: unknown): PanelSession {
  const { connection, focus, range, visible, baselines } = fieldsOf(value);
  const known = Object.keys(ranges).find((each): each is RangeName => each === range);
  if (known === undefined) throw new InvalidParams('range is none of the ranges');
  return {
    ...(connection === undefined ? {} : { connection: connectionOf(connection) }),
    ...(focus === undefined ? {} : { focus: focusOf(focus) }),
    range: known,
    visible: visible === true,
    baselines: baselinesOf(baselines),
  };
}

function connectionOf(value: unknown): PanelConnection {
  const fields = fieldsOf(value, 'connection');
  switch (fields['kind']) {
    case 'demo':
      return { kind: 'demo' };
    case 'cluster': {
      const { context, namespace, sources, prometheusToken } = fields;
      const sealed = isFields(prometheusToken) ? prometheusToken['sealed'] : undefined;
      return {
        kind: 'cluster',
        context: stringOf(context, 'connection.context'),
        ...(namespace === undefined ? {} : { namespace: stringOf(namespace, 'connection.namespace') }),
        // What is wrong with them is told where the settings are read.
        sources: parseSources(isFields(sources) ? sources : {}, []),
        ...(typeof sealed === 'string' ? { prometheusToken: { sealed } } : {}),
      };
    }
    default:
      throw new InvalidParams('connection.kind is neither "demo" nor "cluster"');
  }
}

function focusOf(value: unknown): NonNullable<PanelSession['focus']> {
  const { uri } = fieldsOf(value, 'focus');
  return { uri: stringOf(uri, 'focus.uri'), ...positionOf(value, 'focus') };
}

/** Baselines were stored by some version of the client: what makes no sense is left out. */
function baselinesOf(value: unknown): Readonly<Record<string, Baseline>> {
  const found: Record<string, Baseline> = {};
  for (const [key, each] of Object.entries(isFields(value) ? value : {})) {
    if (!isFields(each) || !isFields(each['values'])) continue;
    const { savedAt, window, values } = each;
    if (typeof savedAt !== 'number' || typeof window !== 'number') continue;
    const { values: given } = { values: values as Readonly<Record<string, unknown>> };
    const known = metricIds.flatMap((id) => {
      const amount = given[id];
      return typeof amount === 'number' && Number.isFinite(amount) ? [[id, amount] as const] : [];
    });
    found[key] = { savedAt, window, values: Object.fromEntries(known) };
  }
  return found;
}

export function refreshOf(value: unknown): PanelRefresh {
  const { logsQuery, cancelLogsQuery } = isFields(value) ? value : {};
  const cancelled = logsQueryIds.find((each) => each === cancelLogsQuery);
  if (cancelled !== undefined) return { cancelLogsQuery: cancelled };
  const query = logsQueryIds.find((each) => each === logsQuery);
  return query === undefined ? {} : { logsQuery: query };
}

export function textParamsOf(value: unknown): PanelTextParams {
  const fields = fieldsOf(value);
  if (fields['kind'] === 'open-log') {
    const pod = fieldsOf(fields['pod'], 'pod');
    const { container } = fields;
    return {
      kind: 'open-log',
      pod: {
        namespace: stringOf(pod['namespace'], 'pod.namespace'),
        name: stringOf(pod['name'], 'pod.name'),
      },
      ...(container === undefined ? {} : { container: stringOf(container, 'container') }),
      previous: fields['previous'] === true,
    };
  }
  if (fields['kind'] !== 'open-live-object') throw new InvalidParams('kind is no text of the panel');
  const { apiVersion, kind, namespace, name } = fieldsOf(fields['object'], 'object');
  return {
    kind: 'open-live-object',
    object: {
      apiVersion: stringOf(apiVersion, 'object.apiVersion'),
      kind: stringOf(kind, 'object.kind'),
      namespace: stringOf(namespace, 'object.namespace'),
      name: stringOf(name, 'object.name'),
    },
  };
}
