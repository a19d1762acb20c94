import { dnsLabel, isPercent, labelValue, qualifiedName } from '../../kube/names';
import {
  given,
  isClosed,
  isTrue,
  listIn,
  partIn,
  partsIn,
  textAt,
  textOf,
  textOrEmpty,
  wholeAt,
  wholeOf,
  type Part,
} from '../../kube/part';
import { labelsOf, readLabelMap, readSelector, selects } from '../../kube/selectors';
import { insertPath, type PlainValue } from '../../yaml/edit';
import { entryOf, isMap, isNull, isScalar, mapIn, type YamlNode } from '../../yaml/node';
import { cronFlaw } from './cron';
import { shown, type Inspection, type ValidityRule } from './inspection';
import { checkLabels } from './metadata';
import { checkTemplate } from './pod';
import { checkSelector } from './selector';
import { checkClaimSpec } from './storage';

/** Deployment, StatefulSet, DaemonSet and ReplicaSet: a selector, a template, and numbers. */
export function checkWorkload(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  const { kind } = cx.resource;
  if (kind !== 'DaemonSet') cx.range(spec, 'replicas', 0, undefined, 'replicas');
  cx.range(spec, 'minReadySeconds', 0, undefined, 'minReadySeconds');
  // Of a StatefulSet any number is taken.
  if (kind !== 'StatefulSet') cx.range(spec, 'revisionHistoryLimit', 0, undefined, 'revisionHistoryLimit');
  const selector = partIn(spec, 'selector');
  checkSelector(cx, selector, 'the selector');
  const template = partIn(spec, 'template');
  matchLabels(cx, spec, selector, template);
  let claims: ReadonlySet<string> | 'unknown' = new Set();
  switch (kind) {
    case 'Deployment':
      checkDeployment(cx, spec);
      break;
    case 'StatefulSet':
      claims = checkStatefulSet(cx, spec);
      break;
    case 'DaemonSet':
      checkDaemonSet(cx, spec);
      break;
  }
  if (template !== undefined) checkTemplate(cx, template, 'always', claims);
}

export function checkReplicationController(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  cx.range(spec, 'replicas', 0, undefined, 'replicas');
  cx.range(spec, 'minReadySeconds', 0, undefined, 'minReadySeconds');
  checkLabels(cx, spec, 'selector', 'the selector');
  const template = partIn(spec, 'template');
  const selector = entryOf(spec.map, 'selector');
  const terms = readLabelMap(selector?.value);
  if (
    template !== undefined &&
    terms !== undefined &&
    selector !== undefined &&
    cx.isCertain &&
    !terms.empty
  ) {
    const labels = labelsOf(mapIn(template.map, 'metadata', 'labels'), template.map.open);
    if (selects(terms, labels) === 'no') {
      cx.add(
        'selector-differs-from-labels',
        placeOfLabels(cx, template),
        'The selector does not match the labels of the pods',
      );
    }
  }
  if (template !== undefined) checkTemplate(cx, template, 'always');
}

/** Labels that the template has, else the nearest key above them. */
function placeOfLabels(cx: Inspection, template: Part) {
  const metadata = partIn(template, 'metadata');
  return metadata === undefined ? cx.placeOf(template, 'metadata') : cx.placeOf(metadata, 'labels');
}

function matchLabels(
  cx: Inspection,
  spec: Part,
  selector: Part | undefined,
  template: Part | undefined,
): void {
  const rule = 'selector-differs-from-labels';
  if (!cx.isCertain || selector === undefined) return;
  if (given(selector, 'matchLabels') !== undefined && partIn(selector, 'matchLabels') === undefined) return;
  const read = readSelector(selector.map);
  if (read === undefined || read.open) return;
  if (read.empty) {
    if (hasOther(selector)) return;
    cx.add(rule, entryOf(spec.map, 'selector') ?? selector.place, 'The selector is empty', {
      fixes: [copyLabels(cx, spec, template)],
    });
    return;
  }
  if (template === undefined) return;
  const metadata = partIn(template, 'metadata');
  if (
    metadata === undefined
      ? !cx.lacks(template, 'metadata')
      : !cx.lacks(metadata, 'labels') && partIn(metadata, 'labels') === undefined
  )
    return;
  if (metadata !== undefined && hasTypo(cx, metadata, 'labels')) return;
  const labels = labelsOf(mapIn(template.map, 'metadata', 'labels'), template.map.open);
  if (read.terms.some((term) => term.operator === undefined || term.values === undefined)) return;
  if (selects(read, labels) !== 'no') return;
  if (
    hasBrokenLabel(selector, 'matchLabels') ||
    (metadata !== undefined && hasBrokenLabel(metadata, 'labels'))
  )
    return;
  const { at, wanted } = firstDifference(cx, selector, template);
  cx.add(
    rule,
    at,
    `The selector wants ${wanted}, and the pod template ${labels.values.size === 0 ? 'has no labels' : 'has no such label'}`,
    {
      related: [
        {
          resource: cx.resource,
          at: entryOf(spec.map, 'selector')?.key ?? selector.map,
          message: 'The selector',
        },
      ],
      fixes: [copySelector(cx, template, selector), copyLabels(cx, spec, template)],
    },
  );
}

