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
import { probedPort } from './probe-ports';

/** Servers that answer on one port only. Others have more of them, for metrics or gRPC. */
const onePort: ReadonlySet<ModelServer['engine']> = new Set(['vllm', 'sglang']);

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
      const { container, port } = server;
      if (!onePort.has(server.engine) || port.state !== 'known' || isOneOfSeveral(server)) continue;
      if (container.template.operatorOwned || mayBePatched(workspace, resource, 'Probe')) continue;
      const { readiness, liveness, startup } = probesOf(container);
      for (const probe of [startup, readiness, liveness]) {
        const asked = probe === undefined ? undefined : probedPort(container, probe);
        if (probe === undefined || asked === undefined || asked.number === port.value) continue;
        const name = typeof asked.node.value === 'string' ? ` ("${asked.node.text}")` : '';
        report({
          at: asked.node,
          message: `The ${probe.kind} probe of ${inSentence(containerTitle(container))} asks port ${asked.number}${name}, and ${server.title} listens on ${port.value}: ${consequences[probe.kind]}`,
          related: [{ resource, at: port.at, message: `It listens on ${port.value}` }],
          fixes: [askThere(server, asked.node, port.value)],
          ...containerField(container),
        });
      }
    }
  },
});

/** A script may start something else beside the server, which listens where the probes ask. */
function isOneOfSeveral({ arguments: { words, open } }: ModelServer): boolean {
  return open || words.some(({ node }) => /[&|;]|\n\s*\S+.*\n/.test(node.text));
}

function askThere(server: ModelServer, node: ScalarNode, port: number): Fix | undefined {
  const edits = replaceScalar(server.container.template.resource.placed.document, node, port);
  return edits === undefined ? undefined : { title: `Ask port ${port}`, safe: false, edits };
}
