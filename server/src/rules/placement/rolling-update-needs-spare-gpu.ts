import { acceleratorsOfPod, acceleratorCount } from '../../kube/accelerators';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { amountsOf } from '../../sizing/nodes/resources';
import type { Workspace } from '../../workspace/workspace';
import { insertKey, replaceScalar, type Edits } from '../../yaml/edit';
import { entryOf, isMap, isScalar, itemsIn, mapIn, scalarIn, textIn, type MapNode } from '../../yaml/node';
import { leastReplicas } from '../availability/least-replicas';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { rollingUpdate } from '../availability/rolling-update';
import { defineRule, type Fix, type Related, type Severity } from '../rule';
import { roomFor, tightest } from './pool-room';
import { podOf, surroundingsOf } from './surroundings';
import { amountWords } from './words';
import { fit } from '../../sizing/nodes/fit';

export default defineRule({
  id: 'rolling-update-needs-spare-gpu',
  summary: 'A rolling update of a GPU workload needs no more GPUs than there are',
  severity: 'info',
  needs: 'workspace',
  kinds: ['Deployment'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.role === 'kustomize-patch') return;
    const [template] = podTemplates(resource);
    const spec = mapIn(resource.root, 'spec');
    if (template === undefined || spec === undefined) return;
    const accelerator = acceleratorsOfPod(template).find(({ unit }) => unit !== 'claim');
    const each = accelerator === undefined ? undefined : acceleratorCount(template, accelerator.resource);
    const replicas = leastReplicas(workspace, template)?.value;
    if (accelerator === undefined || each === undefined || each === 0) return;
    if (replicas === undefined || replicas === 0) return;
    const update = rollingUpdate(resource, spec, replicas);
    if (update === undefined || update.surge === 0 || mayBePatched(workspace, resource, 'strategy')) return;
    const spare = update.surge * each;
    // With a pod that may be missing the update goes on whether or not there is a spare GPU.
    const worse =
      update.unavailable > 0
        ? undefined
        : whyWorse(workspace, template, accelerator.unit === 'device' ? each : 0, replicas, update.surge);
    const surge = update.written ? '' : ' (the default of 25 %, rounded up)';
    report({
      at: update.at ?? accelerator.at,
      severity: worse?.severity ?? 'info',
      message:
        `A rolling update of ${titleOf(resource)} starts ${update.surge} pod${update.surge === 1 ? '' : 's'} more${surge} and needs ${amountWords(accelerator.resource, spare)} beside the ${amountWords(accelerator.resource, each * replicas)} in use` +
        (worse?.text ??
          (update.unavailable > 0 ? '' : ': until there is a node with them, the update stands still')),
      related: worse?.related ?? [],
      fixes:
        replicas === 1 ? [recreate(resource, spec), oneByOne(resource, spec)] : [oneByOne(resource, spec)],
    });
  },
});

interface Worse {
  readonly severity: Severity;
  readonly text: string;
  readonly related: readonly Related[];
}

/** @param devices whole devices of each pod: slices and cores of one do not fill a machine. */
function whyWorse(
  workspace: Workspace,
  template: PodTemplate,
  devices: number,
  replicas: number,
  surge: number,
): Worse | undefined {
  return (
    withoutRoom(workspace, template, replicas + surge) ??
    withOwnVolume(workspace, template) ??
    (devices >= 8
      ? {
          severity: 'warning',
          text: ': a whole machine more, which EC2 may not have, and until then the update stands still',
          related: [],
        }
      : undefined)
  );
}

