import { readLayout, type Kustomization } from '../workspace/layout';
import { join } from '../workspace/paths';
import type { SourceFile } from '../yaml/document';
import type { ReadSource } from './types';

/** A kustomization with the file that it stands in. */
export interface KustomizationFile {
  readonly path: string;
  readonly file: SourceFile;
  readonly kustomization: Kustomization;
}

/** The kustomization of a directory, if it is one. */
export function kustomizationIn(directory: string, read: ReadSource): KustomizationFile | undefined {
  for (const name of ['kustomization.yaml', 'kustomization.yml', 'Kustomization']) {
    const path = join(directory, name);
    const file = read(path);
    const kustomization = file === undefined ? undefined : readLayout([file]).kustomizations.get(directory);
    if (file !== undefined && kustomization !== undefined) return { path, file, kustomization };
  }
  return undefined;
}

/** The steps of a build, innermost first: each kustomization after everything that it lists. */
export function buildOrder(start: string, read: ReadSource): readonly KustomizationFile[] {
  const order: KustomizationFile[] = [];
  const seen = new Set<string>();
  const visit = (directory: string): void => {
    if (seen.has(directory)) return;
    seen.add(directory);
    const found = kustomizationIn(directory, read);
    if (found === undefined) return;
    for (const path of found.kustomization.resources) visit(path);
    order.push(found);
  };
  visit(start);
  return order;
}