/** A label that has not the form of one is a finding of its own, and the reason why nothing matches. */
function hasBrokenLabel(part: Part, key: string): boolean {
  return (partIn(part, key)?.map.entries ?? []).some(
    ({ key: label, value }) =>
      qualifiedName.flaw(label.text) !== undefined ||
      (isScalar(value) && labelValue.flaw(value.text) !== undefined),
  );
}

function hasOther(selector: Part): boolean {
  return selector.map.entries.some(
    ({ key, value }) => !['matchLabels', 'matchExpressions'].includes(key.text) && !isNull(value),
  );
}

function hasTypo(cx: Inspection, part: Part, key: string): boolean {
  return isNull(entryOf(part.map, key)?.value) && !cx.lacks(part, key);
}

/** The first label of the selector that the template does not have as it should, and the place of the template's. */
function firstDifference(cx: Inspection, selector: Part, template: Part) {
  const labels = mapIn(template.map, 'metadata', 'labels');
  for (const { key, value } of partIn(selector, 'matchLabels')?.map.entries ?? []) {
    const own = entryOf(labels, key.text);
    if (own !== undefined && isScalar(own.value) && isScalar(value) && own.value.text === value.text)
      continue;
    return {
      at: own === undefined || isNull(own.value) ? placeOfLabels(cx, template) : own.value,
      wanted: `the label ${key.text}: ${isScalar(value) ? value.text : ''}`,
    };
  }
  const term = partsIn(selector, 'matchExpressions')[0];
  return {
    at: placeOfLabels(cx, template),
    wanted: `by its matchExpressions another ${textAt(term, 'key')?.text ?? 'label'}`,
  };
}

/** The labels of the template follow the selector, which nobody can change later. */
function copySelector(cx: Inspection, template: Part, selector: Part) {
  const wanted = partIn(selector, 'matchLabels')?.map.entries ?? [];
  const metadata = entryOf(template.map, 'metadata')?.value;
  const labels = mapIn(metadata, 'labels');
  const edits = wanted.map(({ key, value }) => {
    if (!isScalar(value) || typeof value.value !== 'string') return undefined;
    const own = entryOf(labels, key.text);
    if (own !== undefined && isScalar(own.value) && own.value.text === value.text) return [];
    return insertPath(
      cx.resource.placed.document,
      template.map,
      ['metadata', 'labels', key.text],
      value.value,
    );
  });
  const changed = edits.filter((edit) => edit === undefined || edit.length > 0);
  // Each insertion assumes that the maps it needs are there: several would make them twice.
  if (changed.includes(undefined) || changed.length === 0 || (changed.length > 1 && labels === undefined))
    return undefined;
  return cx.fix(
    'Give the pods the labels of the selector',
    edits.flatMap((edit) => edit ?? []),
  );
}

function copyLabels(cx: Inspection, spec: Part, template: Part | undefined) {
  const labels = mapIn(template?.map, 'metadata', 'labels');
  if (labels === undefined || labels.open || labels.entries.length === 0) return undefined;
  const selector = entryOf(spec.map, 'selector');
  const empty = selector === undefined ? undefined : mapIn(selector.value, 'matchLabels');
  if (selector === undefined || (empty !== undefined && empty.entries.length > 0)) return undefined;
  const copy: Record<string, PlainValue> = {};
  for (const { key, value } of labels.entries) {
    if (!isScalar(value) || value.unknown || typeof value.value !== 'string') return undefined;
    copy[key.text] = value.value;
  }
  const map = selector.value;
  if (!isMap(map) || map.entries.length > 0) return undefined;
  return cx.fix(
    'Select the labels of the pods',
    insertPath(cx.resource.placed.document, spec.map, ['selector', 'matchLabels'], copy),
  );
}

