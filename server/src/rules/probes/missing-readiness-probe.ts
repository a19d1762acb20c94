import { isServing } from '../../kube/ai-workload';
import { probesOf } from '../../kube/containers';
import { modelServerOf, type ModelServer } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { isAbsent } from '../../kube/resource';
import { entryOf, isNull } from '../../yaml/node';
import { defineRule } from '../rule';
import { containerField, containerTitle } from '../resources/wording';
import { healthProbeFix, isOfWholeGroup, probedContainers } from './health-probe';
import { placeOf } from './place';

/** Twice as often as by default, so that a server that is busy for long is soon left alone. */
const periodSeconds = 5;

export default defineRule({
  id: 'missing-readiness-probe',
  summary: 'A model server has a readiness probe, so that requests wait for it',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      // Operators add probes of their own: KServe, KubeRay, the NIM Operator, KubeAI, KAITO.
      if (template.operatorOwned || !isServing(resource, template) || isOfWholeGroup(template)) continue;
      // The gates decide beside the probes, whoever sets them.
      if (!isNull(entryOf(template.spec, 'readinessGates')?.value)) continue;
      for (const container of probedContainers(template)) {
        if (!isAbsent(resource, container.node, 'readinessProbe')) continue;
        const server = modelServerOf(container);
        const who = `${containerTitle(container)}${server === undefined ? '' : ` (${server.title})`}`;
        const hasStartup = probesOf(container).startup !== undefined;
        const loadsLater = server !== undefined && loadsOnRequest(server);
        report({
          at: placeOf(container),
          message: hasStartup
            ? `${who} has a startup probe but no readiness probe: once it has started it gets requests whatever its state, also when it hangs`
            : loadsLater
              ? `${who} has no readiness probe: it gets requests before it listens, and also when it hangs`
              : `${who} has no readiness probe: it gets requests as soon as it runs, minutes before the model is loaded`,
          ...(hasStartup || loadsLater ? { severity: 'info' as const } : {}),
          ...containerField(container),
          fixes: [
            server === undefined ? undefined : healthProbeFix(server, 'readinessProbe', { periodSeconds }),
          ],
        });
      }
    }
  },
});

/** It listens within seconds and loads a model when the first request for it comes. */
function loadsOnRequest({ engine }: ModelServer): boolean {
  return engine === 'ollama';
}
