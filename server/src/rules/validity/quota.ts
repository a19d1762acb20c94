import { qualifiedName } from '../../kube/names';
import { given, isClosed, listIn, partIn, partsIn, textAt, textOf, type Part } from '../../kube/part';
import { compareQuantities, quantityOf, type Quantity } from '../../kube/quantity';
import { entryOf, isNull, isScalar, type Entry, type ScalarNode } from '../../yaml/node';
import { listWords } from '../placement/words';
import { byName, shown, type Inspection } from './inspection';
import { checkNotNegative, resourceNameFlaw } from './resources';

/** What a quota can count without a domain in its name (`pkg/apis/core/helper.IsStandardQuotaResourceName`). */
const quotaNames: readonly string[] = [
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
];

function quotaNameFlaw(name: string): string | undefined {
  const form = qualifiedName.flaw(name);
  if (form !== undefined) return `not ${qualifiedName.name}: ${form}`;
  if (name.includes('/') || quotaNames.includes(name)) return undefined;
  return /^(requests\.)?hugepages-/.test(name) ? undefined : 'nothing that a quota counts';
}

/** Each pair says the opposite, or leaves nothing. */
const opposites: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

export function checkQuota(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  const hard = partIn(spec, 'hard');
  for (const { key } of hard?.map.entries ?? []) {
    const flaw = key.unknown ? undefined : quotaNameFlaw(key.text);
    if (flaw === undefined) continue;
    cx.add('resource-name-unknown', key, `The quota limits ${shown(key.text)}, which is ${flaw}`, {
      fixes: [hard === undefined ? undefined : cx.meantKey(hard.map, key, quotaNames)],
    });
  }
  checkNotNegative(cx, hard, 'The quota for', true);
  const list = listIn(spec, 'scopes')?.items ?? [];
  const named = list.flatMap((item) => textOf(item) ?? []);
  for (const pair of opposites) {
    const found = named.filter(({ text }) => pair.includes(text));
    const second = found[1];
    if (second !== undefined && cx.isCertain && new Set(found.map(({ text }) => text)).size === 2) {
      cx.add(
        'value-unsupported',
        second.node,
        `The quota has the scopes ${pair.join(' and ')}, and nothing is both`,
      );
    }
  }
  checkScopeLimits(cx, hard, named);
  for (const term of partsIn(partIn(spec, 'scopeSelector'), 'matchExpressions')) checkScope(cx, term);
}

/** A quota for pods of the best effort counts pods alone. */
function checkScopeLimits(
  cx: Inspection,
  hard: Part | undefined,
  named: readonly { readonly text: string; readonly node: ScalarNode }[],
): void {
  const best = named.find(({ text }) => text === 'BestEffort');
  if (best === undefined || hard === undefined || !cx.isCertain) return;
  const other = hard.map.entries.find(
    ({ key }) => key.text !== 'pods' && !key.text.startsWith('count/') && !key.unknown,
  );
  if (other !== undefined)
    cx.add(
      'value-unsupported',
      best.node,
      `The scope BestEffort counts pods alone, and the quota names ${other.key.text}`,
    );
}

function checkScope(cx: Inspection, term: Part): void {
  const name = textAt(term, 'scopeName');
  const operator = textAt(term, 'operator');
  if (operator === undefined || !cx.isCertain) return;
  const values = listIn(term, 'values');
  const count =
    values === undefined
      ? cx.lacks(term, 'values')
        ? 0
        : undefined
      : isClosed(values)
        ? values.items.length
        : undefined;
  if (count === undefined) return;
  const at = cx.placeOf(term, 'values');
  if (operator.text === 'In' || operator.text === 'NotIn') {
    if (count === 0) cx.add('selector-invalid', at, `Operator ${operator.text} of the scope has no values`);
  } else if ((operator.text === 'Exists' || operator.text === 'DoesNotExist') && count > 0) {
    cx.add('selector-invalid', at, `Operator ${operator.text} of the scope has values, and takes none`);
  }
  if (
    name !== undefined &&
    ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity'].includes(
      name.text,
    ) &&
    ['In', 'NotIn', 'DoesNotExist'].includes(operator.text)
  ) {
    cx.add('selector-invalid', operator.node, `The scope ${name.text} takes the operator Exists only`, {
      fixes: [],
    });
  }
}

/** A key without a value is an amount of 0. */
const zero: Quantity = { nanos: 0n, suffix: '' };

type Amounts = ReadonlyMap<string, { readonly entry: Entry; readonly quantity: Quantity }>;

function amountsOf(part: Part, key: string): Amounts {
  return new Map(
    (partIn(part, key)?.map.entries ?? []).flatMap((entry) => {
      const quantity = entry.key.unknown ? undefined : isNull(entry.value) ? zero : quantityOf(entry.value);
      return quantity === undefined ? [] : [[entry.key.text, { entry, quantity }] as const];
    }),
  );
}