function checkDeployment(cx: Inspection, spec: Part): void {
  const rule = 'strategy-contradiction';
  const deadline = wholeAt(spec, 'progressDeadlineSeconds');
  const ready = wholeAt(spec, 'minReadySeconds')?.value ?? 0;
  if (deadline !== undefined) {
    if (deadline.value < 0) cx.numberRange(deadline, 0, undefined, 'progressDeadlineSeconds');
    else if (cx.isCertain && deadline.value <= ready) {
      cx.add(
        'number-out-of-range',
        deadline.node,
        `progressDeadlineSeconds is ${deadline.value}, and must be above minReadySeconds, ${ready}`,
      );
    }
  } else if (cx.isCertain && ready >= 600 && cx.lacks(spec, 'progressDeadlineSeconds')) {
    const at = wholeAt(spec, 'minReadySeconds');
    if (at !== undefined) {
      cx.add(
        'number-out-of-range',
        at.node,
        `minReadySeconds is ${ready}, and progressDeadlineSeconds, 600 by default, must be above it`,
      );
    }
  }
  const strategy = partIn(spec, 'strategy');
  if (strategy === undefined) return;
  const rolling = given(strategy, 'rollingUpdate');
  const type = textOrEmpty(strategy, 'type');
  if (type === 'Recreate') {
    if (rolling !== undefined && cx.isCertain) {
      cx.add(rule, rolling, 'The strategy Recreate has a rollingUpdate', {
        fixes: [cx.removal(strategy, 'rollingUpdate', 'Remove rollingUpdate')],
      });
    }
    return;
  }
  const part = partIn(strategy, 'rollingUpdate');
  if (part === undefined || (type !== 'RollingUpdate' && type !== '')) return;
  const surge = checkAmount(cx, part, 'maxSurge', rule);
  const unavailable = checkAmount(cx, part, 'maxUnavailable', rule, 100);
  if (surge === 0 && unavailable === 0 && cx.isCertain) {
    cx.add(
      rule,
      entryOf(part.map, 'maxUnavailable')?.value ?? part.place,
      'maxSurge and maxUnavailable are both 0, so no pod could ever be replaced',
      {
        related: [
          {
            resource: cx.resource,
            at: entryOf(part.map, 'maxSurge')?.value ?? part.map,
            message: 'maxSurge',
          },
        ],
        fixes: ['maxSurge', 'maxUnavailable'].map((key) => {
          const node = entryOf(part.map, key)?.value;
          return isScalar(node) ? cx.write(node, 1, `Set ${key} to 1`) : undefined;
        }),
      },
    );
  }
}

/**
 * A number of pods or a percentage.
 *
 * @returns the number, or the percentage; `undefined` when it is not known or broken.
 */
export function checkAmount(
  cx: Inspection,
  part: Part,
  key: string,
  rule: ValidityRule,
  mostPercent?: number,
): number | undefined {
  const node: YamlNode | undefined = entryOf(part.map, key)?.value;
  const number = wholeOf(node);
  if (number !== undefined) {
    cx.numberRange(number, 0, 2147483647, key, rule);
    return number.value < 0 ? undefined : number.value;
  }
  const text = textOf(node);
  if (text === undefined) return undefined;
  if (!isPercent(text.text)) {
    const isNumber = /^\d{1,9}$/.test(text.text);
    cx.add(
      rule,
      text.node,
      `${key} is the text ${shown(text.text)}, and a number or a percentage like "25%" is allowed`,
      {
        fixes: [
          isNumber && text.node.style !== 'plain' && !text.node.borrowed
            ? {
                title: `Write the number ${text.text}`,
                safe: false,
                edits: [{ start: text.node.start, end: text.node.end, newText: text.text }],
              }
            : undefined,
        ],
      },
    );
    return undefined;
  }
  const percent = Number(text.text.slice(0, -1));
  if (mostPercent !== undefined && percent > mostPercent) {
    cx.add(rule, text.node, `${key} is ${text.text}, and ${mostPercent}% is the most`);
  }
  return percent;
}

