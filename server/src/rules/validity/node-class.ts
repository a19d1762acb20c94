import { given, isTrue, listIn, partIn, partsIn, textAt, textOf, wholeAt, type Part } from '../../kube/part';
import { entryOf, isMap, isNull, isScalar } from '../../yaml/node';
import { listWords } from '../placement/words';
import { hasMisspelt } from './container';
import { givenOf, shown, type Inspection } from './inspection';

const rule = 'nodeclass-invalid';

/** The rules of the EC2NodeClass CRD (Karpenter's AWS provider 1.14). */
export function checkNodeClass(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  checkIdentity(cx, spec);
  checkImages(cx, spec);
  checkTerms(cx, spec, 'subnetSelectorTerms', ['tags', 'id'], ['id']);
  checkTerms(cx, spec, 'securityGroupSelectorTerms', ['tags', 'id', 'name'], ['id', 'name']);
  checkTerms(cx, spec, 'capacityReservationSelectorTerms', ['tags', 'id', 'instanceMatchCriteria'], []);
  checkDisks(cx, spec);
  checkKubelet(cx, partIn(spec, 'kubelet'));
  checkTags(cx, spec);
}

function checkIdentity(cx: Inspection, spec: Part): void {
  const keys = ['role', 'instanceProfile'];
  for (const key of keys) if (textAt(spec, key)?.text === '') cx.missing(spec, key, `The ${key}`, rule);
  if (!cx.isCertain || spec.map.open) return;
  const present = givenOf(spec, keys);
  if (present.length === 2) {
    cx.add(
      rule,
      present[1] ?? spec.place,
      'The node class has both a role and an instanceProfile, and takes one',
      {
        fixes: keys.map((key) => cx.removal(spec, key, `Remove ${key}`)),
      },
    );
  } else if (keys.every((key) => cx.lacks(spec, key))) {
    cx.add(
      rule,
      entryOf(spec.map, 'role') ?? entryOf(spec.map, 'instanceProfile') ?? spec.place,
      'The node class has neither a role nor an instanceProfile',
    );
  }
}

const families: Readonly<Record<string, string>> = {
  al2: 'AL2',
  al2023: 'AL2023',
  bottlerocket: 'Bottlerocket',
  windows2019: 'Windows2019',
  windows2022: 'Windows2022',
  windows2025: 'Windows2025',
};

function checkImages(cx: Inspection, spec: Part): void {
  const terms = partsIn(spec, 'amiSelectorTerms');
  const list = listIn(spec, 'amiSelectorTerms');
  const keys = ['tags', 'id', 'name', 'alias', 'ssmParameter'];
  const aliases = terms.flatMap((term) => given(term, 'alias') ?? []);
  for (const term of terms) {
    checkTagValues(cx, term);
    const alias = textAt(term, 'alias');
    if (alias !== undefined) checkAlias(cx, alias, spec);
    if (!cx.isCertain || term.map.open) continue;
    const present = givenOf(term, keys);
    if (present.length === 0 && !hasMisspelt(term, keys)) {
      cx.add(
        rule,
        term.map.entries[0] ?? term.place,
        `A term of amiSelectorTerms has none of ${listWords(keys)}`,
      );
    }
    for (const sole of ['id', 'alias']) {
      const entry = given(term, sole);
      const others = givenOf(
        term,
        ['alias', 'id', 'tags', 'name', 'owner'].filter((key) => key !== sole),
      );
      if (entry !== undefined && others.length > 0) {
        cx.add(
          rule,
          others[0] ?? entry,
          `A term of amiSelectorTerms has ${sole} and ${listWords(others.map(({ key }) => key.text))}, and ${sole} stands alone`,
        );
        break;
      }
    }
  }
  if (!cx.isCertain || list === undefined || list.open) return;
  const alias = aliases[0];
  if (alias !== undefined && list.items.length > 1) {
    const other = terms.find((term) => given(term, 'alias') !== alias);
    cx.add(
      rule,
      other === undefined ? alias : (given(other, 'alias') ?? other.map.entries[0] ?? other.place),
      'amiSelectorTerms has a term with an alias, which is the only one then',
    );
  }
  if (
    aliases.length === 0 &&
    cx.lacks(spec, 'amiFamily') &&
    terms.every((term) => givenOf(term, keys).length > 0)
  ) {
    cx.add(
      rule,
      entryOf(spec.map, 'amiFamily') ?? entryOf(spec.map, 'amiSelectorTerms') ?? spec.place,
      'amiSelectorTerms has no alias, so the node class needs an amiFamily',
    );
  }
}

