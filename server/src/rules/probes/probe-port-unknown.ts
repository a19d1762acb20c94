import { containers, portsOf, probesOf, runningContainers, type Container } from '../../kube/containers';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { ProbeKind } from '../../kube/probes';
import { inSentence } from '../naming';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Related } from '../rule';
import { undeclaredPort } from './probe-ports';

/**
 * What the kubelet makes of a probe that it cannot send: it throws the result away (`prober/worker.go`), so that the
 * first state stays.
 */
const consequences: Readonly<Record<ProbeKind, string>> = {
  readiness: 'the kubelet cannot send the probe and the pod never becomes ready',
  liveness: 'the kubelet cannot send the probe and never restarts a server that hangs',
  startup: 'the kubelet cannot send the probe and the container never counts as started',
};

export default defineRule({
  id: 'probe-port-unknown',
  summary: 'A probe names a port that its container declares',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      // Operators add ports of their own, but KubeRay's are known.
      if (template.operatorOwned && resource.group !== 'ray.io') continue;
      for (const container of runningContainers(template)) {
        const { readiness, liveness, startup } = probesOf(container);
        for (const probe of [startup, readiness, liveness]) {
          const port = probe === undefined ? undefined : undeclaredPort(container, probe);
          if (probe === undefined || port === undefined) continue;
          const names = portsOf(container).flatMap(({ name }) => (name === undefined ? [] : [`"${name}"`]));
          const declared = names.length === 0 ? 'names none' : `names ${names.join(' and ')}`;
          report({
            at: port,
            message: `The ${probe.kind} probe of ${inSentence(containerTitle(container))} asks port "${port.text}", and the container ${declared}: ${consequences[probe.kind]}`,
            related: elsewhere(template, container, port.text),
            ...containerField(container),
          });
        }
      }
    }
  },
});

/** Names count within their container only, which is what people overlook. */
function elsewhere(template: PodTemplate, container: Container, name: string): readonly Related[] {
  return containers(template)
    .filter((other) => other !== container)
    .flatMap(portsOf)
    .flatMap((port) =>
      port.name === name && port.nameNode !== undefined
        ? [
            {
              resource: template.resource,
              at: port.nameNode,
              message: 'A container next to it has the port; probes see those of their own container only',
            },
          ]
        : [],
    );
}