function checkStatefulSet(cx: Inspection, spec: Part): ReadonlySet<string> | 'unknown' {
  const rule = 'strategy-contradiction';
  const update = partIn(spec, 'updateStrategy');
  if (update !== undefined) {
    const type = textOrEmpty(update, 'type');
    const rolling = given(update, 'rollingUpdate');
    const part = partIn(update, 'rollingUpdate');
    if (type === 'OnDelete' && rolling !== undefined && cx.isCertain) {
      cx.add(rule, rolling, 'The update strategy OnDelete has a rollingUpdate', {
        fixes: [cx.removal(update, 'rollingUpdate', 'Remove rollingUpdate')],
      });
    } else if (part !== undefined) {
      cx.range(part, 'partition', 0, undefined, 'partition', rule);
    }
  }
  cx.form(spec, 'serviceName', dnsLabel, 'The name of the governing Service');
  const retention = partIn(spec, 'persistentVolumeClaimRetentionPolicy');
  for (const key of ['whenDeleted', 'whenScaled']) {
    if (retention !== undefined)
      cx.oneOf(retention, key, ['Retain', 'Delete'], key, 'value-unsupported', { orEmpty: true });
  }
  const ordinals = partIn(spec, 'ordinals');
  if (ordinals !== undefined) cx.range(ordinals, 'start', 0, undefined, 'The first ordinal');
  const list = entryOf(spec.map, 'volumeClaimTemplates');
  const names = new Set<string>();
  let open = spec.map.open || (listIn(spec, 'volumeClaimTemplates')?.open ?? false);
  if (list !== undefined && !isNull(list.value) && listIn(spec, 'volumeClaimTemplates') === undefined)
    open = true;
  for (const claim of partsIn(spec, 'volumeClaimTemplates')) {
    const metadata = partIn(claim, 'metadata');
    const name = textAt(metadata, 'name');
    if (name === undefined || dnsLabel.flaw(name.text) !== undefined) open = true;
    else names.add(name.text);
    if (metadata === undefined ? cx.lacks(claim, 'metadata') : cx.lacksText(metadata, 'name')) {
      cx.missing(
        metadata ?? claim,
        metadata === undefined ? 'metadata' : 'name',
        'The name of a claim template',
      );
    }
    if (metadata !== undefined) cx.form(metadata, 'name', dnsLabel, 'Name of the claim template');
    const claimSpec = partIn(claim, 'spec');
    if (claimSpec !== undefined)
      checkClaimSpec(cx, claimSpec, `The claim template${name === undefined ? '' : ` ${shown(name.text)}`}`);
    else if (cx.lacks(claim, 'spec')) {
      cx.add(
        'storage-claim-invalid',
        claim.place,
        'The claim template has no spec: it names no access mode and no size',
      );
    }
  }
  return open ? 'unknown' : names;
}

function checkDaemonSet(cx: Inspection, spec: Part): void {
  const rule = 'strategy-contradiction';
  const update = partIn(spec, 'updateStrategy');
  if (update === undefined) return;
  const type = textOrEmpty(update, 'type');
  const part = partIn(update, 'rollingUpdate');
  if (type === 'OnDelete' || part === undefined) return;
  if (type !== 'RollingUpdate' && type !== '') return;
  const surge = checkAmount(cx, part, 'maxSurge', rule, 100);
  const unavailable = checkAmount(cx, part, 'maxUnavailable', rule, 100);
  if (!cx.isCertain) return;
  const missing = cx.lacks(part, 'maxUnavailable');
  const effective = unavailable ?? (missing ? 1 : undefined);
  const surgeNode = entryOf(part.map, 'maxSurge')?.value;
  const unavailableNode = entryOf(part.map, 'maxUnavailable')?.value;
  if (surge === undefined && !cx.lacks(part, 'maxSurge')) return;
  if (effective !== undefined && effective !== 0 && surge !== undefined && surge !== 0) {
    cx.add(rule, surgeNode ?? part.place, 'A DaemonSet with a maxSurge has a maxUnavailable of 0', {
      fixes: [
        isScalar(unavailableNode) ? cx.write(unavailableNode, 0, 'Set maxUnavailable to 0') : undefined,
      ],
    });
  } else if (effective === 0 && (surge ?? 0) === 0) {
    cx.add(
      rule,
      unavailableNode ?? part.place,
      'maxUnavailable is 0 and there is no maxSurge, so no pod could ever be replaced',
      {
        fixes: [
          isScalar(unavailableNode) ? cx.write(unavailableNode, 1, 'Set maxUnavailable to 1') : undefined,
        ],
      },
    );
  }
}

