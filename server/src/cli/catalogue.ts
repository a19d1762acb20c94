import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { useCatalogue } from '../sizing/nodes/instances';
import { catalogueFile, readCatalogue } from '../sizing/nodes/refreshed';
import { readText } from './disk';

/** The refreshed catalogue that is nearest above a folder. */
export function catalogueAbove(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, catalogueFile);
    if (existsSync(path)) return path;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Takes the refreshed catalogue that holds in a folder, if there is one. To be called before anything asks for an
 * instance type.
 *
 * @returns a sentence where there is one that cannot be used.
 */
export function takeCatalogue(folder: string): string | undefined {
  const path = catalogueAbove(folder);
  if (path === undefined) return undefined;
  const read = readText(path);
  const source = 'problem' in read ? read : readCatalogue(read.text);
  if ('problem' in source) {
    return `${path}: ${source.problem}; the instance types that are shipped are used. plimsoll refresh-instances makes it anew`;
  }
  return useCatalogue(source)
    ? undefined
    : `${path}: it is read too late; the instance types that are shipped are used`;
}