function checkAlias(cx: Inspection, alias: NonNullable<ReturnType<typeof textAt>>, spec: Part): void {
  const { text, node } = alias;
  const [family = '', version] = text.split('@');
  if (!/^[a-zA-Z0-9]+@.+$/s.test(text)) {
    cx.add(rule, node, `The alias ${shown(text)} has not the form family@version`);
    return;
  }
  const known = families[family];
  if (known === undefined) {
    cx.add(
      rule,
      node,
      `The alias ${shown(text)} has the family ${shown(family)}, and ${listWords(Object.keys(families))} are known`,
      {
        fixes: [aliasFix(cx, node, family, text)],
      },
    );
    return;
  }
  if (family.startsWith('windows') && version !== 'latest') {
    cx.add(rule, node, `The alias ${shown(text)} is of Windows, which has the version latest only`, {
      fixes: [cx.write(node, `${family}@latest`, `Write ${family}@latest`)],
    });
  }
  const written = textAt(spec, 'amiFamily');
  if (
    written !== undefined &&
    cx.isCertain &&
    written.text !== 'Custom' &&
    written.text !== known &&
    Object.values(families).includes(written.text)
  ) {
    cx.add(rule, written.node, `amiFamily is ${written.text}, and the alias ${shown(text)} is of ${known}`, {
      related: [{ resource: cx.resource, at: node, message: 'The alias' }],
      fixes: [cx.write(written.node, known, `Write ${known}`)],
    });
  }
}

function aliasFix(cx: Inspection, node: Parameters<Inspection['write']>[0], family: string, text: string) {
  const meant = cx.meant({ ...node, text: family }, Object.keys(families));
  const word = meant?.title.replace(/^Write /, '');
  return word === undefined
    ? undefined
    : cx.write(node, `${word}${text.slice(family.length)}`, `Write ${word}${text.slice(family.length)}`);
}

/** Terms that select by tags, an id or a name: at least one of them, and an id alone. */
function checkTerms(
  cx: Inspection,
  spec: Part,
  key: string,
  keys: readonly string[],
  alone: readonly string[],
): void {
  const list = listIn(spec, key);
  const terms = partsIn(spec, key);
  if (list !== undefined && !list.open && list.items.length === 0 && cx.isCertain) {
    cx.add(rule, cx.placeOf(spec, key), `${key} is empty`);
    return;
  }
  for (const term of terms) {
    checkTagValues(cx, term);
    if (!cx.isCertain || term.map.open) continue;
    if (givenOf(term, keys).length === 0 && !hasMisspelt(term, keys)) {
      cx.add(rule, term.map.entries[0] ?? term.place, `A term of ${key} has none of ${listWords(keys)}`);
    }
  }
  // As the CRD has it, only a list of which every term is wrong is refused.
  if (
    !cx.isCertain ||
    list === undefined ||
    list.open ||
    terms.length === 0 ||
    terms.some((term) => term.map.open)
  )
    return;
  for (const sole of alone) {
    const others = keys.filter((other) => other !== sole);
    const wrong = terms.every((term) => given(term, sole) !== undefined && givenOf(term, others).length > 0);
    const first = terms[0];
    if (wrong && first !== undefined) {
      cx.add(
        rule,
        givenOf(first, others)[0] ?? first.place,
        `A term of ${key} has ${sole} and ${listWords(givenOf(first, others).map((entry) => entry.key.text))}, and ${sole} stands alone`,
      );
      return;
    }
  }
  if (key === 'capacityReservationSelectorTerms') {
    const wrong = terms.every(
      (term) =>
        given(term, 'id') !== undefined &&
        givenOf(term, ['tags', 'ownerID', 'instanceMatchCriteria']).length > 0,
    );
    const first = terms[0];
    if (wrong && first !== undefined) {
      const others = givenOf(first, ['tags', 'ownerID', 'instanceMatchCriteria']);
      cx.add(
        rule,
        others[0] ?? first.place,
        `A term of ${key} has id and ${listWords(others.map((entry) => entry.key.text))}, and id stands alone`,
      );
    }
  }
}

function checkTagValues(cx: Inspection, term: Part): void {
  for (const { key, value } of partIn(term, 'tags')?.map.entries ?? []) {
    if (!key.unknown && key.text === '') cx.add(rule, value, 'A tag of a selector has no key');
    else if (textOf(value)?.text === '')
      cx.add(
        rule,
        value.end > value.start ? value : key,
        `The tag ${key.text} of a selector has no value, and "*" stands for any`,
      );
  }
}

