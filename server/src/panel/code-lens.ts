import { countText, secondsText } from '../live/format';
import type { Instant } from '../live/reading';
import { readingsOf } from '../live/readings';
import type { LiveSnapshot } from '../live/snapshot';
import { scalingOf } from '../rules/live/scaling-facts';
import { readyReplicas } from './tiles';

/**
 * The line above a workload: `3/4 ready - GPU 87 % - VRAM 92 % - TTFT p95 640 ms - HPA 3 -> 4`. What is not known is
 * left out, and `undefined` stands for nothing known at all. Percentages are whole: the line must not flicker.
 */
export function codeLensText(snapshot: LiveSnapshot, now: Instant): string | undefined {
  const readings = readingsOf(snapshot);
  const { ready, desired } = readyReplicas({ readings, now });
  const percent = (
    metric: 'gpu.utilization' | 'gpu.memory.usage' | 'neuron.core.utilization',
    name: string,
  ): string => {
    const observed = readings.fresh(metric);
    return observed.kind === 'reading' ? `${name} ${Math.round(observed.value * 100)} %` : '';
  };
  const ttft = readings.fresh('ttft.p95');
  const e2e = readings.fresh('e2e.p95');
  const waiting = readings.fresh('queue.waiting');
  const scaling = scalingOf(snapshot, now);
  const parts = [
    snapshot.context.demo ? 'DEMO' : '',
    ready.kind === 'reading'
      ? `${countText(ready.value)}/${desired === undefined ? '?' : countText(desired)} ready`
      : '',
    percent('gpu.utilization', 'GPU'),
    percent('neuron.core.utilization', 'Neuron'),
    percent('gpu.memory.usage', 'VRAM'),
    ttft.kind === 'reading'
      ? `TTFT p95 ${secondsText(ttft.value)}`
      : e2e.kind === 'reading'
        ? `p95 ${secondsText(e2e.value)}`
        : '',
    waiting.kind === 'reading' && waiting.value > 0 ? `queue ${countText(waiting.value)}` : '',
    scaling.kind === 'known' ? hpaText(scaling.status, scaling.wanted, scaling.maximum) : '',
  ].filter((part) => part !== '');
  return parts.length === 0 || (parts.length === 1 && snapshot.context.demo) ? undefined : parts.join(' - ');
}

function hpaText(
  {
    currentReplicas,
    desiredReplicas,
  }: { readonly currentReplicas: number; readonly desiredReplicas: number },
  wanted: number | undefined,
  maximum: number,
): string {
  if (currentReplicas !== desiredReplicas) return `HPA ${currentReplicas} -> ${desiredReplicas}`;
  if (wanted !== undefined && wanted > maximum)
    return `HPA ${currentReplicas} at its maximum, wants ${wanted}`;
  return `HPA ${currentReplicas}`;
}
