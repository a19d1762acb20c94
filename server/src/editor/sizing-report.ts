import type { Resource } from '../kube/resource';
import { serversOf } from '../rules/model/servings';
import { titleOf } from '../rules/naming';
import type { UserModel } from '../sizing/models/types';
import type { Workspace } from '../workspace/workspace';
import { cardMarkdown } from './card';
import { documentAt, holds } from './place';
import { placementCard } from './placement-card';
import { sizingCard } from './sizing-card';

/** Everything that is known about the model servers of a file, as a Markdown document. */
export interface SizingDocument {
  readonly title: string;
  readonly markdown: string;
}

/**
 * The sizing report of the object at an offset of a file, or of all objects of the file.
 *
 * `undefined` where there is no model server.
 */
export function sizingDocument(
  workspace: Workspace,
  uri: string,
  offset: number | undefined,
  models: readonly UserModel[],
): SizingDocument | undefined {
  const all = workspace.resourcesOf(uri);
  const placed = offset === undefined ? undefined : documentAt(workspace, uri, offset);
  const here =
    placed === undefined || offset === undefined
      ? all
      : all.filter((each) => each.placed.index === placed.index && holds(each.root, offset - placed.offset));
  const asked = here.some((each) => serversOf(each).length > 0) ? here : all;
  const parts = asked.flatMap((resource) => resourceParts(workspace, resource, models));
  const named = asked.filter((resource) => serversOf(resource).length > 0).map(titleOf);
  if (parts.length === 0) return undefined;
  return {
    title: named.length === 1 ? `Sizing of ${named[0] ?? ''}` : 'Sizing',
    markdown: `${parts.join('\n\n')}\n`,
  };
}

function resourceParts(
  workspace: Workspace,
  resource: Resource,
  models: readonly UserModel[],
): readonly string[] {
  const servers = serversOf(resource);
  const templates = new Set(servers.map(({ container }) => container.template));
  const options = { userModels: models, full: true };
  return [...templates].flatMap((template) => {
    const own = servers.filter(({ container }) => container.template === template);
    const cards = own.flatMap((server) => {
      const memory = sizingCard(workspace, server, 'model', options);
      const host = sizingCard(workspace, server, 'memory', options);
      return [memory, host?.title === memory?.title ? undefined : host].filter((card) => card !== undefined);
    });
    const placement = placementCard(workspace, template);
    const part = template.part === '' ? '' : ` (${template.part})`;
    return [
      cardMarkdown({ title: `${titleOf(resource)}${part}`, tables: [], notes: [] }, '#'),
      ...cards.map((card) => cardMarkdown(card, '##')),
      ...(placement === undefined ? [] : [cardMarkdown(placement, '##')]),
    ];
  });
}
