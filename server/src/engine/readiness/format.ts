import {
  readinessStates,
  type ReadinessGroup,
  type ReadinessPlace,
  type ReadinessState,
  type WorkloadReadiness,
} from './types';

/** Where a place is, for people: a path, a line from 1, and what a link in Markdown leads to. */
export interface ShownPlace {
  readonly path: string;
  readonly line: number;
  readonly href: string;
}

export type Locate = (place: ReadinessPlace) => ShownPlace;

export const stateWords: Readonly<Record<ReadinessState, string>> = {
  pass: 'pass',
  fail: 'fail',
  'not-applicable': 'not applicable',
  unknown: 'unknown',
};

const groupTitles: Readonly<Record<ReadinessGroup, string>> = {
  pod: 'Pods',
  scaling: 'Scaling',
  nodes: 'Nodes',
  resilience: 'Resilience',
};

/** `14 of 19 pass, 2 fail, 1 unknown, 2 not applicable`. */
export function countWords(counts: WorkloadReadiness['counts']): string {
  const total = readinessStates.reduce((sum, state) => sum + counts[state], 0);
  const others = readinessStates
    .filter((state) => state !== 'pass' && counts[state] > 0)
    .map((state) => `${counts[state]} ${stateWords[state]}`);
  return [`${counts.pass} of ${total} pass`, ...others].join(', ');
}

export const noWorkload =
  'No workload to judge: nothing here answers requests with a model server or an accelerator, or is scaled';

function nameOf({ title, resource: { namespace } }: WorkloadReadiness): string {
  return namespace === undefined ? title : `${title} in ${namespace}`;
}

/** For a terminal. */
export function readinessText(workloads: readonly WorkloadReadiness[], locate: Locate): string {
  if (workloads.length === 0) return `${noWorkload}\n`;
  return workloads
    .map((workload) => {
      const { path, line } = locate(workload.place);
      const lines = [`${path}:${line} ${nameOf(workload)}: ${countWords(workload.counts)}`];
      let group: ReadinessGroup | undefined;
      for (const item of workload.items) {
        if (item.group !== group) lines.push('', `  ${groupTitles[item.group]}`);
        group = item.group;
        const place = item.place === undefined ? undefined : locate(item.place);
        const where = place === undefined ? '' : ` ${place.path}:${place.line}`;
        const rule = item.rule === undefined ? '' : ` ${item.rule}`;
        lines.push(
          `    ${stateWords[item.state].padEnd(14)}  ${item.title}`,
          `    ${' '.repeat(14)}  ${item.fact}${where}${rule}`,
        );
      }
      return `${lines.join('\n')}\n`;
    })
    .join('\n');
}

/** Names and messages come from manifests: nothing in them is markup. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~&!]/g, '\\$&').replace(/\s+/g, ' ');
}

/**
 * For an editor, a pull request or a wiki.
 *
 * @param ruleHref where a rule is explained; without it rules are named only.
 */
export function readinessMarkdown(
  workloads: readonly WorkloadReadiness[],
  locate: Locate,
  ruleHref?: (rule: string) => string,
): string {
  const link = (place: ReadinessPlace): string => {
    const { path, line, href } = locate(place);
    return `[${plain(path)}:${line}](<${href.replace(/[<>\n]/g, encodeURIComponent)}>)`;
  };
  const lines = ['# Production readiness', ''];
  if (workloads.length === 0) lines.push(`${noWorkload}.`, '');
  if (workloads.length > 1) {
    lines.push(
      '| Workload | Pass | Fail | Unknown | Not applicable |',
      '| --- | ---: | ---: | ---: | ---: |',
      ...workloads.map(
        (workload) =>
          `| ${plain(nameOf(workload))} | ${workload.counts.pass} | ${workload.counts.fail} | ${workload.counts.unknown} | ${workload.counts['not-applicable']} |`,
      ),
      '',
    );
  }
  for (const workload of workloads) {
    lines.push(
      `## ${plain(nameOf(workload))}`,
      '',
      `${link(workload.place)}: ${countWords(workload.counts)}.`,
      '',
      '| | Item | State | Decided by |',
      '| --- | --- | --- | --- |',
    );
    for (const { group, title, state, fact, place, rule } of workload.items) {
      const shown = state === 'fail' ? '**fail**' : stateWords[state];
      const explained =
        rule === undefined ? '' : ruleHref === undefined ? ` ${rule}` : ` [${rule}](<${ruleHref(rule)}>)`;
      lines.push(
        `| ${groupTitles[group]} | ${plain(title)} | ${shown} | ${plain(fact)}${explained}${place === undefined ? '' : ` ${link(place)}`} |`,
      );
    }
    lines.push('');
  }
  lines.push(
    'Unknown: what decides it stands in no file that was read, or is only known later. It is no pass.',
    '',
  );
  return lines.join('\n');
}

/** The form changes only with a major version. */
export function readinessPlain(workloads: readonly WorkloadReadiness[], locate: Locate): readonly object[] {
  const where = (place: ReadinessPlace | undefined): object | null => {
    if (place === undefined) return null;
    const { path, line } = locate(place);
    return { path, line };
  };
  return workloads.map(({ resource, place, counts, items }) => ({
    kind: resource.kind,
    name: resource.name ?? null,
    namespace: resource.namespace ?? null,
    place: where(place),
    counts,
    items: items.map(({ id, group, title, state, fact, rule, place: decided }) => ({
      id,
      group,
      title,
      state,
      fact,
      rule: rule ?? null,
      place: where(decided),
    })),
  }));
}
