import type { Rejection } from '../live/comparison';
import type { Absent, SourceId } from '../live/reading';
import type { MissingPermission, SourceProblem } from '../live/snapshot';
import { TimeoutError } from './runtime';

/** What a request to the API server takes: one rule of RBAC. */
export interface RbacRule {
  /** `''` for the core group. */
  readonly apiGroup: string;
  /** Plural, with a subresource after a slash: `pods`, `pods/proxy`. */
  readonly resource: string;
  readonly verb: 'get' | 'list' | 'watch' | 'patch';
  /** `undefined`: in all namespaces, or a kind that has none. */
  readonly namespace: string | undefined;
  /** Only this object. */
  readonly name?: string | undefined;
}

export function missingRule({ apiGroup, resource, verb, namespace, name }: RbacRule): MissingPermission {
  return {
    kind: 'rbac',
    apiGroups: [apiGroup],
    resources: [resource],
    // Whoever lists an object goes on to watch it.
    verbs: verb === 'list' ? ['list', 'watch'] : [verb],
    ...(name === undefined ? {} : { resourceNames: [name] }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

export type FailureKind =
  /** The permission is missing; `missing` says which. */
  | 'denied'
  /** Who we are was not believed: no, wrong or expired credentials. */
  | 'unauthenticated'
  /** There is no such object, or no such API. */
  | 'not-found'
  /** No connection, or it broke off. */
  | 'unreachable'
  /** No answer in time. */
  | 'timeout'
  /** An answer that is not what the API promises. */
  | 'malformed'
  /** Too many requests; it is to be asked later. */
  | 'throttled'
  /** Nobody waits for the answer any more. */
  | 'cancelled'
  /** What was sent is not accepted: see {@link RefusedError}. */
  | 'refused'
  /** Anything else that the other side calls an error. */
  | 'failed';

/** Why something could not be read, in words that a user can act on. Its message never holds a secret. */
export class SourceError extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly missing?: MissingPermission,
  ) {
    super(message);
    this.name = 'SourceError';
  }
}

/** An object that the API server does not accept. */
export class RefusedError extends SourceError {
  constructor(
    message: string,
    readonly rejections: readonly Rejection[],
  ) {
    super('refused', message);
  }
}

/** An imperative, such as `Grant list and watch on pods in namespace chat`. */
export function remedyFor({ kind, missing }: SourceError): string | undefined {
  if (missing?.kind === 'iam') return `Allow ${missing.action} on ${missing.resource}`;
  if (missing?.kind === 'rbac') {
    const [group = ''] = missing.apiGroups;
    const resources = missing.resources
      .map((each) => (group === '' ? each : `${each} (${group})`))
      .join(', ');
    const where =
      missing.namespace === undefined ? 'in a ClusterRole' : `in a Role in namespace ${missing.namespace}`;
    return `Grant ${missing.verbs.join(' and ')} on ${resources} ${where}`;
  }
  switch (kind) {
    case 'unauthenticated':
      return 'Log in again, or choose another context';
    case 'throttled':
      return 'Wait, or refresh less often';
    default:
      return undefined;
  }
}

/** What went wrong, and what to do about it where that is known. */
export function withRemedy(error: SourceError): string {
  const remedy = remedyFor(error);
  return `${error.message}${remedy === undefined ? '' : `. ${remedy}`}`;
}

/** A failure as a part of a source's answer. */
export function problemOf(error: SourceError, what: string): SourceProblem {
  const remedy = remedyFor(error);
  return {
    what,
    why: whyOf[error.kind],
    message: error.message,
    ...(error.missing === undefined ? {} : { missing: error.missing }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

const whyOf: Readonly<Record<FailureKind, SourceProblem['why']>> = {
  denied: 'denied',
  unauthenticated: 'denied',
  'not-found': 'failed',
  unreachable: 'failed',
  timeout: 'slow',
  malformed: 'nonsense',
  throttled: 'slow',
  refused: 'failed',
  cancelled: 'failed',
  failed: 'failed',
};

/** A failure in the place of what it kept from being read. */
export function absentOf(error: SourceError, source: SourceId): Absent {
  const remedy = remedyFor(error);
  return {
    kind: 'absent',
    why:
      error.kind === 'denied' || error.kind === 'unauthenticated'
        ? 'denied'
        : error.kind === 'not-found'
          ? 'no-data'
          : 'failed',
    message: error.message,
    ...(remedy === undefined ? {} : { remedy }),
    source,
  };
}

const networkWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate chain holds a self-signed certificate",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate cannot be verified",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the issuer of the server's certificate is not known",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another name",
  HPE_INVALID_CONSTANT: 'the answer is not HTTP',
  HPE_INVALID_HEADER_TOKEN: 'the answer is not HTTP',
};

/** Any error as a {@link SourceError}; `what` is what was asked, `redact` takes secrets out of others' words. */
export function asSourceError(error: unknown, what: string, redact: (text: string) => string): SourceError {
  if (error instanceof SourceError) return error;
  if (error instanceof TimeoutError) return new SourceError('timeout', `${what}: ${error.message}`);
  // Node puts the cause of a failed connection to several addresses into `errors`.
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = (inner as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string') {
    const words = networkWords[code];
    if (words !== undefined) return new SourceError('unreachable', `${what}: ${words}${placeOf(inner)}`);
  }
  const message = inner instanceof Error ? inner.message : String(inner);
  if (inner instanceof Error && (inner.name === 'AbortError' || message === 'cancelled'))
    return new SourceError('cancelled', `${what}: cancelled`);
  const isNetwork = typeof code === 'string' && /^(E[A-Z]+|HPE_|ERR_(SSL|TLS|SOCKET|HTTP)|CERT_)/.test(code);
  return new SourceError(isNetwork ? 'unreachable' : 'failed', `${what}: ${firstLine(redact(message))}`);
}

/** Where a connection was to go, as Node puts it on the error: ` (10.0.0.1:443)`, ` (name.example)`, or nothing. */
function placeOf(error: unknown): string {
  const { address, hostname, port } = error as Readonly<Record<string, unknown>>;
  const host = typeof address === 'string' ? address : hostname;
  if (typeof host !== 'string') return '';
  return typeof port === 'number' ? ` (${host.includes(':') ? `[${host}]` : host}:${port})` : ` (${host})`;
}

/** Words of others, cut to one line of a length that fits into a message. */
export function firstLine(text: string, limit = 300): string {
  const line = text.trim().split(/\r?\n/)[0] ?? '';
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}
