import { containers } from '../kube/containers';
import { parseImage } from '../kube/images';
import { podTemplates } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import { serversOf } from '../rules/model/servings';
import { isChartFile, isKustomizationFile } from '../workspace/layout';
import { directoryOf, join, pathOf } from '../workspace/paths';
import type { Workspace } from '../workspace/workspace';
import type { YamlDocument } from '../yaml/document';
import { isMap, isScalar, itemsIn, scalarIn, type ScalarNode, type Span, type YamlNode } from '../yaml/node';
import { ruleDocUrl, ruleMeta } from '../engine/registry';
import { inFile } from './place';

/** A text that stands for something which can be opened. Nothing is opened by itself. */
export interface Link {
  /** Of the file. */
  readonly at: Span;
  readonly target: string;
  readonly tooltip: string;
}

/** Links of a file: what kustomizations and charts name, rules in comments, and pages of models and images. */
export function linksFor(workspace: Workspace, uri: string): readonly Link[] {
  const file = workspace.files.get(uri);
  if (file === undefined) return [];
  const path = pathOf(uri);
  const links: Link[] = [];
  for (const placed of file.documents) {
    const local: Link[] = [];
    if (isKustomizationFile(path)) local.push(...kustomizationLinks(workspace, uri, placed.document));
    if (isChartFile(path)) local.push(...chartLinks(workspace, uri, placed.document));
    // Reading a document for its comments is only worth it where one can be ours.
    if (placed.document.text.includes('plimsoll-disable')) local.push(...ruleLinks(placed.document));
    links.push(...local.map((link) => ({ ...link, at: inFile(link.at, placed) })));
  }
  for (const resource of workspace.resourcesOf(uri)) {
    const placed = workspace.placeOf(resource);
    links.push(...pageLinks(resource).map((link) => ({ ...link, at: inFile(link.at, placed) })));
  }
  return links.sort((a, b) => a.at.start - b.at.start);
}

function isPlain(node: YamlNode | undefined): node is ScalarNode {
  return (
    isScalar(node) &&
    !node.unknown &&
    !node.borrowed &&
    typeof node.value === 'string' &&
    !/[\r\n]/.test(node.text)
  );
}

const web = /^https?:\/\/[^\s]+$/;