export function checkJob(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec !== undefined) checkJobSpec(cx, spec);
}

/** As the default of an old field of an API is (`completions` and `parallelism` above 100 000 are never indexed). */
const mostIndexed = 100_000;

function checkJobSpec(cx: Inspection, spec: Part): void {
  for (const key of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]) {
    cx.range(spec, key, 0, undefined, key);
  }
  const mode = textAt(spec, 'completionMode')?.text;
  const completions = given(spec, 'completions');
  if (mode === 'Indexed' && cx.isCertain) {
    if (cx.lacks(spec, 'completions')) {
      cx.add(
        'required-value-missing',
        entryOf(spec.map, 'completionMode')?.value ?? spec.place,
        'completionMode is Indexed, and there are no completions to count',
      );
    }
    const parallelism = wholeAt(spec, 'parallelism');
    if (parallelism !== undefined)
      cx.numberRange(parallelism, 0, mostIndexed, 'parallelism of an indexed Job');
  }
  if (cx.isCertain && !spec.map.open) {
    for (const key of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy']) {
      const entry = given(spec, key);
      if (entry !== undefined && (mode === 'NonIndexed' || cx.lacks(spec, 'completionMode'))) {
        cx.add('field-not-allowed', entry, `${key} is for a Job with completionMode Indexed only`);
      }
    }
    const perIndex = given(spec, 'backoffLimitPerIndex');
    const failed = given(spec, 'maxFailedIndexes');
    if (failed !== undefined && perIndex === undefined && cx.lacks(spec, 'backoffLimitPerIndex')) {
      cx.add('field-not-allowed', failed, 'maxFailedIndexes is for a Job with backoffLimitPerIndex only');
    }
    const count = wholeOf(completions?.value);
    const most = wholeOf(failed?.value);
    if (count !== undefined && most !== undefined && most.value > count.value) {
      cx.add(
        'number-out-of-range',
        most.node,
        `maxFailedIndexes is ${most.value}, and completions ${count.value}`,
      );
    }
  }
  const manual = entryOf(spec.map, 'manualSelector')?.value;
  if (
    given(spec, 'selector') !== undefined &&
    cx.isCertain &&
    (manual === undefined || isNull(manual) || (isScalar(manual) && manual.value === false))
  ) {
    if (cx.lacks(spec, 'manualSelector') || (isScalar(manual) && manual.value === false)) {
      cx.add(
        'selector-differs-from-labels',
        given(spec, 'selector') ?? spec.place,
        'The selector of a Job is made by the API server, unless manualSelector is true',
      );
    }
  }
  const selector = partIn(spec, 'selector');
  const template = partIn(spec, 'template');
  checkSelector(cx, selector, 'the selector');
  // An empty selector of a Job selects all, and its own pods with them.
  if (isTrue(spec, 'manualSelector') && selector !== undefined && selector.map.entries.length > 0)
    matchLabels(cx, spec, selector, template);
  checkFailurePolicy(cx, spec, template);
  if (template !== undefined) checkTemplate(cx, template, 'job');
}

