import { acceleratorsOf } from '../../kube/accelerators';
import { runningContainers } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { durationText, percentText } from '../../live/format';
import { lastValues, meanOf, readingsOf } from '../../live/readings';
import { defaultThresholds } from '../../live/thresholds';
import { inSentence, titleOf } from '../naming';
import { containerField } from '../resources/wording';
import { defineRule } from '../rule';

export default defineRule({
  id: 'gpus-hardly-used',
  summary: 'GPUs that are idle most of the time cost as much as busy ones',
  severity: 'info',
  needs: 'live',
  kinds: ['pod-carrier'],
  fixable: 'none',
  options: {
    utilization: {
      default: defaultThresholds.gpuIdle,
      description: 'Mean utilisation of the GPUs under which they are reported (0 to 1)',
      schema: { type: 'number', minimum: 0, maximum: 1 },
    },
    minutes: {
      default: 30,
      description: 'Over how many minutes it has to be so',
      schema: { type: 'integer', minimum: 1 },
    },
  },
  check(resource, { report, live, options }) {
    const readings = readingsOf(live);
    const history = readings.history('gpu.utilization');
    const window = options.minutes * 60_000;
    const values = lastValues(history, live.at, window);
    const mean = meanOf(values);
    if (history === undefined || mean === undefined || mean >= options.utilization) return;
    // A short history shows a pod that has just begun, not one that has nothing to do.
    if (values.length * history.step < window * 0.8) return;
    const waiting = readings.fresh('queue.waiting');
    if (waiting.kind === 'reading' && waiting.value > defaultThresholds.queueDeep) return;
    for (const template of podTemplates(resource)) {
      for (const container of runningContainers(template)) {
        const [gpu] = acceleratorsOf(container);
        if (gpu === undefined) continue;
        report({
          at: gpu.at,
          message: `The GPUs of ${inSentence(titleOf(resource))} were busy ${percentText(mean)} of the last ${durationText(window)}; fewer or smaller ones, or sharing them, would cost less`,
          evidence: [`${values.length} points of ${history.sources.join(', ')}`],
          ...containerField(container),
        });
        return;
      }
    }
  },
});
