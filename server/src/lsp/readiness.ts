import { readinessMarkdown, type Locate } from '../engine/readiness/format';
import { readiness } from '../engine/readiness/readiness';
import type { ReadinessDocument } from '../protocol/messages';
import { openRuleDocumentationCommand } from '../protocol/messages';
import type { Project } from './project';
import { isWithin, pathOfUri } from './uris';

/** The checklist of one file, or of all where it has no workload. */
export function readinessDocument(project: Project, key: string | undefined): ReadinessDocument {
  const workspace = project.workspace();
  const own = key === undefined ? [] : readiness(workspace, project.configFor, { uris: [key] });
  const workloads = own.length > 0 ? own : readiness(workspace, project.configFor);
  const locate: Locate = ({ uri, at }) => {
    const document = project.document(uri);
    const line = (document?.positionAt(at.start).line ?? 0) + 1;
    return { path: shownPath(project, uri), line, href: `${document?.uri ?? uri}#L${line}` };
  };
  const ruleLink = (rule: string): string =>
    `command:${openRuleDocumentationCommand}?${encodeURIComponent(JSON.stringify([rule]))}`;
  return { markdown: readinessMarkdown(workloads, locate, ruleLink), workloads: workloads.length };
}

/** Relative to its workspace folder. */
function shownPath(project: Project, uri: string): string {
  const path = pathOfUri(uri) ?? uri;
  const root = project.folderOf(uri).path;
  return root !== undefined && path !== root && isWithin(path, root)
    ? path.slice(root.length).replace(/^\/+/, '')
    : path;
}