/** Tags that Karpenter sets itself. */
const ownTags: readonly string[] = [
  'eks:eks-cluster-name',
  'karpenter.sh/nodepool',
  'karpenter.sh/nodeclaim',
  'karpenter.k8s.aws/ec2nodeclass',
];

function checkTags(cx: Inspection, spec: Part): void {
  for (const { key, value } of partIn(spec, 'tags')?.map.entries ?? []) {
    if (key.unknown) continue;
    if (key.text === '') cx.add(rule, value, 'A tag has no key');
    else if (ownTags.includes(key.text) || key.text.startsWith('kubernetes.io/cluster')) {
      cx.add(rule, key, `The tag ${key.text} is set by Karpenter itself`, {
        fixes: [removeTag(cx, spec, key.text)],
      });
    }
  }
}

function removeTag(cx: Inspection, spec: Part, key: string) {
  const tags = partIn(spec, 'tags');
  return tags === undefined ? undefined : cx.removal(tags, key, `Remove ${key}`);
}

function checkDisks(cx: Inspection, spec: Part): void {
  const mappings = partsIn(spec, 'blockDeviceMappings');
  for (const mapping of mappings) {
    const disk = partIn(mapping, 'ebs');
    if (disk === undefined || !cx.isCertain || disk.map.open) continue;
    if (
      givenOf(disk, ['snapshotID', 'volumeSize']).length === 0 &&
      cx.lacks(disk, 'snapshotID') &&
      cx.lacks(disk, 'volumeSize')
    ) {
      cx.add(
        rule,
        entryOf(disk.map, 'volumeSize') ?? disk.place,
        'A block device has neither a volumeSize nor a snapshotID',
      );
    }
    const rate = given(disk, 'volumeInitializationRate');
    if (rate !== undefined && cx.lacksText(disk, 'snapshotID')) {
      cx.add(rule, rate, 'volumeInitializationRate goes with a snapshotID only');
    }
  }
  const roots = mappings.filter((mapping) => isTrue(mapping, 'rootVolume'));
  const second = roots[1];
  if (second !== undefined && cx.isCertain) {
    cx.add(rule, entryOf(second.map, 'rootVolume') ?? second.place, 'Two block devices are the root volume');
  }
}

const signals: readonly string[] = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];
const reserved: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

function checkKubelet(cx: Inspection, kubelet: Part | undefined): void {
  if (kubelet === undefined) return;
  const known = (key: string, keys: readonly string[]): void => {
    const map = partIn(kubelet, key)?.map;
    for (const { key: name, value } of map?.entries ?? []) {
      if (name.unknown || isNull(value)) continue;
      if (!keys.includes(name.text)) {
        cx.add(rule, name, `${key} names ${shown(name.text)}, and ${listWords(keys)} are known`, {
          fixes: [map === undefined ? undefined : cx.meantKey(map, name, keys)],
        });
      } else if (keys === reserved && isScalar(value) && value.text.startsWith('-') && !value.unknown) {
        cx.add(rule, value, `The ${key} of ${name.text} is ${value.text}, and 0 or more is allowed`);
      }
    }
  };
  known('evictionHard', signals);
  known('evictionSoft', signals);
  known('evictionSoftGracePeriod', signals);
  known('systemReserved', reserved);
  known('kubeReserved', reserved);
  if (!cx.isCertain || kubelet.map.open) return;
  checkPair(cx, kubelet, 'evictionSoft', 'evictionSoftGracePeriod');
  checkPair(cx, kubelet, 'evictionSoftGracePeriod', 'evictionSoft');
  const high = wholeAt(kubelet, 'imageGCHighThresholdPercent');
  const low = wholeAt(kubelet, 'imageGCLowThresholdPercent');
  if (high !== undefined && low !== undefined && high.value <= low.value) {
    cx.add(
      rule,
      high.node,
      `imageGCHighThresholdPercent is ${high.value}, and must be above imageGCLowThresholdPercent, ${low.value}`,
    );
  }
}

/** Each soft threshold has its grace period, and the other way round. */
function checkPair(cx: Inspection, kubelet: Part, one: string, other: string): void {
  const map = partIn(kubelet, one)?.map;
  const partner = entryOf(kubelet.map, other);
  if (map === undefined) return;
  if (partner !== undefined && !isNull(partner.value) && !isMap(partner.value)) return;
  for (const { key, value } of map.entries) {
    if (key.unknown || isNull(value) || !signals.includes(key.text)) continue;
    if (!isNull(entryOf(partner?.value, key.text)?.value) || (isMap(partner?.value) && partner.value.open))
      continue;
    cx.add(rule, key, `${one} has ${key.text}, and ${other} has not`);
  }
}
