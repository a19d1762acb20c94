import type { LintOptions } from '../engine/run';
import { diskSources, stampOf } from '../render/disk-sources';
import { judgeEach } from '../render/judge';
import type { NotRendered, ReadSource, RenderedText, RenderUnit } from '../render/types';
import { unitsOf } from '../render/units';
import type { Clock } from './environment';
import type { Guard, Log } from './guard';
import type { Project, ProjectFolder } from './project';
import { isWithin, pathOfUri, uriOfPath } from './uris';

/** Renders units with the programs of this machine. */
export type Render = (
  units: readonly RenderUnit[],
  read: ReadSource,
) => Promise<{ readonly rendered: readonly RenderedText[]; readonly failed: readonly NotRendered[] }>;

export interface Rendering {
  /** Something changed that charts or kustomizations may be made of. */
  request(): void;
}

interface Kept {
  readonly stamp: string;
  readonly rendered: readonly RenderedText[];
  readonly failed: readonly NotRendered[];
}

/**
 * Renders the charts and kustomizations of folders whose setting says so, in the background, one pass at a time; what is
 * made of files that did not change is not made again.
 */
export function createRendering(
  project: Project,
  render: Render | undefined,
  options: Pick<LintOptions, 'rules' | 'schemas'>,
  clock: Clock,
  guard: Guard,
  log: Log,
  changed: () => void,
): Rendering {
  const kept = new Map<string, Kept>();
  const told = new Set<string>();
  let isRunning = false;
  let isOutdated = false;

  const unitsIn = (folder: ProjectFolder, path: string): readonly RenderUnit[] =>
    unitsOf(
      [...project.workspace().files.values()].filter((file) => {
        const at = pathOfUri(file.uri);
        return at !== undefined && isWithin(at, path) && project.folderOf(file.uri) === folder;
      }),
    );

  const renderFolder = async (folder: ProjectFolder): Promise<void> => {
    const { path, settings, key } = folder;
    if (render === undefined || path === undefined || !settings.enable || !settings.render) {
      project.setRendered(key, undefined);
      return;
    }
    const sources = diskSources(uriOfPath);
    const results: Kept[] = [];
    for (const unit of unitsIn(folder, path)) {
      const stamp = stampOf(unit, sources.read);
      let result = kept.get(unit.file);
      if (result?.stamp !== stamp) {
        result = { stamp, ...(await render([unit], sources.read)) };
        kept.set(unit.file, result);
      }
      results.push(result);
    }
    const judging = judgeEach({
      rendered: results.flatMap(({ rendered }) => rendered),
      workspace: project.workspace(),
      configFor: project.configFor,
      read: sources.read,
      options,
    });
    let step = judging.next();
    while (step.done !== true) {
      await clock.nextTurn();
      step = judging.next();
    }
    const problems = [...results.flatMap(({ failed }) => failed), ...step.value.problems];
    for (const { unit, why } of problems) {
      const line = `${unit.file} is not rendered: ${why}; its files are judged as they stand`;
      if (!told.has(line)) log.warn(line);
      told.add(line);
    }
    project.setRendered(key, { judged: step.value, texts: sources.texts() });
  };

  const pass = async (): Promise<void> => {
    const { generation } = project;
    for (const folder of project.folders) await renderFolder(folder);
    if (project.generation !== generation) changed();
  };

  return {
    request() {
      isOutdated = true;
      if (isRunning) return;
      isRunning = true;
      void guard
        .background('rendering charts and kustomizations', async () => {
          while (isOutdated) {
            isOutdated = false;
            await pass();
          }
        })
        .finally(() => (isRunning = false));
    },
  };
}
