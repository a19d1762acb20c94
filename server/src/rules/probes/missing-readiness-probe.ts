import { acceleratorsOf } from '../../kube/accelerators';
import { isServing } from '../../kube/ai-workload';
import { portsOf, probesOf, runningContainers, type Container } from '../../kube/containers';
import { modelServerOf, modelServers, servingPort, type ModelServer } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { isAbsent } from '../../kube/resource';
import { valueOf } from '../../kube/settings';
import { insertKey } from '../../yaml/edit';
import { entryOf, isNull } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { containerField, containerTitle } from '../resources/wording';
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
      for (const container of servers(template)) {
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
          fixes: [server === undefined ? undefined : probeFix(server)],
        });
      }
    }
  },
});

/** The model servers of a pod; where none is recognised, the containers with an accelerator and a port. */
function servers(template: PodTemplate): readonly Container[] {
  const known = modelServers(template);
  if (known.length > 0)
    return known.filter((server) => !isFollower(server)).map(({ container }) => container);
  return runningContainers(template).filter(
    (container) => acceleratorsOf(container).length > 0 && portsOf(container).length > 0,
  );
}

/** It listens within seconds and loads a model when the first request for it comes. */
function loadsOnRequest({ engine }: ModelServer): boolean {
  return engine === 'ollama';
}

/** One of several pods that hold one model, and not the first, which alone answers requests. */
function isFollower({ arguments: { get } }: ModelServer): boolean {
  if (get('headless').state === 'known') return true;
  const nodes = get('nnodes');
  const rank = get('node-rank');
  if (nodes.state === 'absent' || (nodes.state === 'unknown' && nodes.at === undefined)) return false;
  return valueOf(nodes) !== '1' && valueOf(rank) !== '0';
}

/** One template for all pods of a group: what only the first can answer would fail on the others. */
function isOfWholeGroup({ part, groupSize }: PodTemplate): boolean {
  return part === 'worker' && groupSize.value !== 1;
}

function probeFix(server: ModelServer): Fix | undefined {
  const { container, healthPath } = server;
  const port = healthPort(server);
  if (healthPath === undefined || port === undefined || isLocal(server)) return undefined;
  const scheme = isEncrypted(server) ? { scheme: 'HTTPS' } : {};
  const edits = insertKey(
    container.template.resource.placed.document,
    container.node,
    'readinessProbe',
    { httpGet: { path: healthPath, port, ...scheme }, periodSeconds },
    { before: 'livenessProbe' },
  );
  const where = typeof port === 'number' ? `port ${port}` : `port "${port}"`;
  return edits === undefined
    ? undefined
    : { title: `Probe ${healthPath} on ${where} every ${periodSeconds} s`, safe: false, edits };
}

/** The port of requests: by its name where it is declared, else the number that the server listens on. */
function healthPort(server: ModelServer): string | number | undefined {
  const ports = portsOf(server.container).filter(({ number }) => number.known);
  const wanted = server.port.state === 'unknown' ? undefined : servingPort(server);
  const declared = ports.find(({ number }) => number.value === wanted);
  if (declared !== undefined) return declared.name ?? declared.number.value;
  if (server.port.state === 'known') return wanted;
  // Without a setting that can be seen, a port that the author declares says more than the engine's default.
  const [first, ...others] = ports;
  const http = others.length === 0 ? first : ports.find(({ name }) => name?.startsWith('http'));
  return http === undefined ? wanted : (http.name ?? http.number.value);
}

/** Behind a proxy in the same pod; the kubelet cannot reach it. */
function isLocal(server: ModelServer): boolean {
  const host = server.arguments.get('host', ['hostname']);
  return host.state === 'known' && /^(127\.|localhost$|::1$)/.test(host.value);
}

function isEncrypted(server: ModelServer): boolean {
  return server.arguments.get('ssl-keyfile', ['ssl-certfile', 'ssl-key-file']).state === 'known';
}
