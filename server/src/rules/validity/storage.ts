import { annotationKey, dnsSubdomain, qualifiedName } from '../../kube/names';
import { given, listIn, partIn, partsIn, textAt, textOf, type Part } from '../../kube/part';
import { quantityOf } from '../../kube/quantity';
import { isAbsent } from '../../kube/resource';
import { entryOf, isMap, isNull, isScalar } from '../../yaml/node';
import { byText, shown, type Inspection } from './inspection';
import { checkSelector } from './selector';

const rule = 'storage-claim-invalid';

export function checkClaim(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec !== undefined) checkClaimSpec(cx, spec, 'The claim');
  else if (cx.lacks(root, 'spec'))
    cx.add(rule, cx.placeOf(root, 'spec'), 'The claim has no spec: it names no access mode and no size');
}

/** What a claim asks for: at least one access mode, and a size above 0. */
export function checkClaimSpec(cx: Inspection, spec: Part, title: string): void {
  checkAccessModes(cx, spec);
  const storage = partIn(spec, 'resources', 'requests');
  const size = entryOf(storage?.map, 'storage');
  if (size === undefined || isNull(size.value)) {
    if (lacksSize(cx, spec)) {
      // The API server names the resources as a whole.
      const at = entryOf(spec.map, 'resources') ?? spec.place;
      cx.add(rule, at, `${title} asks for no storage`);
    }
  } else {
    const quantity = quantityOf(size.value);
    if (quantity !== undefined && quantity.nanos <= 0n) {
      cx.add(
        rule,
        size.value,
        `${title} asks for ${isScalar(size.value) ? size.value.text : ''} of storage, and above 0 is allowed`,
      );
    }
  }
  const name = textAt(spec, 'storageClassName');
  if (name !== undefined && name.text !== '') {
    cx.textForm(name, dnsSubdomain, 'The name of the storage class', { rule });
  }
  checkSelector(cx, partIn(spec, 'selector'), 'the selector of the claim');
}

function lacksSize(cx: Inspection, spec: Part): boolean {
  const resources = partIn(spec, 'resources');
  if (resources === undefined) return cx.lacks(spec, 'resources');
  const requests = partIn(resources, 'requests');
  if (requests === undefined) return cx.lacks(resources, 'requests');
  // The keys are the author's own, so a misspelt one is no finding of the schema.
  return isAbsent(cx.resource, requests.map, 'storage');
}

function checkAccessModes(cx: Inspection, spec: Part): void {
  const modes = listIn(spec, 'accessModes');
  const known = (modes?.items ?? []).flatMap((item) => textOf(item) ?? []);
  const single = known.find(({ text }) => text === 'ReadWriteOncePod');
  if (single !== undefined && cx.isCertain && new Set(known.map(({ text }) => text)).size > 1) {
    cx.add(rule, single.node, 'ReadWriteOncePod goes with no other access mode');
  }
}

export function checkPersistentVolume(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  checkAccessModes(cx, spec);
  const capacity = partIn(spec, 'capacity');
  const size = entryOf(capacity?.map, 'storage');
  if (size === undefined || isNull(size.value)) {
    const lacks = capacity === undefined ? cx.lacks(spec, 'capacity') : cx.lacks(capacity, 'storage');
    if (lacks) cx.add(rule, size ?? entryOf(spec.map, 'capacity') ?? spec.place, 'The volume has no size');
  } else {
    const quantity = quantityOf(size.value);
    if (quantity !== undefined && quantity.nanos <= 0n)
      cx.add(rule, size.value, 'The size of the volume is not above 0');
  }
  for (const { key } of capacity?.map.entries ?? []) {
    if (!key.unknown && key.text !== 'storage') {
      cx.add(rule, key, `The capacity of a volume is its storage, and here it names ${shown(key.text)}`, {
        fixes: [cx.meant(key, ['storage'])],
      });
    }
  }
  const name = textAt(spec, 'storageClassName');
  if (name !== undefined && name.text !== '')
    cx.textForm(name, dnsSubdomain, 'The name of the storage class', { rule });
  const csi = partIn(spec, 'csi');
  if (csi !== undefined) {
    checkDriver(cx, csi, 'the volume');
  }
  if (cx.isCertain && !spec.map.open && !hasSource(spec)) {
    cx.add('volume-source-invalid', spec.place, 'The volume has no source');
  }
}

/** Keys of a volume that are no source of it. */
const noSource: readonly string[] = [
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
];

/** A key that is none of the known ones may be a misspelt source, which is the schema's finding. */
function hasSource(spec: Part): boolean {
  return spec.map.entries.some(
    ({ key, value }) =>
      !noSource.includes(key.text) && !isNull(value) && (isMap(value) || given(spec, key.text) !== undefined),
  );
}

export function checkStorageClass(cx: Inspection, root: Part): void {
  const name = textAt(root, 'provisioner');
  if (name !== undefined && name.text !== '') cx.textForm(name, annotationKey, 'The provisioner');
  for (const term of partsIn(root, 'allowedTopologies')) checkTopology(cx, term);
}

/** Where volumes may be: terms of which one has to hold, each a list of labels. */
function checkTopology(cx: Inspection, term: Part): void {
  const labels = partsIn(term, 'matchLabelExpressions');
  if (cx.lacksItems(term, 'matchLabelExpressions') && cx.isCertain)
    cx.missing(term, 'matchLabelExpressions', 'The list of labels of an allowed topology');
  for (const label of labels) {
    cx.form(label, 'key', qualifiedName, 'The label of an allowed topology');
    cx.unique(
      listIn(label, 'values')?.items ?? [],
      (item) => byText(textOf(item)),
      (value) => `The value ${shown(value)} of an allowed topology is there twice`,
    );
  }
  cx.unique(
    labels,
    (label) => byText(textAt(label, 'key')),
    (key) => `The label ${shown(key)} of an allowed topology is there twice`,
  );
}

const driverForm = /^[-a-zA-Z0-9]+(\.[-a-zA-Z0-9]+)*$/;

export function checkDriver(cx: Inspection, csi: Part, what: string): void {
  const driver = textAt(csi, 'driver');
  if (driver === undefined || driver.text === '') return;
  if (
    driver.text.length > 63 ||
    dnsSubdomain.flaw(driver.text.toLowerCase()) !== undefined ||
    !driverForm.test(driver.text)
  ) {
    cx.add(
      'volume-source-invalid',
      driver.node,
      `The driver ${shown(driver.text)} of ${what} is not the name of one`,
    );
  }
}
