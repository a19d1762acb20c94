import { acceleratorsOfPod } from './accelerators';
import { commandLines } from './arguments';
import { portsOf, runningContainers } from './containers';
import { parseImage } from './images';
import { modelServers, servingPort } from './model-server';
import { isServingKind, podTemplates, type PodTemplate } from './pod-carriers';
import type { Resource } from './resource';

const aiMemo = new WeakMap<PodTemplate, boolean>();

/** A pod that asks for an accelerator (or a resource claim), or runs a known model server. */
export function isAiWorkload(template: PodTemplate): boolean {
  let known = aiMemo.get(template);
  if (known === undefined) {
    known = acceleratorsOfPod(template).length > 0 || modelServers(template).length > 0;
    aiMemo.set(template, known);
  }
  return known;
}

/** Images for people at work, not for requests. */
const interactive =
  /(^|[-_./])(jupyter\w*|notebook\w*|code-server|openvscode-server|rstudio|vscode|tensorboard)([-_./:]|$)/;

/** Programs for people at work, or that train. */
const interactiveProgram =
  /^(jupyter(-lab|-notebook|hub)?|start-notebook\.(sh|py)|start-singleuser\.(sh|py)|code-server|tensorboard|torchrun|deepspeed|accelerate|sleep|tail)$/;

function isInteractive(template: PodTemplate): boolean {
  return runningContainers(template).some((container) => {
    if (container.kind !== 'main') return false;
    if (container.imageText !== undefined && interactive.test(parseImage(container.imageText).repository))
      return true;
    // Images of frameworks start a notebook by default; the container's name tells what it is for.
    if (interactive.test(container.name ?? '') && modelServers(template).length === 0) return true;
    const lines = commandLines(container).filter((line) => !line.entrypoint && line.words.length > 0);
    return (
      lines.length > 0 &&
      lines.some(({ words }) =>
        words.slice(0, 2).some(({ text }) => interactiveProgram.test(text.slice(text.lastIndexOf('/') + 1))),
      ) &&
      modelServers(template).length === 0
    );
  });
}

/** Parts of a group whose first pod alone answers requests. */
function isBehindLeader(template: PodTemplate): boolean {
  const { resource, part } = template;
  if (part === 'transformer' || part === 'explainer' || part === 'submitter') return true;
  return (
    part === 'worker' &&
    resource.group !== 'ray.io' &&
    podTemplates(resource).some((other) => other.part !== 'worker')
  );
}

const servingMemo = new WeakMap<PodTemplate, boolean>();

/**
 * An AI workload whose pods answer requests for as long as they live: under a kind that keeps pods running, and with a
 * port (declared, its model server's own, or the one that an operator exposes). Training, batch and notebooks are not,
 * nor are the workers of a group behind their leader.
 */
export function isServing(resource: Resource, template: PodTemplate): boolean {
  let known = servingMemo.get(template);
  if (known === undefined) {
    known =
      isServingKind(resource) &&
      isAiWorkload(template) &&
      !isBehindLeader(template) &&
      !isInteractive(template) &&
      (template.operatorOwned || hasPort(template));
    servingMemo.set(template, known);
  }
  return known;
}

function hasPort(template: PodTemplate): boolean {
  return (
    runningContainers(template).some((container) => portsOf(container).length > 0) ||
    modelServers(template).some(
      (server) => server.port.state !== 'absent' || servingPort(server) !== undefined,
    )
  );
}
