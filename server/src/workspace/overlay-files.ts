import type { SourceFile } from '../yaml/document';
import type { Index } from './indexes';
import { isKustomizationFile } from './layout';
import { pathOf } from './paths';

/** A list of operations is no object, so that nothing else finds it. */
const jsonPatch = /^\s*(?:-\s|\[)/;
const operation = /(?:^|[\s{,"'-])op["']?\s*:/;

/** A kustomization, or a file of JSON patches: text that can change objects of its directory tree. */
export function isOverlayFile({ uri, text }: Pick<SourceFile, 'uri' | 'text'>): boolean {
  return isKustomizationFile(pathOf(uri)) || (jsonPatch.test(text) && operation.test(text));
}

/** All of them, under the empty key. */
export const overlayFiles: Index<SourceFile> = {
  read: ({ file }, add) => {
    if (isOverlayFile(file)) add('', file);
  },
  uriOf: ({ uri }) => uri,
};
