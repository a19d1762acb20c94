import type { ObjectRef } from '../../../server/src/live/cluster';
import { metricIds } from '../../../server/src/live/vocabulary';
import type { Want } from '../../../server/src/live/want';

export function wantOf(object: Partial<ObjectRef>, more: Partial<Want> = {}): Want {
  return {
    object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'chat', name: 'vllm', ...object },
    engine: 'vllm',
    range: '1h',
    now: 1_796_000_000_000,
    metrics: metricIds,
    allocationLabels: [],
    history: true,
    ...more,
  };
}
