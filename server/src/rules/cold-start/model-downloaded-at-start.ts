import type { ModelServer } from '../../kube/model-server';
import { valueOf } from '../../kube/settings';
import { engineOf } from '../../sizing/from-manifest';
import { loadTime } from '../../sizing/memory/load-time';
import { formatBytes } from '../../kube/quantity';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { serversOf } from '../model/servings';
import { scalerOf } from './scales';
import { downloadBytes, durationText, largeBytes, rateOf, weightStore, type WeightStore } from './weights';

export default defineRule({
  id: 'model-downloaded-at-start',
  summary: 'Large weights must not be fetched anew by each pod',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace, models }) {
    const reported = new Set<string>();
    for (const server of serversOf(resource)) {
      const store = weightStore(server);
      const bytes = downloadBytes(server, models);
      const { model, container } = server;
      const name = valueOf(model);
      if (store.kept !== 'no' || store.label === '' || bytes === undefined || bytes.low <= largeBytes)
        continue;
      if (model.state !== 'known' || name === undefined) continue;
      if (['volumes', 'volumeMounts', 'storageUri'].some((word) => mayBePatched(workspace, resource, word)))
        continue;
      // Ray's pods all say the same.
      const key = `${model.at.start}`;
      if (reported.has(key)) continue;
      reported.add(key);
      const { read } = loadTime(bytes, rateOf(store), engineOf(server));
      const scaler = scalerOf(workspace, resource);
      const time = `about ${durationText(read.expected)} (${durationText(read.low)} to ${durationText(read.high)})`;
      const then =
        scaler === undefined ? '' : `; the pods that ${scaler.title} adds under load serve only after that`;
      report({
        at: model.at,
        severity: scaler === undefined ? 'info' : 'warning',
        message: `${containerTitle(container)} fetches ${formatBytes(bytes.expected)} of weights of ${name} from ${store.label} at each start, ${why(server, store)}: ${time}${then}`,
        related: scaler === undefined ? [] : [scaler.related],
        evidence: read.reasons,
        ...containerField(container),
      });
    }
  },
});

function why(server: ModelServer, { origin, mount, folder }: WeightStore): string {
  if (origin.kind === 'copied') return 'as they are copied for each pod';
  if (server.container.template.resource.group === 'kubeai.org') return 'since no cacheProfile keeps them';
  if (mount !== undefined) {
    const { name } = mount;
    return `since the volume "${name}" at ${mount.path} lives no longer than its pod`;
  }
  return folder === undefined
    ? 'since nothing that outlives the pod is mounted'
    : `since nothing that outlives the pod is mounted at ${folder.replace(/\/hub$/, '')}`;
}
