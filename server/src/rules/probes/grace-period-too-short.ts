import { acceleratorsOfPod } from '../../kube/accelerators';
import { isServing } from '../../kube/ai-workload';
import { runningContainers, type Container } from '../../kube/containers';
import { countAt } from '../../kube/count';
import { modelServerOf, modelServers, type ModelServer } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { allowsValue, nodeDemandOf, readRequirements, valueSetOf } from '../../kube/requirements';
import { asNumber, valueOf, valueOr } from '../../kube/settings';
import { isOn } from '../../sizing/from-manifest';
import { identifyModel } from '../../sizing/models/identify';
import { acceleratorsOnly } from '../../sizing/nodes/read-pool';
import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, getIn, type YamlNode } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule, type Place, type Related } from '../rule';
import { preStopPause, type Pause } from './pre-stop';

/** `core/v1 DefaultTerminationGracePeriodSeconds`; also what a sum gets on top, so that something is left to stop in. */
const defaultSeconds = 30;

const field = 'terminationGracePeriodSeconds';

interface Options {
  readonly minimumSeconds: number;
}

export default defineRule<Options>({
  id: 'grace-period-too-short',
  summary: 'A model server has time to finish the requests that it has begun when its pod stops',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  options: {
    minimumSeconds: {
      default: 60,
      description: 'The shortest terminationGracePeriodSeconds of a serving pod, in seconds',
      schema: { type: 'integer', minimum: 1 },
    },
  },
  check(resource, { report, workspace, options: { minimumSeconds } }) {
    for (const template of podTemplates(resource)) {
      if (!isServing(resource, template)) continue;
      const grace = countAt(
        resource,
        template.spec,
        field,
        template.operatorOwned ? undefined : defaultSeconds,
      );
      const at: Place | undefined =
        grace.node ?? entryOf(template.node, 'spec') ?? entryOf(template.spec, 'containers');
      if (!grace.known || at === undefined) continue;
      const stop = slowestStop(template);
      const needed = (stop.pause?.seconds ?? 0) + stop.waits;
      if (grace.value >= minimumSeconds && (needed === 0 || grace.value > needed)) continue;
      if (mayBePatched(workspace, resource, field)) continue;
      const cause = causeOfStops(workspace, resource, template);
      const wanted = Math.max(minimumSeconds, needed === 0 ? 0 : needed + defaultSeconds);
      const { document } = resource.placed;
      const edits =
        grace.node === undefined
          ? insertKey(document, template.spec, field, wanted, { before: 'containers' })
          : replaceScalar(document, grace.node, wanted);
      const has = grace.node === undefined ? `the default ${grace.value} s` : `${grace.value} s`;
      report({
        at,
        message:
          `Pods of ${titleOf(resource)} have ${has} to stop${needed === 0 ? '' : `, and ${wordsOf(stop)}`}: ` +
          `${grace.value > needed ? 'requests that take longer are' : 'running requests are'} cut off${cause === undefined ? '' : ` at each ${cause.what}`}`,
        // Requests to a server that is not known may be short; a pause that takes all the time cuts off any.
        ...(cause !== undefined && (grace.value <= needed || modelServers(template).some(takesLong))
          ? { severity: 'warning' as const }
          : {}),
        related: [
          ...(stop.pause === undefined
            ? []
            : [{ resource, at: stop.pause.node, message: `preStop sleeps ${stop.pause.seconds} s of it` }]),
          ...(cause?.related ?? []),
        ],
        fixes: [
          edits === undefined
            ? undefined
            : {
                title:
                  wanted === minimumSeconds
                    ? `Allow ${wanted} s to stop`
                    : `Allow ${wanted} s to stop (${needed} s and ${defaultSeconds} s to spare)`,
                safe: false,
                edits,
              },
        ],
      });
    }
  },
});

/** An embedding is one pass through the model: a request is over before anybody counts seconds. */
function takesLong({ engine, model, arguments: { get } }: ModelServer): boolean {
  if (engine === 'tei') return false;
  const task = valueOf(get('task', ['runner', 'convert'])) ?? '';
  if (/^(embed(ding)?|classify|score|reward|pooling)$/.test(task) || isOn(get('is-embedding'))) return false;
  const name = valueOf(model);
  return name === undefined || identifyModel(name)?.model?.modality !== 'embedding';
}