/** A page of the web, or a file beside this one; a folder of the workspace opens its kustomization or chart. */
function fileLink(workspace: Workspace, uri: string, node: YamlNode | undefined): Link[] {
  if (!isPlain(node) || node.text === '') return [];
  if (web.test(node.text)) return [{ at: node, target: node.text, tooltip: 'Open the page' }];
  // `github.com/org/repo//path?ref=v1` and other remote forms are no files.
  if (/[?#:]|\/\//.test(node.text) || node.text.startsWith('/')) return [];
  const path = join(directoryOf(pathOf(uri)), node.text.replace(/\/+$/, ''));
  const base = uri.slice(0, uri.length - pathOf(uri).length);
  const known = (candidate: string): string | undefined => {
    for (const key of workspace.files.keys()) if (pathOf(key) === candidate) return key;
    return undefined;
  };
  for (const candidate of [
    path,
    ...['kustomization.yaml', 'kustomization.yml', 'Kustomization', 'Chart.yaml'].map(
      (name) => `${path}/${name}`,
    ),
  ]) {
    const target = known(candidate);
    if (target !== undefined) return [{ at: node, target, tooltip: 'Open the file' }];
  }
  // Files that are no manifests are not in the workspace, but may be there; a folder or YAML that is not, is not there.
  return /\.(?!ya?ml$)[A-Za-z0-9]+$/i.test(path)
    ? [
        {
          at: node,
          target: base + path.split('/').map(encodeURIComponent).join('/'),
          tooltip: 'Open the file',
        },
      ]
    : [];
}

function kustomizationLinks(workspace: Workspace, uri: string, document: YamlDocument): Link[] {
  const { root } = document;
  const link = (node: YamlNode | undefined): Link[] => fileLink(workspace, uri, node);
  return [
    ...[
      'resources',
      'bases',
      'components',
      'crds',
      'configurations',
      'generators',
      'transformers',
      'validators',
      'patchesStrategicMerge',
    ]
      .flatMap((key) => itemsIn(root, key))
      .flatMap((item) => (isMap(item) ? link(scalarIn(item, 'path')) : link(item))),
    ...['patches', 'patchesJson6902', 'replacements']
      .flatMap((key) => itemsIn(root, key))
      .flatMap((item) => link(scalarIn(item, 'path'))),
    ...['configMapGenerator', 'secretGenerator']
      .flatMap((key) => itemsIn(root, key))
      .flatMap((item) => [
        // `key=file` gives the file another key; a generator's literals are nobody's business here.
        ...itemsIn(item, 'files')
          .filter((file) => isScalar(file) && !file.text.includes('='))
          .flatMap(link),
        ...itemsIn(item, 'envs').flatMap(link),
      ]),
    ...itemsIn(root, 'helmCharts').flatMap((item) => [
      ...link(scalarIn(item, 'repo')),
      ...link(scalarIn(item, 'valuesFile')),
      ...itemsIn(item, 'additionalValuesFiles').flatMap(link),
    ]),
    ...link(scalarIn(root, 'openapi', 'path')),
  ];
}

function chartLinks(workspace: Workspace, uri: string, { root }: YamlDocument): Link[] {
  return [
    ...itemsIn(root, 'dependencies').flatMap((item) => {
      const node = scalarIn(item, 'repository');
      if (!isPlain(node)) return [];
      const local = /^file:\/\/(.*)$/.exec(node.text)?.[1];
      if (local === undefined) return fileLink(workspace, uri, node);
      return fileLink(workspace, uri, { ...node, text: local }).map((link) => ({ ...link, at: node }));
    }),
    ...['home', 'icon'].flatMap((key) => fileLink(workspace, uri, scalarIn(root, key))),
    ...itemsIn(root, 'sources').flatMap((item) => fileLink(workspace, uri, item)),
  ];
}

/** Rules that a comment turns off. */
function ruleLinks({ comments, text }: YamlDocument): Link[] {
  return comments.flatMap(({ start, end }) => {
    const comment = text.slice(start, end);
    const marker = /plimsoll-disable(?:-next-line)?/.exec(comment);
    if (marker === null) return [];
    const from = marker.index + marker[0].length;
    const reason = comment.indexOf('--', from);
    const list = comment.slice(from, reason < 0 ? undefined : reason);
    return [...list.matchAll(/[a-z][a-z0-9-]*[a-z0-9]/g)].flatMap((match): Link[] => {
      const meta = ruleMeta(match[0]);
      if (meta === undefined) return [];
      const at = start + from + match.index;
      return [
        { at: { start: at, end: at + match[0].length }, target: ruleDocUrl(meta.id), tooltip: meta.summary },
      ];
    });
  });
}

/** A repository of the hub: an owner and a name, neither of which looks like a path. */
const hubName = /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/;

function pageLinks(resource: Resource): Link[] {
  const models = serversOf(resource).flatMap(({ model, engine, title }): Link[] => {
    if (model.state !== 'known') return [];
    if (engine === 'ollama') {
      const match = /^([a-z0-9._-]+)(?::[\w.-]+)?$/.exec(model.value);
      return match === null
        ? []
        : [
            {
              at: model.at,
              target: `https://ollama.com/library/${match[1] ?? ''}`,
              tooltip: "Open the model's page",
            },
          ];
    }
    // A NIM names an image, not a repository of the hub.
    return engine === 'nim' || !hubName.test(model.value)
      ? []
      : [
          {
            at: model.at,
            target: `https://huggingface.co/${model.value}`,
            tooltip: `Open the page of the model that ${title} loads`,
          },
        ];
  });
  const images = podTemplates(resource)
    .flatMap(containers)
    .flatMap(({ image, imageText }): Link[] => {
      if (image === undefined || image.borrowed || imageText === undefined) return [];
      const target = imagePage(imageText);
      return target === undefined ? [] : [{ at: image, target, tooltip: "Open the image's page" }];
    });
  // A server of several parts names one model in each; the same text is one link.
  const seen = new Set<number>();
  return [...models, ...images].filter(({ at }) => {
    if (seen.has(at.start)) return false;
    seen.add(at.start);
    return true;
  });
}

/** The page of an image at a registry that has pages; private registries have none. */
function imagePage(text: string): string | undefined {
  const { registry: host, repository } = parseImage(text);
  const rest = repository.split('/');
  if (!rest.every((part) => /^[\w.-]+$/.test(part))) return undefined;
  switch (host) {
    case '':
    case 'docker.io':
      if (rest.length === 1) return `https://hub.docker.com/_/${repository}`;
      if (rest.length !== 2) return undefined;
      return rest[0] === 'library'
        ? `https://hub.docker.com/_/${rest[1] ?? ''}`
        : `https://hub.docker.com/r/${repository}`;
    case 'ghcr.io':
      return rest.length >= 2 ? `https://${host}/${rest.join('/')}` : undefined;
    case 'quay.io':
      return rest.length === 2 ? `https://quay.io/repository/${rest.join('/')}` : undefined;
    case 'public.ecr.aws':
      return rest.length >= 2 ? `https://gallery.ecr.aws/${rest.join('/')}` : undefined;
    case 'nvcr.io': {
      const name = rest.at(-1) ?? '';
      if (rest[0] === 'nim') {
        return rest.length === 3
          ? `https://catalog.ngc.nvidia.com/orgs/nim/teams/${rest[1] ?? ''}/containers/${name}`
          : undefined;
      }
      return rest.length === 2
        ? `https://catalog.ngc.nvidia.com/orgs/${rest[0] ?? ''}/containers/${name}`
        : rest.length === 3
          ? `https://catalog.ngc.nvidia.com/orgs/${rest[0] ?? ''}/teams/${rest[1] ?? ''}/containers/${name}`
          : undefined;
    }
    default:
      return undefined;
  }
}
