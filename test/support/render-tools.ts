import { existsSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { findProgram } from '../../server/src/render/tools';
import { programsFolder } from '../cluster/lab/home';
import { helmVersion, kustomizeVersion } from '../cluster/lab/versions';

/** The real programs that render, from the PATH or from the cache of the lab, which builds them. */

const versions = { helm: helmVersion, kustomize: kustomizeVersion, kubectl: '' } as const;

export type Tool = keyof typeof versions;

/** The folder of a program; nothing where the machine does not have it. */
export function toolFolder(name: Tool): string | undefined {
  const onPath = findProgram(name, process.env);
  if (onPath !== undefined) return dirname(onPath);
  const cached = join(programsFolder(), `${name}-${versions[name]}-${platform()}-${arch()}`);
  return existsSync(join(cached, name)) ? cached : undefined;
}

/** A PATH with some programs; those of the system are there too, as far as they are no other ones that render. */
export function pathOf(...folders: readonly string[]): string {
  return folders.join(delimiter);
}

export function whyMissing(name: Tool): string {
  return `${name} is not on the PATH, nor in the cache of the lab, which npm run test:cluster builds`;
}
