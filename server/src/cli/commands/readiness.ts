import { isPodCarrier } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { readinessMarkdown, readinessPlain, readinessText, type Locate } from '../../engine/readiness/format';
import { readiness } from '../../engine/readiness/readiness';
import { ruleDocUrl } from '../../engine/registry';
import { lineIndex, type LineIndex } from '../line-index';
import type { ReadinessCommand } from '../arguments';
import { UsageError } from '../arguments';
import { printable } from '../formats/text';
import type { Host } from '../host';
import { displayPath } from '../paths';
import { readWorkspace } from '../read-workspace';

/** `plimsoll readiness`: exit code 0 nothing fails, 1 an item fails, 2 when something cannot be read. */
export function readinessCommand(command: ReadinessCommand, host: Host): number {
  const { workspace, asked, configFor, failed } = readWorkspace(command, host);
  const { workload } = command;
  const workloads = readiness(workspace, configFor, {
    uris: asked,
    ...(workload === undefined ? {} : { only: (resource) => isNamed(resource, workload) }),
  });
  if (workload !== undefined && workloads.length === 0) {
    const known = readiness(workspace, configFor, { uris: asked }).map(
      ({ resource: { namespace, name } }) => `${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`,
    );
    const some = known.slice(0, 10).join(', ');
    throw new UsageError(
      `there is no workload ${workload} in these files${known.length === 0 ? '' : `; they have ${some}${known.length > 10 ? ', ...' : ''}`}`,
    );
  }
  const locate = locator(host, (uri) => workspace.files.get(uri)?.text ?? '');
  switch (command.format) {
    case 'json': {
      const whole = { version: host.version, workloads: readinessPlain(workloads, locate) };
      host.stdout.write(`${JSON.stringify(whole, null, 2)}\n`);
      break;
    }
    case 'markdown':
      host.stdout.write(readinessMarkdown(workloads, locate, ruleDocUrl));
      break;
    case 'text':
      host.stdout.write(readinessText(workloads, locate).split('\n').map(printable).join('\n'));
  }
  if (failed) return 2;
  return workloads.some(({ counts }) => counts.fail > 0) ? 1 : 0;
}

function isNamed(resource: Resource, wanted: string): boolean {
  if (!isPodCarrier(resource) || resource.role === 'kustomize-patch') return false;
  const slash = wanted.indexOf('/');
  if (slash < 0) return resource.name === wanted;
  const namespace = wanted.slice(0, slash);
  return resource.name === wanted.slice(slash + 1) && (resource.namespace ?? namespace) === namespace;
}

function locator(host: Host, textOf: (uri: string) => string): Locate {
  const indexes = new Map<string, LineIndex>();
  return ({ uri, at }) => {
    let index = indexes.get(uri);
    if (index === undefined) indexes.set(uri, (index = lineIndex(textOf(uri))));
    const line = index.regionOf(at).startLine;
    const path = displayPath(uri, host.cwd);
    return { path, line, href: `${path.split('/').map(encodeURIComponent).join('/')}#L${line}` };
  };
}
