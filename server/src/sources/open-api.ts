import { SourceError } from './failure';
import { isRecord, textAt } from './json';
import type { KubeClient } from './kube-client';
import { mapLimited } from './runtime';

/** One document of `/openapi/v3`, or why it could not be read. */
export interface OpenApiDocument {
  /** `apps/v1`, `v1`. */
  readonly apiVersion: string;
  readonly document?: unknown;
  readonly problem?: SourceError;
}

/** Documents that are asked for at the same time. */
const atOnce = 4;

const rule = (resource: string) => ({ apiGroup: '', resource, verb: 'get', namespace: undefined }) as const;

/**
 * What an API server publishes about its kinds, its own and those of CustomResourceDefinitions, by version of a group. One
 * that cannot be read does not keep the others from being read. Throws a {@link SourceError} where there is no list.
 */
export async function readOpenApi(
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly OpenApiDocument[]> {
  const index = await client.json('/openapi/v3', rule('the list of /openapi/v3'), signal);
  const paths = isRecord(index) && isRecord(index['paths']) ? index['paths'] : undefined;
  if (paths === undefined)
    throw new SourceError('malformed', 'get /openapi/v3: the answer is not a list of OpenAPI documents');
  const versions = Object.entries(paths).flatMap(([path, entry]) => {
    const apiVersion = /^api\/(v\w+)$/.exec(path)?.[1] ?? /^apis\/([^/]+\/[^/]+)$/.exec(path)?.[1];
    const url = textAt(entry, 'serverRelativeURL');
    // Only of this server: another address would get our credentials.
    return apiVersion === undefined || url?.startsWith('/openapi/v3/') !== true ? [] : [{ apiVersion, url }];
  });
  return mapLimited(versions, atOnce, async ({ apiVersion, url }): Promise<OpenApiDocument> => {
    try {
      return { apiVersion, document: await client.json(url, rule(`the OpenAPI of ${apiVersion}`), signal) };
    } catch (error) {
      if (signal.aborted || !(error instanceof SourceError)) throw error;
      return { apiVersion, problem: error };
    }
  });
}