export function checkLimitRange(cx: Inspection, root: Part): void {
  const items = partsIn(partIn(root, 'spec'), 'limits');
  for (const item of items) checkLimit(cx, item);
  cx.unique(
    items,
    (item) => byName(textAt(item, 'type')),
    (key) => `Two items of the range are for ${key}`,
  );
}

const halves = ['min', 'defaultRequest', 'default', 'max'] as const;

/** What must not be above what, and which of the two is at fault. */
const orders: readonly (readonly [
  (typeof halves)[number],
  (typeof halves)[number],
  (typeof halves)[number],
])[] = [
  ['min', 'max', 'min'],
  ['min', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'max', 'defaultRequest'],
  ['defaultRequest', 'default', 'defaultRequest'],
  ['min', 'default', 'default'],
  ['default', 'max', 'default'],
];

const limitTypes: readonly string[] = ['Container', 'Pod', 'PersistentVolumeClaim'];

function checkLimit(cx: Inspection, item: Part): void {
  const type = textAt(item, 'type');
  if (type === undefined || type.text === '') {
    return;
  }
  const form = qualifiedName.flaw(type.text);
  if (form !== undefined || (!type.text.includes('/') && !limitTypes.includes(type.text))) {
    cx.add(
      'value-unsupported',
      type.node,
      `The range is for ${shown(type.text)}, and ${listWords(limitTypes)} are known`,
      {
        fixes: [cx.meant(type.node, limitTypes)],
      },
    );
    return;
  }
  const title = `of the range for ${type.text}`;
  for (const half of [...halves, 'maxLimitRequestRatio']) {
    const map = partIn(item, half)?.map;
    for (const { key } of map?.entries ?? []) {
      const flaw = key.unknown ? undefined : limitNameFlaw(type.text, key.text);
      if (flaw !== undefined) {
        cx.add(
          'resource-name-unknown',
          key,
          `The ${half} ${title} names ${shown(key.text)}, which is ${flaw}`,
          {
            fixes: [
              map === undefined
                ? undefined
                : cx.meantKey(map, key, ['cpu', 'memory', 'ephemeral-storage', 'storage']),
            ],
          },
        );
      }
    }
  }
  if (!cx.isCertain) return;
  if (type.text === 'Pod') {
    for (const key of ['default', 'defaultRequest']) {
      const entry = given(item, key);
      if (entry !== undefined) cx.add('field-not-allowed', entry, `A limit for pods has no ${key}`);
    }
  }
  const amounts = new Map(halves.map((half) => [half, amountsOf(item, half)] as const));
  const names = new Set([...amounts.values()].flatMap((half) => [...half.keys()]));
  if (type.text === 'PersistentVolumeClaim') {
    const named = ['min', 'max'].some((half) => {
      const map = partIn(item, half)?.map;
      return map === undefined ? !cx.lacks(item, half) : map.open || entryOf(map, 'storage') !== undefined;
    });
    if (!named) {
      cx.add('required-value-missing', type.node, 'A limit for claims names a min or a max of storage');
    }
  }
  for (const name of names) {
    for (const [lower, upper, at] of orders) {
      const small = amounts.get(lower)?.get(name);
      const large = amounts.get(upper)?.get(name);
      if (
        small === undefined ||
        large === undefined ||
        compareQuantities(small.quantity, large.quantity) <= 0
      )
        continue;
      cx.add(
        'quantity-out-of-range',
        (at === lower ? small : large).entry.value,
        `The ${lower} ${title} for ${name} is above its ${upper}`,
        {
          related: [
            {
              resource: cx.resource,
              at: (at === lower ? large : small).entry.value,
              message: at === lower ? upper : lower,
            },
          ],
        },
      );
      break;
    }
  }
  const one = 1_000_000_000n;
  for (const [name, { entry, quantity }] of amountsOf(item, 'maxLimitRequestRatio')) {
    if (quantity.nanos < one) {
      cx.add(
        'quantity-out-of-range',
        entry.value,
        `The maxLimitRequestRatio ${title} for ${name} is ${isScalar(entry.value) ? entry.value.text : ''}, and 1 or more is allowed`,
      );
    }
    const least = amounts.get('min')?.get(name)?.quantity;
    const most = amounts.get('max')?.get(name)?.quantity;
    if (
      least !== undefined &&
      most !== undefined &&
      least.nanos > 0n &&
      quantity.nanos * least.nanos > most.nanos * one
    ) {
      cx.add(
        'quantity-out-of-range',
        entry.value,
        `The maxLimitRequestRatio ${title} for ${name} is above what its max and min leave`,
      );
    }
  }
}

/** Limits of containers and pods have their resources; other types any qualified name. */
function limitNameFlaw(type: string, name: string): string | undefined {
  if (type === 'Container' || type === 'Pod') return resourceNameFlaw(name);
  const form = qualifiedName.flaw(name);
  if (form !== undefined) return `not ${qualifiedName.name}: ${form}`;
  if (name.includes('/')) return undefined;
  return [...quotaNames, 'storage'].includes(name) || name.startsWith('hugepages-')
    ? undefined
    : 'no standard name';
}