/** The limits of the only pool leave no room for one pod more. */
function withoutRoom(workspace: Workspace, template: PodTemplate, pods: number): Worse | undefined {
  const surroundings = surroundingsOf(workspace, template);
  const pod = podOf(workspace, template);
  const open = fit(surroundings.unlimited, pod).pools.filter(({ verdict }) => verdict !== 'none');
  const [only, ...others] = open;
  const pool = only === undefined ? undefined : surroundings.poolOf(only.pool);
  if (pool === undefined || others.length > 0 || pool.spec.kind === 'node-group') return undefined;
  const rooms = roomFor(pod, surroundings, pool);
  const room = rooms === undefined ? undefined : tightest(rooms, amountsOf(pool.spec.limits).amounts);
  if (room === undefined || room.pods >= pods) return undefined;
  const limit = entryOf(mapIn(pool.resource.root, 'spec', 'limits'), room.resource);
  return {
    severity: 'warning',
    text: `: the limits of NodePool "${pool.spec.name}" have room for ${room.pods} such pod${room.pods === 1 ? '' : 's'}, and the update never ends`,
    related:
      limit === undefined
        ? []
        : [{ resource: pool.resource, at: limit.value, message: 'The limit that leaves no room' }],
  };
}

/** A volume that only one node can have. */
function withOwnVolume(workspace: Workspace, template: PodTemplate): Worse | undefined {
  for (const { claim } of workspace.references(template.resource).claims(template)) {
    if (claim.state !== 'found') continue;
    const modes = itemsIn(claim.resource.root, 'spec', 'accessModes').filter(isScalar);
    if (modes.length === 0 || !modes.every(({ text }) => /^ReadWriteOnce(Pod)?$/.test(text))) continue;
    const at = modes[0] ?? claim.resource.root;
    return {
      severity: 'warning',
      text: `: its volume is ${modes[0]?.text ?? ''} and follows the old pod, so that the new one may never start`,
      related: [
        {
          resource: claim.resource,
          at,
          message: `PersistentVolumeClaim "${claim.resource.name ?? ''}" can be mounted on one node only`,
        },
      ],
    };
  }
  return undefined;
}

function recreate(resource: Resource, spec: MapNode): Fix | undefined {
  if (entryOf(spec, 'strategy') !== undefined) return undefined;
  const edits = insertKey(
    resource.placed.document,
    spec,
    'strategy',
    { type: 'Recreate' },
    { before: 'template' },
  );
  return edits === undefined
    ? undefined
    : { title: 'Stop the old pod first (Recreate); there is none in between', safe: false, edits };
}

function oneByOne(resource: Resource, spec: MapNode): Fix | undefined {
  const { document } = resource.placed;
  const strategy = entryOf(spec, 'strategy')?.value;
  const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
  let edits: Edits;
  if (strategy === undefined) {
    edits = insertKey(
      document,
      spec,
      'strategy',
      { type: 'RollingUpdate', rollingUpdate },
      { before: 'template' },
    );
    // Two keys cannot be put into an empty map one by one: each insertion assumes the other is not there.
  } else if (isMap(strategy) && (mapIn(strategy, 'rollingUpdate')?.entries.length ?? 0) > 0) {
    const rolling = mapIn(strategy, 'rollingUpdate');
    const surge = scalarIn(rolling, 'maxSurge');
    const missing = scalarIn(rolling, 'maxUnavailable');
    const first =
      rolling === undefined
        ? undefined
        : surge === undefined
          ? insertKey(document, rolling, 'maxSurge', 0)
          : replaceScalar(document, surge, 0);
    const second =
      rolling === undefined
        ? undefined
        : missing === undefined
          ? insertKey(document, rolling, 'maxUnavailable', 1)
          : textIn(rolling, 'maxUnavailable') === '1'
            ? []
            : replaceScalar(document, missing, 1);
    edits = first === undefined || second === undefined ? undefined : [...first, ...second];
  } else if (isMap(strategy)) {
    edits = insertKey(document, strategy, 'rollingUpdate', rollingUpdate);
  } else {
    edits = undefined;
  }
  return edits === undefined
    ? undefined
    : { title: 'Replace pods in place: maxSurge 0, maxUnavailable 1', safe: false, edits };
}
