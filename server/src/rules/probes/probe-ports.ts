import { findPort, type Container } from '../../kube/containers';
import type { PodTemplate } from '../../kube/pod-carriers';
import type { Probe } from '../../kube/probes';
import type { ModelServer } from '../../kube/model-server';
import { scalarIn, type ScalarNode } from '../../yaml/node';
import type { Place } from '../rule';

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
function probedPort(
  container: Container,
  probe: Probe,
): { readonly node: ScalarNode; readonly number: number } | undefined {
  const node = portNodeOf(probe);
  if (node === undefined) return undefined;
  const found = findPort(container, node);
  return found.state === 'found' && found.number.known ? { node, number: found.number.value } : undefined;
}

/** Servers that answer on one port only. Others have more of them, for metrics or gRPC. */
const onePort: ReadonlySet<ModelServer['engine']> = new Set(['vllm', 'sglang']);

/** A port on which a model server does not listen, asked by a probe. */
export interface AskedElsewhere {
  /** Where the probe names it. */
  readonly node: ScalarNode;
  readonly number: number;
  /** Where the server listens. */
  readonly served: { readonly number: number; readonly at: Place };
}

/** `undefined` where the probe asks the port on which the server listens, or either is not known for certain. */
export function asksElsewhere(server: ModelServer, probe: Probe): AskedElsewhere | undefined {
  const { container, port } = server;
  if (!onePort.has(server.engine) || port.state !== 'known' || isOneOfSeveral(server)) return undefined;
  const asked = probedPort(container, probe);
  if (asked === undefined || asked.number === port.value) return undefined;
  return { ...asked, served: { number: port.value, at: port.at } };
}

/** A script may start something else beside the server, which listens where the probes ask. */
function isOneOfSeveral({ arguments: { words, open } }: ModelServer): boolean {
  return open || words.some(({ node }) => /[&|;]|\n\s*\S+.*\n/.test(node.text));
}
