import { probesOf } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import type { ProbeKind } from '../../kube/probes';
import { replaceScalar } from '../../yaml/edit';
import type { ScalarNode } from '../../yaml/node';
import { inSentence } from '../naming';
import { serversOf } from '../model/servings';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Fix } from '../rule';
import { asksElsewhere } from './probe-ports';

const consequences: Readonly<Record<ProbeKind, string>> = {
  readiness: 'the pod never becomes ready',
  liveness: 'the kubelet restarts it again and again',
  startup: 'the container never counts as started, and is restarted again and again',
};

export default defineRule({
  id: 'probe-port-not-served',
  summary: 'A probe asks the port on which the model server listens',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const server of serversOf(resource)) {
      const { container } = server;
      if (container.template.operatorOwned || mayBePatched(workspace, resource, 'Probe')) continue;
      const { readiness, liveness, startup } = probesOf(container);
      for (const probe of [startup, readiness, liveness]) {
        const asked = probe === undefined ? undefined : asksElsewhere(server, probe);
        if (probe === undefined || asked === undefined) continue;
        const { served } = asked;
        const name = typeof asked.node.value === 'string' ? ` ("${asked.node.text}")` : '';
        report({
          at: asked.node,
          message: `The ${probe.kind} probe of ${inSentence(containerTitle(container))} asks port ${asked.number}${name}, and ${server.title} listens on ${served.number}: ${consequences[probe.kind]}`,
          related: [{ resource, at: served.at, message: `It listens on ${served.number}` }],
          fixes: [askThere(server, asked.node, served.number)],
          ...containerField(container),
        });
      }
    }
  },
});

function askThere(server: ModelServer, node: ScalarNode, port: number): Fix | undefined {
  const edits = replaceScalar(server.container.template.resource.placed.document, node, port);
  return edits === undefined ? undefined : { title: `Ask port ${port}`, safe: false, edits };
}