function checkFailurePolicy(cx: Inspection, spec: Part, template: Part | undefined): void {
  const policy = partIn(spec, 'podFailurePolicy');
  if (policy === undefined) return;
  const names = [
    ...partsIn(partIn(template, 'spec'), 'containers'),
    ...partsIn(partIn(template, 'spec'), 'initContainers'),
  ].map((container) => textAt(container, 'name')?.text);
  const perIndex = given(spec, 'backoffLimitPerIndex');
  for (const ruleOf of partsIn(policy, 'rules')) {
    const action = textAt(ruleOf, 'action');
    if (
      action?.text === 'FailIndex' &&
      cx.isCertain &&
      perIndex === undefined &&
      cx.lacks(spec, 'backoffLimitPerIndex')
    ) {
      cx.add(
        'value-unsupported',
        action.node,
        'The action FailIndex is for a Job with backoffLimitPerIndex only',
      );
    }
    const codes = partIn(ruleOf, 'onExitCodes');
    const conditions = given(ruleOf, 'onPodConditions');
    if (cx.isCertain && !ruleOf.map.open) {
      if (cx.lacks(ruleOf, 'onExitCodes') && cx.lacks(ruleOf, 'onPodConditions')) {
        cx.add(
          'required-value-missing',
          ruleOf.place,
          'A rule of a failure policy has neither onExitCodes nor onPodConditions',
        );
      }
      if (codes !== undefined && conditions !== undefined) {
        cx.add(
          'field-not-allowed',
          conditions,
          'A rule of a failure policy has both onExitCodes and onPodConditions, and takes one',
        );
      }
    }
    if (codes !== undefined) {
      const container = textAt(codes, 'containerName');
      if (
        container !== undefined &&
        cx.isCertain &&
        names.length > 0 &&
        !names.includes(undefined) &&
        !names.includes(container.text)
      ) {
        cx.add(
          'value-unsupported',
          container.node,
          `The failure policy names the container ${shown(container.text)}, and there is none`,
          {
            fixes: [
              cx.meant(
                container.node,
                names.filter((name) => name !== undefined),
              ),
            ],
          },
        );
      }
      const operator = textAt(codes, 'operator');
      const values = listIn(codes, 'values');
      if (values !== undefined && isClosed(values) && values.items.length === 0) {
        cx.add('number-out-of-range', cx.placeOf(codes, 'values'), 'onExitCodes has no values');
      }
      if (operator?.text === 'In') {
        for (const item of values?.items ?? []) {
          if (isScalar(item) && item.value === 0 && !item.unknown)
            cx.add(
              'number-out-of-range',
              item,
              'Exit code 0 is no failure that onExitCodes with In could name',
            );
        }
      }
      cx.unique(
        values?.items ?? [],
        (item) => (isScalar(item) && !item.unknown ? { key: item.text, at: item } : undefined),
        (key) => `Exit code ${key} is named twice`,
      );
    }
    for (const condition of partsIn(ruleOf, 'onPodConditions')) {
      const type = textAt(condition, 'type');
      if (type !== undefined && type.text !== '')
        cx.textForm(type, qualifiedName, 'The type of a pod condition');
      cx.oneOf(condition, 'status', ['True', 'False', 'Unknown', ''], 'The status of a pod condition');
    }
  }
  const pods = partIn(template, 'spec');
  const restart = textAt(pods, 'restartPolicy');
  if (restart?.text === 'OnFailure' && cx.isCertain) {
    cx.add(
      'restart-policy-invalid',
      restart.node,
      'A Job with a podFailurePolicy takes restartPolicy Never only',
      {
        fixes: [cx.write(restart.node, 'Never', 'Write Never')],
      },
    );
  }
}

export function checkCronJob(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  const schedule = textAt(spec, 'schedule');
  if (schedule !== undefined && schedule.text !== '') {
    const flaw = cronFlaw(schedule.text);
    if (flaw !== undefined)
      cx.add(
        'schedule-invalid',
        schedule.node,
        `The schedule ${shown(schedule.text)} is no cron expression: ${flaw}`,
      );
  }
  const zone = textAt(spec, 'timeZone');
  if (zone !== undefined) {
    if (zone.text === '') cx.missing(spec, 'timeZone', 'The time zone', 'schedule-invalid');
    else if (zone.text.toLowerCase() === 'local')
      cx.add('schedule-invalid', zone.node, 'The time zone Local is that of whoever asks');
    else if (!isTimeZone(zone.text))
      cx.add('schedule-invalid', zone.node, `There is no time zone ${shown(zone.text)}`);
  }
  cx.range(spec, 'startingDeadlineSeconds', 0, undefined, 'startingDeadlineSeconds');
  cx.range(spec, 'successfulJobsHistoryLimit', 0, undefined, 'successfulJobsHistoryLimit');
  cx.range(spec, 'failedJobsHistoryLimit', 0, undefined, 'failedJobsHistoryLimit');
  const template = partIn(spec, 'jobTemplate');
  const job = partIn(template, 'spec');
  if (job !== undefined) checkJobSpec(cx, job);
}

/** Names of the tz database have the form `Area/City`; whether one exists, the machine's own copy tells. */
function isTimeZone(name: string): boolean {
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    if (known.toLowerCase() === name.toLowerCase()) return known === name;
    // Intl folds case and the API server does not. Of a link only its target's name is known; each part has a capital.
    return name.split('/').every((part) => /^[A-Z]/.test(part));
  } catch {
    return false;
  }
}