interface Stop {
  readonly pause: Pause | undefined;
  /** Seconds that the server itself waits for running requests, when it is set to. */
  readonly waits: number;
  readonly server: ModelServer | undefined;
}

/** All containers stop at the same time, so the slowest one counts. */
function slowestStop(template: PodTemplate): Stop {
  let slowest: Stop = { pause: undefined, waits: 0, server: undefined };
  const length = ({ pause, waits }: Stop): number => (pause?.seconds ?? 0) + waits;
  for (const container of runningContainers(template)) {
    const stop = stopOf(container);
    if (length(stop) > length(slowest)) slowest = stop;
  }
  return slowest;
}

function stopOf(container: Container): Stop {
  const server = modelServerOf(container);
  return { pause: preStopPause(container), waits: server === undefined ? 0 : waitsOf(server), server };
}

/** vLLM's `--shutdown-timeout` is 0 by default; Triton's `--exit-timeout-secs` 30. */
function waitsOf({ engine, arguments: { get } }: ModelServer): number {
  switch (engine) {
    case 'vllm':
      return valueOf(asNumber(get('shutdown-timeout'))) ?? 0;
    case 'triton':
      return valueOr(asNumber(get('exit-timeout-secs')), 30) ?? 0;
    default:
      return 0;
  }
}

function wordsOf({ pause, waits, server }: Stop): string {
  const parts = [
    ...(pause === undefined ? [] : [`preStop sleeps ${pause.seconds} s of it`]),
    ...(waits === 0 ? [] : [`${server?.title ?? 'the server'} waits up to ${waits} s for running requests`]),
  ];
  return parts.join(' and ');
}

interface Cause {
  readonly what: string;
  readonly related: readonly Related[];
}

/** What stops pods day by day: an autoscaler, or nodes that are taken back at two minutes' notice. */
function causeOfStops(workspace: Workspace, resource: Resource, template: PodTemplate): Cause | undefined {
  const autoscaler = workspace
    .references(resource)
    .autoscalers.find(({ match }) => match === 'yes')?.resource;
  if (autoscaler !== undefined) {
    return {
      what: `scale-in by ${titleOf(autoscaler)}`,
      related: [
        {
          resource: autoscaler,
          at: getIn(autoscaler.root, 'spec', 'scaleTargetRef', 'name') ?? autoscaler.root,
          message: `This ${autoscaler.kind} stops pods as the load falls`,
        },
      ],
    };
  }
  const demand = nodeDemandOf(template).alternatives.flat();
  const capacity = demand.filter(({ key }) => key === 'karpenter.sh/capacity-type');
  if (capacity.some((requirement) => !allows(valueSetOf(requirement), 'spot'))) return undefined;
  const asks =
    capacity.some((requirement) => valueSetOf(requirement)?.complement === false) ||
    demand.some(
      ({ key, values }) => key === 'eks.amazonaws.com/capacityType' && values?.includes('SPOT') === true,
    );
  if (asks) return { what: 'Spot interruption', related: [] };
  const accelerators = acceleratorsOfPod(template).map((accelerator) => accelerator.resource);
  for (const { resource: pool, match, named } of workspace.references(resource).nodePools(template)) {
    const spot = spotOf(pool);
    if (match !== 'yes' || spot === undefined) continue;
    if (!named && !acceleratorsOnly(pool).some((name) => accelerators.includes(name))) continue;
    return {
      what: `Spot interruption of ${titleOf(pool)}`,
      related: [{ resource: pool, at: spot, message: `${titleOf(pool)} launches Spot instances` }],
    };
  }
  return undefined;
}

function allows(set: ReturnType<typeof valueSetOf>, value: string): boolean {
  return set === undefined || allowsValue(set, value);
}

/** Where a pool says that it launches Spot instances. */
function spotOf(pool: Resource): YamlNode | undefined {
  for (const requirement of readRequirements(getIn(pool.root, 'spec', 'template', 'spec', 'requirements'))) {
    if (requirement.key !== 'karpenter.sh/capacity-type' || requirement.operator !== 'In') continue;
    return requirement.valueNodes.find((node) => node.kind === 'scalar' && node.text === 'spot');
  }
  return undefined;
}
