import { findPort, type Container } from '../../kube/containers';
import type { PodTemplate } from '../../kube/pod-carriers';
import type { Probe } from '../../kube/probes';
import { scalarIn, type ScalarNode } from '../../yaml/node';

/** Ports of a `grpc` handler are numbers only; another rule's matter. */
function portNodeOf(probe: Probe): ScalarNode | undefined {
  return scalarIn(probe.node, 'httpGet', 'port') ?? scalarIn(probe.node, 'tcpSocket', 'port');
}

/**
 * The name by which a probe asks a port that its container does not declare: the kubelet cannot send such a probe, and
 * throws away what became of it.
 */
export function undeclaredPort(container: Container, probe: Probe): ScalarNode | undefined {
  const port = portNodeOf(probe);
  if (port === undefined || typeof port.value !== 'string' || port.unknown) return undefined;
  const isUnknown = findPort(container, port).state !== 'absent' || isAdded(container.template, port.text);
  return isUnknown ? undefined : port;
}

/** KubeRay adds this port to the first container of each of its pods. */
function isAdded(template: PodTemplate, name: string): boolean {
  return template.resource.group === 'ray.io' && name === 'metrics';
}

/** The number of the port that a probe asks, and where it is written. */
export function probedPort(
  container: Container,
  probe: Probe,
): { readonly node: ScalarNode; readonly number: number } | undefined {
  const node = portNodeOf(probe);
  if (node === undefined) return undefined;
  const found = findPort(container, node);
  return found.state === 'found' && found.number.known ? { node, number: found.number.value } : undefined;
}
