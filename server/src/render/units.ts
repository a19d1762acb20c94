import { isChartFile, isKustomizationFile, readLayout } from '../workspace/layout';
import { baseNameOf, directoryOf, pathOf } from '../workspace/paths';
import type { SourceFile } from '../yaml/document';
import { textIn } from '../yaml/node';
import type { RenderUnit } from './types';

const valuesFile = /^(values[-_.].+|.+[-_.]values)\.ya?ml$/i;

/**
 * What there is to render among some files: charts that are no part of another and no library, and kustomizations that
 * no other one lists, since a base is seen in what is made from it.
 */
export function unitsOf(files: Iterable<SourceFile>): readonly RenderUnit[] {
  const all = [...files];
  const layout = readLayout(all);
  const paths = all.map(({ uri }) => pathOf(uri));
  const charts = [...layout.charts].filter(
    (directory) => !partOfChart(directory, layout.charts) && hasTemplates(directory, paths),
  );
  const chartFiles = new Map(
    all
      .filter(({ uri }) => isChartFile(pathOf(uri)))
      .map((file) => [directoryOf(pathOf(file.uri)), file] as const),
  );
  const helm = charts.flatMap((directory): RenderUnit[] => {
    const file = chartFiles.get(directory);
    const root = file?.documents[0]?.document.root;
    if (file === undefined || textIn(root, 'type') === 'library') return [];
    return [
      {
        kind: 'helm',
        directory,
        file: pathOf(file.uri),
        valuesFiles: paths
          .filter((path) => directoryOf(path) === directory && valuesFile.test(baseNameOf(path)))
          .sort(),
      },
    ];
  });
  const listed = new Set<string>();
  for (const { directory, resources } of layout.kustomizations.values()) {
    for (const path of resources) if (path !== directory) listed.add(path);
  }
  const kustomizationFiles = new Map(
    all
      .filter(({ uri }) => isKustomizationFile(pathOf(uri)))
      .map((file) => [directoryOf(pathOf(file.uri)), pathOf(file.uri)] as const),
  );
  const kustomize = [...layout.kustomizations.values()].flatMap(
    ({ directory, component, resources }): RenderUnit[] => {
      const file = kustomizationFiles.get(directory);
      const isRoot = !component && resources.size > 0 && !listed.has(directory);
      return file === undefined || !isRoot || charts.some((chart) => directory.startsWith(`${chart}/`))
        ? []
        : [{ kind: 'kustomize', directory, file, valuesFiles: [] }];
    },
  );
  return [...helm, ...kustomize].sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Below `charts/` or `templates/` of another chart. */
function partOfChart(directory: string, charts: ReadonlySet<string>): boolean {
  return [...charts].some(
    (chart) => directory.startsWith(`${chart}/charts/`) || directory.startsWith(`${chart}/templates/`),
  );
}

function hasTemplates(directory: string, paths: readonly string[]): boolean {
  return paths.some((path) => path.startsWith(`${directory}/templates/`));
}
