import type { FromPage } from '../../../server/src/protocol/panel';

export type PanelIntent = Extract<FromPage, { readonly type: 'intent' }>['intent'];

const ranges = ['15m', '1h', '6h', '24h', '7d'] as const;
const sources = ['kubernetes', 'engine-metrics', 'prometheus', 'cloudwatch', 'demo'] as const;
const queries = ['latency-percentiles', 'slow-requests', 'tokens-and-cost'] as const;

/** The largest file that a page may ask to be saved: pictures of all charts are far smaller. */
const maxContent = 32 * 1024 * 1024;

/**
 * What came from the page, if it is one of the messages that there are; nothing otherwise. The page is ours, but what
 * it shows is not: whatever it asks for is checked here, field by field, before anything is done.
 */
export function parseFromPage(value: unknown): FromPage | undefined {
  if (!isFields(value)) return undefined;
  switch (value['type']) {
    case 'ready':
    case 'refresh':
      return { type: value['type'] };
    case 'range': {
      const range = ranges.find((each) => each === value['range']);
      return range === undefined ? undefined : { type: 'range', range };
    }
    case 'intent': {
      const intent = parseIntent(value['intent']);
      return intent === undefined ? undefined : { type: 'intent', intent };
    }
    case 'save': {
      const { name, encoding, content } = value;
      if (!isText(name) || !/^[\w.-]{1,100}$/.test(name) || !isText(content)) return undefined;
      if (content.length > maxContent || (encoding !== 'utf8' && encoding !== 'base64')) return undefined;
      return { type: 'save', name, encoding, content };
    }
    default:
      return undefined;
  }
}

function parseIntent(value: unknown): PanelIntent | undefined {
  if (!isFields(value)) return undefined;
  const { kind } = value;
  switch (kind) {
    case 'open-place': {
      const place = parsePlace(value['place']);
      return place && { kind, place };
    }
    case 'quick-fix': {
      const place = parsePlace(value['place']);
      const { title } = value;
      return place && { kind, place, ...(isText(title) ? { title } : {}) };
    }
    case 'open-log': {
      const { pod, container, previous } = value;
      if (!isFields(pod) || !isText(pod['namespace']) || !isText(pod['name'])) return undefined;
      return {
        kind,
        pod: { namespace: pod['namespace'], name: pod['name'] },
        ...(isText(container) ? { container } : {}),
        previous: previous === true,
      };
    }
    case 'open-live-object': {
      const { object } = value;
      if (!isFields(object)) return undefined;
      const { apiVersion, kind: objectKind, namespace, name } = object;
      if (!isText(apiVersion) || !isText(objectKind) || !isText(namespace) || !isText(name)) return undefined;
      return { kind, object: { apiVersion, kind: objectKind, namespace, name } };
    }
    case 'terminal':
      return isText(value['command']) ? { kind, command: value['command'] } : undefined;
    case 'copy':
      return isText(value['text']) ? { kind, text: value['text'] } : undefined;
    case 'run-logs-query':
    case 'cancel-logs-query': {
      const query = queries.find((each) => each === value['query']);
      return query && { kind, query };
    }
    case 'configure-source': {
      const source = sources.find((each) => each === value['source']);
      return source && { kind, source };
    }
    case 'save-baseline':
    case 'clear-baseline':
    case 'use-demo':
      return { kind };
    case 'open-rule':
      return isText(value['rule']) ? { kind, rule: value['rule'] } : undefined;
    case 'open-settings': {
      const { setting } = value;
      return isText(setting) && /^plimsoll(\.\w+)*$/.test(setting) ? { kind, setting } : undefined;
    }
    default:
      return undefined;
  }
}

function parsePlace(value: unknown): Extract<PanelIntent, { kind: 'open-place' }>['place'] | undefined {
  if (!isFields(value) || !isText(value['uri']) || !isFields(value['at'])) return undefined;
  const { start, end } = value['at'];
  if (typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { uri: value['uri'], at: { start, end } };
}

/**
 * Whether a command can be put into a terminal without running: a line end would run it, and other controls could
 * change what is seen of it.
 */
export function isOneLine(command: string): boolean {
  // eslint-disable-next-line no-control-regex
  return !/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(command);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
