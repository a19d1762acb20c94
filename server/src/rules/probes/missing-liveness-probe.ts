import { isServing } from '../../kube/ai-workload';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { isAbsent } from '../../kube/resource';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { healthProbeFix, isOfWholeGroup, probedContainers } from './health-probe';
import { placeOf } from './place';

/** A minute of silence before a server that holds a loaded model is given up. */
const timing = { periodSeconds: 10, failureThreshold: 6 } as const;

export default defineRule({
  id: 'missing-liveness-probe',
  summary: 'A model server has a liveness probe, so that one that hangs is started anew',
  severity: 'off',
  strict: 'info',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      if (template.operatorOwned || !isServing(resource, template) || isOfWholeGroup(template)) continue;
      for (const container of probedContainers(template)) {
        if (!isAbsent(resource, container.node, 'livenessProbe')) continue;
        const server = modelServerOf(container);
        // Without a startup probe the liveness probe would end the server while it loads.
        const guarded = !isAbsent(resource, container.node, 'startupProbe');
        report({
          at: placeOf(container),
          message: `${containerTitle(container)}${server === undefined ? '' : ` (${server.title})`} has no liveness probe: when the engine hangs, nothing starts it anew and its GPU is lost until somebody looks`,
          ...containerField(container),
          fixes: [
            server === undefined || !guarded ? undefined : healthProbeFix(server, 'livenessProbe', timing),
          ],
        });
      }
    }
  },
});
