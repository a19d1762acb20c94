import {
  amountOf,
  amountState,
  effectiveRequest,
  probesOf,
  requestState,
  runningContainers,
  type Container,
  type ResourceAmount,
} from '../../kube/containers';
import { countAt } from '../../kube/count';
import type { ModelServer } from '../../kube/model-server';
import type { Probe } from '../../kube/probes';
import { formatBytes, toNumber } from '../../kube/quantity';
import { isAbsent } from '../../kube/resource';
import { inSentence } from '../../rules/naming';
import { placeOf } from '../../rules/probes/place';
import { amountText, carriesTheWork, containerTitle } from '../../rules/resources/wording';
import { hostNeedOf, isShort, type HostNeed } from '../../rules/sizing/host-memory';
import { formatSpan } from './words';
import { failing, worst, type Answer, type Subject, type Where } from './subject';

const kinds = ['requests', 'limits'] as const;

function at({ resource }: Subject, container: Container): Where {
  return { resource, at: placeOf(container) };
}

function nameOf(container: Container): string {
  return inSentence(containerTitle(container));
}

/** Every container, sidecars too: one without a request makes the whole pod's share a guess. */
export function requestsAndLimits(subject: Subject): Answer {
  const answers = subject.templates.flatMap(runningContainers).map((container): Answer => {
    const place = at(subject, container);
    const absent: string[] = [];
    const unknown: string[] = [];
    for (const name of ['cpu', 'memory']) {
      for (const kind of kinds) {
        const state =
          kind === 'requests' ? requestState(container, name) : amountState(container, kind, name);
        const words = `${name} ${kind === 'requests' ? 'request' : 'limit'}`;
        if (state === 'absent') absent.push(words);
        if (state === 'unknown') unknown.push(words);
      }
    }
    const [first] = absent;
    if (first !== undefined) {
      return {
        state: 'fail',
        fact: `${containerTitle(container)} has no ${absent.join(', no ')}`,
        place,
        rule: `missing-${first.replace(' ', '-')}`,
      };
    }
    if (unknown.length > 0) {
      return {
        state: 'unknown',
        fact: `The ${unknown.join(', ')} of ${nameOf(container)} may be set elsewhere`,
        place,
      };
    }
    return {
      state: 'pass',
      fact: `${containerTitle(container)}: ${amountsOf(container)}`,
      place: { resource: subject.resource, at: container.resources ?? placeOf(container) },
    };
  });
  return worst(answers) ?? { state: 'unknown', fact: 'Its containers are only known later' };
}

function amountsOf(container: Container): string {
  return ['cpu', 'memory']
    .map((name) => {
      const [request, limit] = [effectiveRequest(container, name), amountOf(container.limits, name)];
      return `${name} ${text(request)} to ${text(limit)}`;
    })
    .join(', ');
}

function text(amount: ResourceAmount | undefined): string {
  return amount === undefined || amount.state === 'unknown' ? 'what is only known later' : amountText(amount);
}

/** Judges the memory of each model server whose need can be reckoned. */
function byServer(
  subject: Subject,
  judge: (server: ModelServer, need: HostNeed, place: Where) => Answer,
): Answer {
  if (subject.servers.length === 0) {
    return subject.isAi
      ? { state: 'unknown', fact: 'No model server is recognised, so its footprint is not known' }
      : { state: 'not-applicable', fact: 'It loads no model' };
  }
  const answers = subject.servers.map((server): Answer => {
    const place = at(subject, server.container);
    const need = hostNeedOf(server, subject.models);
    return need === undefined
      ? {
          state: 'unknown',
          fact: `What ${nameOf(server.container)} (${server.title}) loads, or how it is spread, is not known`,
          place,
        }
      : judge(server, need, place);
  });
  return worst(answers) ?? { state: 'unknown', fact: 'Its footprint is not known' };
}

/** Sizes of checkpoints are known to a few percent. */
const tolerance = 0.97;

export function memoryRequest(subject: Subject): Answer {
  const found = failing(subject, ['memory-request-below-model']);
  if (found !== undefined) return found;
  return byServer(subject, ({ container }, need, place) => {
    const request = effectiveRequest(container, 'memory');
    if (request?.quantity === undefined) {
      return requestState(container, 'memory') === 'absent'
        ? {
            state: 'fail',
            fact: `${containerTitle(container)} requests no memory, and loads ${formatBytes(need.weights)} of weights`,
            place,
            rule: 'missing-memory-request',
          }
        : { state: 'unknown', fact: `The memory request of ${nameOf(container)} is only known later`, place };
    }
    const where = { resource: subject.resource, at: request.entry.value };
    const enough = toNumber(request.quantity) >= need.weights * tolerance;
    return {
      state: enough ? 'pass' : 'fail',
      fact: `${containerTitle(container)} requests ${amountText(request)} and holds ${formatBytes(need.weights)} of weights of ${need.model.name}`,
      place: where,
      ...(enough ? {} : { rule: 'host-ram-below-model' }),
    };
  });
}

export function memoryHeadroom(subject: Subject): Answer {
  const found = failing(subject, ['host-ram-below-model', 'shared-memory-above-limit']);
  if (found !== undefined) return found;
  return byServer(subject, ({ container }, need, place) => {
    const limit = amountOf(container.limits, 'memory');
    if (limit?.quantity === undefined) {
      return amountState(container, 'limits', 'memory') === 'absent'
        ? {
            state: 'fail',
            fact: `${containerTitle(container)} has no memory limit: a leak takes the node with it`,
            place,
            rule: 'missing-memory-limit',
          }
        : { state: 'unknown', fact: `The memory limit of ${nameOf(container)} is only known later`, place };
    }
    const bytes = toNumber(limit.quantity);
    const short = isShort(bytes, need.likely);
    const percent = Math.round((bytes / need.full - 1) * 100);
    return {
      state: short ? 'fail' : 'pass',
      fact: `${containerTitle(container)} may use ${amountText(limit)} and needs ${need.atLeast ? 'at least ' : ''}${formatBytes(need.full)} to load ${need.model.name}${percent > 0 ? `: ${percent} % to spare` : ''}`,
      place: { resource: subject.resource, at: limit.entry.value },
      ...(short ? { rule: 'host-ram-below-model' } : {}),
    };
  });
}

