import { acceleratorKind } from '../kube/accelerators';
import { containers } from '../kube/containers';
import { podTemplates, type PodTemplate } from '../kube/pod-carriers';
import { readRequirements } from '../kube/requirements';
import type { Resource } from '../kube/resource';
import type { UserModel } from '../sizing/models/types';
import { findInstanceType } from '../sizing/nodes/instances';
import type { Workspace } from '../workspace/workspace';
import { entryOf, getIn, isScalar, type Span } from '../yaml/node';
import type { Card } from './card';
import { holds, inFile, pathOf, placeAt, type TextPlace } from './place';
import { instanceTypeCard, placementCard, poolCard } from './placement-card';
import { serverPlaceAt } from './server-places';
import { sizingCard } from './sizing-card';

/** What is known about a place of a file. */
export interface HoverAnswer {
  /** Of the file. */
  readonly at: Span;
  readonly cards: readonly Card[];
}

/** What a model needs, where a pod can run, what a pool launches: `undefined` where nothing is known. */
export function hoverFor(
  workspace: Workspace,
  uri: string,
  offset: number,
  models: readonly UserModel[],
): HoverAnswer | undefined {
  const place = placeAt(workspace, uri, offset);
  if (place?.resource === undefined) return undefined;
  const { resource } = place;
  const server = serverPlaceAt(resource, place.offset);
  const template = placedBy(resource, place);
  const cards = [
    ...(server === undefined
      ? []
      : [sizingCard(workspace, server.server, server.topic, { userModels: models })]),
    ...typeCards(resource, place, template !== undefined),
    ...(template === undefined ? [] : [placementCard(workspace, template)]),
    ...(isNodePool(resource) ? [nodePoolCard(workspace, resource, place)] : []),
  ].filter((card) => card !== undefined);
  if (cards.length === 0) return undefined;
  const at = server?.at ?? spanOf(place);
  return at === undefined ? undefined : { at: inFile(at, place.placed), cards };
}

function isNodePool({ kind, group }: Resource): boolean {
  return kind === 'NodePool' && group === 'karpenter.sh';
}

/** What was pointed at: a scalar or a key. */
function spanOf({ steps, offset }: TextPlace): Span | undefined {
  const last = steps.at(-1);
  if (last === undefined) return undefined;
  if (last.in === 'sequence') return last.item;
  const { key, value } = last.entry;
  return last.onKey || !holds(value, offset) ? key : value;
}

/** The template whose place on a node the pointed text decides: selectors, affinity, what devices it asks for. */
function placedBy(resource: Resource, { offset }: TextPlace): PodTemplate | undefined {
  return podTemplates(resource).find((template) => {
    const decides = ['nodeSelector', 'affinity'].some((key) => {
      const entry = entryOf(template.spec, key);
      if (entry === undefined || entry.key.borrowed || entry.value.borrowed) return false;
      if (key === 'nodeSelector') return holds({ start: entry.key.start, end: entry.value.end }, offset);
      const node = entryOf(entry.value, 'nodeAffinity');
      return node !== undefined && holds({ start: node.key.start, end: node.value.end }, offset);
    });
    return (
      decides ||
      containers(template).some(({ limits, requests }) =>
        [...limits, ...requests].some(
          ({ name, entry }) =>
            acceleratorKind(name) !== undefined &&
            !entry.key.borrowed &&
            holds({ start: entry.key.start, end: Math.max(entry.key.end, entry.value.end) }, offset),
        ),
      )
    );
  });
}

/** The card of an instance type that is named where nodes are chosen. */
function typeCards(resource: Resource, place: TextPlace, isPlacement: boolean): readonly Card[] {
  const chooses = isPlacement || isNodePool(resource) || resource.kind === 'ClusterConfig';
  const last = place.steps.at(-1);
  const node = last?.in === 'sequence' ? last.item : last?.entry.value;
  if (!chooses || !isScalar(node) || node.unknown || !holds(node, place.offset)) return [];
  if (findInstanceType(node.text) === undefined) return [];
  const card = instanceTypeCard(node.text);
  return card === undefined ? [] : [card];
}

function nodePoolCard(workspace: Workspace, resource: Resource, place: TextPlace): Card | undefined {
  const path = pathOf(place.steps);
  const isIn = (...wanted: readonly string[]): boolean => wanted.every((key, index) => path[index] === key);
  if (isIn('spec', 'template', 'spec', 'requirements')) {
    const list = getIn(resource.root, 'spec', 'template', 'spec', 'requirements');
    const requirement = readRequirements(list).find(({ node }) => holds(node, place.offset));
    if (requirement === undefined) return poolCard(workspace, resource);
    const pointed = requirement.valueNodes.find((node) => holds(node, place.offset));
    const value = isScalar(pointed) && !pointed.unknown ? pointed.text : undefined;
    // The type itself is told about by its own card.
    return poolCard(workspace, resource, {
      requirement,
      value: value !== undefined && findInstanceType(value) !== undefined ? undefined : value,
    });
  }
  return isIn('metadata', 'name') || isIn('spec', 'limits') || (path.length === 1 && isIn('kind'))
    ? poolCard(workspace, resource)
    : undefined;
}
