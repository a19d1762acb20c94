import { containers, type Container } from '../../server/src/kube/containers';
import { podTemplates, type PodTemplate } from '../../server/src/kube/pod-carriers';
import type { Resource } from '../../server/src/kube/resource';
import { Workspace } from '../../server/src/workspace/workspace';
import type { Span } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';

/** A workspace of files by path. */
export function workspaceOf(files: Readonly<Record<string, string>>): Workspace {
  return Workspace.empty.withAll(
    Object.entries(files).map(([path, text]) => parseFile(`file:///repo/${path}`, text)),
  );
}

/** The only resource of a text, in a file of its own. */
export function resourceOf(text: string, path = 'app.yaml'): Resource {
  const { resources } = workspaceOf({ [path]: text });
  const [resource] = resources;
  if (resource === undefined || resources.length !== 1)
    throw new Error(`${resources.length} resources in the text`);
  return resource;
}

export function templateOf(text: string, part?: string): PodTemplate {
  const template = podTemplates(resourceOf(text)).find(
    (candidate) => part === undefined || candidate.part === part,
  );
  if (template === undefined) throw new Error(`no template ${part ?? ''}`);
  return template;
}

export function containerOf(text: string, name?: string): Container {
  const container = containers(templateOf(text)).find(
    (candidate) => name === undefined || candidate.name === name,
  );
  if (container === undefined) throw new Error(`no container ${name ?? ''}`);
  return container;
}

/** A Deployment with one container, whose keys are given with two spaces of indentation. */
export function deployment(container: string, pod = ''): string {
  const indented = container
    .replace(/^\n/, '')
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `          ${line}`))
    .join('\n');
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: llm
spec:
  selector:
    matchLabels: { app: llm }
  template:
    metadata:
      labels: { app: llm }
    spec:
${pod}      containers:
        - name: server
${indented}
`;
}

export function textAt(resource: Resource, span: Span): string {
  return resource.placed.document.text.slice(span.start, span.end);
}