const graceField = 'terminationGracePeriodSeconds';
/** Of Kubernetes. */
const defaultGrace = 30;

export function gracePeriod(subject: Subject): Answer {
  const { resource, templates } = subject;
  const found = failing(subject, ['grace-period-too-short', 'prestop-longer-than-grace']);
  if (found !== undefined) return found;
  const answers = templates.map((template): Answer => {
    const grace = countAt(
      resource,
      template.spec,
      graceField,
      template.operatorOwned ? undefined : defaultGrace,
    );
    if (!grace.known)
      return { state: 'unknown', fact: 'The time that its pods have to stop is only known later' };
    if (grace.node === undefined) {
      // The rule about it is silent where a patch may set it, and about pods that answer no requests.
      return subject.serves
        ? { state: 'unknown', fact: `${graceField} may be set by a patch` }
        : {
            state: 'fail',
            fact: `${graceField} is not written: its pods have the default ${defaultGrace} s to stop`,
            place: { resource, at: template.spec },
          };
    }
    return {
      state: 'pass',
      fact: `Its pods have ${formatSpan(grace.value)} to stop`,
      place: { resource, at: grace.node },
    };
  });
  return worst(answers) ?? { state: 'unknown', fact: 'Its pods are only known later' };
}

/** The containers whose probes matter: those that do the work, else all. */
function probed(subject: Subject): readonly Container[] {
  const all = subject.templates.flatMap(runningContainers).filter(({ kind }) => kind === 'main');
  const working = all.filter(carriesTheWork);
  return working.length > 0 ? working : all;
}

function byOperator(subject: Subject): Answer | undefined {
  return subject.templates.some(({ operatorOwned }) => operatorOwned)
    ? {
        state: 'not-applicable',
        fact: `The operator of ${subject.resource.kind} sets the probes of its pods`,
      }
    : undefined;
}

export function probesConfigured(subject: Subject): Answer {
  const found =
    byOperator(subject) ??
    failing(subject, [
      'missing-readiness-probe',
      'missing-liveness-probe',
      'probe-port-unknown',
      'probe-port-not-served',
      'liveness-kills-during-load',
      'startup-budget-too-short',
    ]);
  if (found !== undefined) return found;
  const answers = probed(subject).map((container): Answer => {
    const place = at(subject, container);
    const probes = probesOf(container);
    const missing = (['readiness', 'liveness'] as const).filter((kind) => probes[kind] === undefined);
    const [first] = missing;
    if (first === undefined) {
      const written = (['startup', 'readiness', 'liveness'] as const).filter(
        (kind) => probes[kind] !== undefined,
      );
      return { state: 'pass', fact: `${containerTitle(container)} has ${listed(written)} probes`, place };
    }
    const certain = missing.some((kind) => isAbsent(subject.resource, container.node, `${kind}Probe`));
    return certain
      ? {
          state: 'fail',
          fact: `${containerTitle(container)} has no ${missing.join(' and no ')} probe`,
          place,
        }
      : {
          state: 'unknown',
          fact: `The ${listed(missing)} probe of ${nameOf(container)} may be set elsewhere`,
          place,
        };
  });
  return worst(answers) ?? { state: 'unknown', fact: 'Its containers are only known later' };
}

export function probesDecoupled(subject: Subject): Answer {
  const found = byOperator(subject) ?? failing(subject, ['probes-identical']);
  if (found !== undefined) return found;
  const answers = probed(subject).map((container): Answer => {
    const { readiness, liveness } = probesOf(container);
    if (readiness === undefined || liveness === undefined) {
      const open = (['readinessProbe', 'livenessProbe'] as const).some(
        (key) => !isAbsent(subject.resource, container.node, key) && probeIsMissing(container, key),
      );
      return open
        ? { state: 'unknown', fact: `The probes of ${nameOf(container)} may be set elsewhere` }
        : { state: 'not-applicable', fact: `${containerTitle(container)} does not have both probes` };
    }
    const place = { resource: subject.resource, at: liveness.entry };
    const [ready, alive] = [givesUpAfter(readiness), givesUpAfter(liveness)];
    if (ready === undefined || alive === undefined) {
      return {
        state: 'unknown',
        fact: `When the probes of ${nameOf(container)} give up is only known later`,
        place,
      };
    }
    return {
      state: 'pass',
      fact: `${containerTitle(container)} is taken out of service after ${formatSpan(ready)} and restarted after ${formatSpan(alive)}, by ${pathWords(readiness)} and ${pathWords(liveness)}`,
      place,
    };
  });
  return worst(answers) ?? { state: 'unknown', fact: 'Its containers are only known later' };
}

function probeIsMissing(container: Container, key: 'readinessProbe' | 'livenessProbe'): boolean {
  return probesOf(container)[key === 'readinessProbe' ? 'readiness' : 'liveness'] === undefined;
}

function givesUpAfter({ periodSeconds, failureThreshold }: Probe): number | undefined {
  return periodSeconds.known && failureThreshold.known
    ? periodSeconds.value * failureThreshold.value
    : undefined;
}

function pathWords({ path, handlers }: Probe): string {
  return path ?? handlers[0] ?? 'what is only known later';
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}
