import {
  entryOf,
  isNull,
  isScalar,
  mapIn,
  scalarIn,
  type Entry,
  type MapNode,
  type ScalarNode,
} from '../yaml/node';
import { knownCount, unknownCount, countOf, type Count } from './count';

export type ProbeKind = 'readiness' | 'liveness' | 'startup';

export type ProbeHandler = 'httpGet' | 'tcpSocket' | 'exec' | 'grpc';

/** Defaults of `core/v1 Probe`. */
const defaults = {
  initialDelaySeconds: 0,
  periodSeconds: 10,
  timeoutSeconds: 1,
  failureThreshold: 3,
  successThreshold: 1,
} as const;

export interface Probe {
  readonly kind: ProbeKind;
  /** `readinessProbe:` with its value. */
  readonly entry: Entry;
  readonly node: MapNode;
  /** Every handler that is written; the API wants exactly one. */
  readonly handlers: readonly ProbeHandler[];
  /** Path of an `httpGet`, when written and known. */
  readonly path: string | undefined;
  /** Port of the handler: a number or the name of a container port. */
  readonly port: ScalarNode | undefined;
  readonly initialDelaySeconds: Count;
  readonly periodSeconds: Count;
  readonly timeoutSeconds: Count;
  readonly failureThreshold: Count;
  readonly successThreshold: Count;
}

/** The API takes an explicit 0 of these as not set. */
function timing(node: MapNode, key: keyof typeof defaults, complete: boolean): Count {
  const value = entryOf(node, key)?.value;
  if (isNull(value)) return complete && !node.open ? knownCount(defaults[key]) : unknownCount;
  const count = countOf(value);
  return count.known && count.value === 0 ? knownCount(defaults[key], count.node) : count;
}

const handlers: readonly ProbeHandler[] = ['httpGet', 'tcpSocket', 'exec', 'grpc'];

/** Reads one probe of a container; `undefined` when it is not there. `complete` is false for a patch. */
export function probeOf(container: MapNode, kind: ProbeKind, complete: boolean): Probe | undefined {
  const entry = entryOf(container, `${kind}Probe`);
  if (entry?.value.kind !== 'map') return undefined;
  const node = entry.value;
  const written = handlers.filter((handler) => !isNull(entryOf(node, handler)?.value));
  const port = written.map((handler) => scalarIn(node, handler, 'port')).find(isScalar);
  const path = scalarIn(mapIn(node, 'httpGet'), 'path');
  return {
    kind,
    entry,
    node,
    handlers: written,
    path: path === undefined || path.unknown ? undefined : path.text,
    port,
    initialDelaySeconds: timing(node, 'initialDelaySeconds', complete),
    periodSeconds: timing(node, 'periodSeconds', complete),
    timeoutSeconds: timing(node, 'timeoutSeconds', complete),
    failureThreshold: timing(node, 'failureThreshold', complete),
    successThreshold: timing(node, 'successThreshold', complete),
  };
}
