import { ApiError, at, type Api } from './api';
import { apply, objectsIn, resourceType } from './manifest';
import { waitFor } from './wait';

const deadlineMs = 60_000;
const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Runs something while the API server has definitions of more kinds; it has them no longer afterwards. */
export async function withDefinitions<T>(
  api: Api,
  definitions: readonly string[],
  run: () => Promise<T>,
): Promise<T> {
  const paths: string[] = [];
  try {
    for (const text of definitions) {
      for (const { object } of objectsIn(text)) {
        const path = `${collection}/${String(at(object, 'metadata', 'name'))}`;
        // One that the lab has by itself stays as it is.
        if ((await api.find(path)) !== undefined) throw new ApiError(409, `${path} is there already`, []);
        paths.push(path);
      }
      for (const { spec } of await apply(api, text, 'default')) await served(api, spec);
    }
    return await run();
  } finally {
    for (const path of paths) await api.delete(path);
    for (const path of paths)
      await waitFor(
        `${path} is gone`,
        async () => ((await api.find(path)) === undefined ? true : undefined),
        deadlineMs,
      );
  }
}

/** Waits until the API server serves every version of a definition that it is to serve. */
async function served(api: Api, spec: Parameters<typeof at>[0]): Promise<void> {
  const group = String(at(spec, 'group'));
  const kind = String(at(spec, 'names', 'kind'));
  const versions = at(spec, 'versions');
  for (const version of Array.isArray(versions) ? versions : []) {
    if (at(version, 'served') !== true) continue;
    const apiVersion = `${group}/${String(at(version, 'name'))}`;
    await waitFor(`${kind} in ${apiVersion}`, () => resourceType(api, apiVersion, kind), deadlineMs);
  }
}
