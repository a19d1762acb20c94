import { isBuiltInKind, isMisplaced, removedRelease, servedApiVersion } from '../../kube/built-in-kinds';
import type { Resource } from '../../kube/resource';
import { replaceScalar } from '../../yaml/edit';
import { scalarIn } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import { misspeltKind } from './misspelt';
import { rejected } from './wording';

export default defineRule({
  id: 'api-version-not-served',
  summary: 'An apiVersion must be one that has the kind',
  severity: 'error',
  needs: 'document',
  kinds: ['any'],
  fixable: 'suggest',
  apiServerRejects: true,
  check(resource, { structure, report }) {
    const { apiVersion, group, kind, version } = resource;
    const at = scalarIn(resource.root, 'apiVersion');
    const meant = structure === undefined ? misspeltKind(group, kind) : undefined;
    const written = scalarIn(resource.root, 'kind');
    if (meant !== undefined && written !== undefined && at !== undefined && !at.unknown) {
      const edits = replaceScalar(resource.placed.document, written, meant);
      report({
        at: written,
        message: `${apiVersion} has no ${kind}, but ${meant}; ${rejected(resource)}`,
        fixes: [edits === undefined ? undefined : { title: `Write ${meant}`, safe: false, edits }],
      });
      return;
    }
    const served = servedApiVersion(kind);
    if (at === undefined || at.unknown || served === undefined || structure !== undefined) return;
    // Where no schemas are at hand, nothing is known of any version.
    if (apiVersion === served) return;
    // HorizontalPodAutoscalers have a rule of their own, which moves their metrics too.
    if (!isBuiltInKind(kind) || kind === 'HorizontalPodAutoscaler') return;
    const release = removedRelease(apiVersion, kind);
    const fixes = [upgrade(resource, served)];
    if (release !== undefined) {
      const message = `${apiVersion} is not served since Kubernetes ${release}, and ${withArticle(kind)} is ${served}; ${rejected(resource)}`;
      report({ at, message, fixes });
    } else if (isMisplaced(group, kind)) {
      report({
        at,
        message: `${apiVersion} has no ${kind}, which is ${served}; ${rejected(resource)}`,
        fixes,
      });
    } else if (group === groupIn(served) && !/^v\d+(alpha|beta)\d+$/.test(version)) {
      report({
        at,
        message: `There is no ${apiVersion}, and ${withArticle(kind)} is ${served}; ${rejected(resource)}`,
        fixes,
      });
    }
  },
});

function withArticle(kind: string): string {
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

function groupIn(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

function upgrade(resource: Resource, served: string): Fix | undefined {
  const at = scalarIn(resource.root, 'apiVersion');
  const edits = at === undefined ? undefined : replaceScalar(resource.placed.document, at, served);
  return edits === undefined ? undefined : { title: `Write ${served}`, safe: false, edits };
}
