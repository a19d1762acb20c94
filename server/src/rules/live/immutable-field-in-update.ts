import { titleOf } from '../naming';
import { defineRule } from '../rule';
import { immutableDifferences, kindsWithImmutableFields } from './immutable-fields';

/** Objects that can be replaced while their pods or their data stay. */
const advice: Readonly<Record<string, string>> = {
  StatefulSet: 'delete it with --cascade=orphan, which leaves its pods, and apply it again',
  Deployment: 'delete it with --cascade=orphan, which leaves its pods, and apply it again',
  DaemonSet: 'delete it with --cascade=orphan, which leaves its pods, and apply it again',
  PersistentVolumeClaim: 'its data has to move to another claim',
};

export default defineRule({
  id: 'immutable-field-in-update',
  summary: 'A file does not change a field that the object in the cluster cannot change',
  severity: 'error',
  needs: 'live',
  appliedAlone: true,
  kinds: kindsWithImmutableFields,
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { report, applied }) {
    if (resource.role !== 'resource' || applied === undefined) return;
    for (const { field, at, here, there } of immutableDifferences(resource, applied)) {
      const values =
        here === undefined ? 'another' : `${JSON.stringify(there)}, not ${JSON.stringify(here)},`;
      const what = field.endsWith('requests.storage') ? 'cannot shrink' : 'cannot be changed';
      report({
        at,
        message: `${titleOf(resource)} in the cluster has ${values} ${here === undefined ? field : `as ${field}`}, and that ${what}: the API server rejects this file as an update; ${advice[resource.kind] ?? 'delete it and apply it again'}`,
      });
    }
  },
});
