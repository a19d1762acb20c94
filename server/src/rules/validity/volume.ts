import { dnsLabel, repairedName } from '../../kube/names';
import { listIn, partIn, partsIn, textAt, wholeAt, type Part } from '../../kube/part';
import { quantityOf } from '../../kube/quantity';
import { entryOf, isMap, isNull } from '../../yaml/node';
import { listWords } from '../placement/words';
import { checkFieldReference, checkResourceReference, hasMisspelt } from './container';
import { byName, givenOf, shown, type Inspection } from './inspection';
import { checkClaimSpec, checkDriver } from './storage';

/** The volumes that the containers of a pod can mount. */
export interface Volumes {
  /** `undefined` when there may be others than the written ones. */
  readonly names: ReadonlySet<string> | undefined;
  /** Those that are certainly no claim, and so no block device. */
  readonly others: ReadonlySet<string>;
}

/** Every source of `core/v1 VolumeSource`. */
const sources: readonly string[] = [
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'glusterfs',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'persistentVolumeClaim',
  'photonPersistentDisk',
  'portworxVolume',
  'projected',
  'quobyte',
  'rbd',
  'scaleIO',
  'secret',
  'storageos',
  'vsphereVolume',
];

export function checkVolumes(cx: Inspection, spec: Part): Volumes {
  const entry = entryOf(spec.map, 'volumes');
  const list = listIn(spec, 'volumes');
  const volumes = partsIn(spec, 'volumes');
  const names = new Set<string>();
  const others = new Set<string>();
  let open = !cx.isCertain || spec.map.open || list?.open === true;
  if (entry !== undefined && list === undefined && !isNull(entry.value)) open = true;
  if (list !== undefined && list.items.some((item) => !isMap(item))) open = true;
  for (const volume of volumes) {
    const name = textAt(volume, 'name');
    // A name of another type or form, or a misspelt key, is a finding of its own: which name was meant is not known.
    if (name === undefined || dnsLabel.flaw(name.text) !== undefined) {
      open = true;
    } else {
      names.add(name.text);
      const present = givenOf(volume, sources).map(({ key }) => key.text);
      if (!volume.map.open && !present.includes('persistentVolumeClaim') && !present.includes('ephemeral'))
        others.add(name.text);
    }
    checkVolume(cx, spec, volume);
  }
  if (entry === undefined && hasMisspelt(spec, ['volumes'])) open = true;
  cx.unique(
    volumes,
    (volume) => byName(textAt(volume, 'name')),
    (key) => `Two volumes are called ${shown(key)}`,
  );
  return { names: open ? undefined : names, others };
}

function checkVolume(cx: Inspection, spec: Part, volume: Part): void {
  cx.form(volume, 'name', dnsLabel, 'Volume name', {
    fix: ({ text }) => renameVolume(cx, spec, text),
  });
  const name = textAt(volume, 'name')?.text ?? '';
  const title = name === '' ? 'The volume' : `Volume ${shown(name)}`;
  const present = givenOf(volume, sources);
  if (cx.isCertain && !volume.map.open && present.length > 1) {
    cx.add(
      'volume-source-invalid',
      present[1] ?? volume.place,
      `${title} has ${present.length} sources, ${listWords(present.map(({ key }) => key.text))}, and takes one`,
    );
  }
  checkSource(cx, volume, title);
}

/** Takes the name along into what mounts the volume. */
function renameVolume(cx: Inspection, spec: Part, text: string) {
  const repaired = repairedName(dnsLabel, text);
  if (repaired === undefined) return undefined;
  const nodes = [
    ...partsIn(spec, 'volumes'),
    ...['containers', 'initContainers'].flatMap((key) =>
      partsIn(spec, key).flatMap((container) => [
        ...partsIn(container, 'volumeMounts'),
        ...partsIn(container, 'volumeDevices'),
      ]),
    ),
  ].flatMap((part) => textAt(part, 'name') ?? []);
  const fixes = nodes.filter((found) => found.text === text).map(({ node }) => cx.write(node, repaired, ''));
  if (fixes.some((fix) => fix === undefined)) return undefined;
  return { title: `Name it ${repaired}`, safe: false, edits: fixes.flatMap((fix) => fix?.edits ?? []) };
}

function checkSource(cx: Inspection, volume: Part, title: string): void {
  const what = title.charAt(0).toLowerCase() + title.slice(1);
  checkItems(cx, partIn(volume, 'configMap'), 'name', what);
  checkItems(cx, partIn(volume, 'secret'), 'secretName', what);
  checkHostPath(cx, partIn(volume, 'hostPath'), what);
  const limit = entryOf(partIn(volume, 'emptyDir')?.map, 'sizeLimit')?.value;
  const size = quantityOf(limit);
  if (limit !== undefined && size !== undefined && size.nanos < 0n) {
    cx.add('quantity-out-of-range', limit, `The sizeLimit of ${what} is below 0`);
  }
  const nfs = partIn(volume, 'nfs');
  if (nfs !== undefined) {
    const path = textAt(nfs, 'path');
    if (path !== undefined && path.text !== '' && !path.text.startsWith('/')) {
      cx.add(
        'volume-source-invalid',
        path.node,
        `The path ${shown(path.text)} of ${what} is not an absolute one`,
      );
    }
  }
  const csi = partIn(volume, 'csi');
  if (csi !== undefined) checkDriver(cx, csi, what);
  const downward = partIn(volume, 'downwardAPI');
  if (downward !== undefined) {
    checkMode(cx, downward, 'defaultMode', what);
    for (const item of partsIn(downward, 'items')) checkDownwardFile(cx, item, what);
  }
  const projected = partIn(volume, 'projected');
  if (projected !== undefined) checkProjected(cx, projected, what);
  const ephemeral = partIn(volume, 'ephemeral');
  const template = partIn(ephemeral, 'volumeClaimTemplate');
  if (ephemeral !== undefined && template === undefined && cx.lacks(ephemeral, 'volumeClaimTemplate')) {
    cx.missing(
      ephemeral,
      'volumeClaimTemplate',
      `The volumeClaimTemplate of ${what}`,
      'volume-source-invalid',
    );
  }
  const spec = partIn(template, 'spec');
  if (spec !== undefined) checkClaimSpec(cx, spec, `The claim of ${what}`);
}

/** A ConfigMap or a Secret as files. */
function checkItems(cx: Inspection, source: Part | undefined, nameKey: string, what: string): void {
  if (source === undefined) return;
  if (cx.lacksText(source, nameKey)) {
    cx.missing(source, nameKey, `The ${nameKey} of ${what}`, 'volume-source-invalid');
  }
  checkMode(cx, source, 'defaultMode', what);
  checkFiles(cx, source, what);
}

function checkFiles(cx: Inspection, source: Part, what: string): void {
  for (const item of partsIn(source, 'items')) {
    checkFilePath(cx, item, what);
    checkMode(cx, item, 'mode', what);
  }
}

function checkFilePath(cx: Inspection, item: Part, what: string): void {
  const path = textAt(item, 'path');
  if (path === undefined || path.text === '') return;
  const flaw = path.text.startsWith('/')
    ? 'is not a relative one'
    : path.text.split('/').includes('..')
      ? 'has ".." in it'
      : path.text.startsWith('..')
        ? 'starts with ".."'
        : undefined;
  if (flaw !== undefined)
    cx.add('volume-source-invalid', path.node, `The path ${shown(path.text)} of ${what} ${flaw}`);
}

/** Modes are octal where people write them, and numbers for the API server: 0644 is 420. */
function checkMode(cx: Inspection, part: Part, key: string, what: string): void {
  const mode = wholeAt(part, key);
  if (mode === undefined || (mode.value >= 0 && mode.value <= 0o777)) return;
  const octal = /^[0-7]{3}$/.test(mode.node.text) ? ` (as octal: 0${mode.node.text})` : '';
  cx.add(
    'volume-source-invalid',
    mode.node,
    `The ${key} ${mode.node.text} of ${what} is ${mode.value} in decimal, and 0 to 511 (0777) is allowed${octal}`,
    {
      fixes: [
        octal === '' || mode.node.style !== 'plain' || mode.node.borrowed
          ? undefined
          : {
              title: `Write 0${mode.node.text}`,
              safe: false,
              edits: [{ start: mode.node.start, end: mode.node.start, newText: '0' }],
            },
      ],
    },
  );
}

function checkHostPath(cx: Inspection, hostPath: Part | undefined, what: string): void {
  if (hostPath === undefined) return;
  const path = textAt(hostPath, 'path');
  if (path !== undefined && path.text.split('/').includes('..')) {
    cx.add('volume-source-invalid', path.node, `The path ${shown(path.text)} of ${what} has ".." in it`);
  }
}

function checkDownwardFile(cx: Inspection, item: Part, what: string): void {
  checkFilePath(cx, item, what);
  checkMode(cx, item, 'mode', what);
  const keys = ['fieldRef', 'resourceFieldRef'];
  const present = givenOf(item, keys);
  if (cx.isCertain && !item.map.open) {
    if (present.length === 0 && !hasMisspelt(item, keys))
      cx.add(
        'volume-source-invalid',
        item.place,
        `A file of ${what} has neither a fieldRef nor a resourceFieldRef`,
      );
    else if (present.length > 1)
      cx.add(
        'volume-source-invalid',
        present[1] ?? item.place,
        `A file of ${what} has both a fieldRef and a resourceFieldRef`,
      );
  }
  checkFieldReference(cx, partIn(item, 'fieldRef'), `A file of ${what}`, 'file');
  checkResourceReference(cx, partIn(item, 'resourceFieldRef'), `A file of ${what}`, 'volume-source-invalid');
}

const projections: readonly string[] = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
];

function checkProjected(cx: Inspection, projected: Part, what: string): void {
  checkMode(cx, projected, 'defaultMode', what);
  const paths: { readonly key: string; readonly at: Part['place'] }[] = [];
  const note = (item: Part): void => {
    const path = textAt(item, 'path');
    if (path !== undefined && path.text !== '') paths.push({ key: path.text, at: path.node });
  };
  for (const source of partsIn(projected, 'sources')) {
    const present = givenOf(source, projections);
    if (cx.isCertain && !source.map.open && present.length > 1) {
      cx.add(
        'volume-source-invalid',
        present[1] ?? source.place,
        `A source of ${what} has ${present.length} kinds, ${listWords(present.map(({ key }) => key.text))}, and takes one`,
      );
    }
    for (const key of ['configMap', 'secret']) {
      const part = partIn(source, key);
      if (part === undefined) continue;
      if (cx.lacksText(part, 'name'))
        cx.missing(part, 'name', `The name of a ${key} of ${what}`, 'volume-source-invalid');
      checkFiles(cx, part, what);
      partsIn(part, 'items').forEach(note);
    }
    const downward = partIn(source, 'downwardAPI');
    for (const item of partsIn(downward, 'items')) {
      checkDownwardFile(cx, item, what);
      note(item);
    }
    const token = partIn(source, 'serviceAccountToken');
    if (token !== undefined) {
      const seconds = wholeAt(token, 'expirationSeconds');
      if (seconds !== undefined) {
        if (seconds.value < 600)
          cx.add(
            'volume-source-invalid',
            seconds.node,
            `A token of ${what} lives ${seconds.value} s, and 600 is the least`,
          );
        else if (seconds.value > 2 ** 32)
          cx.add(
            'volume-source-invalid',
            seconds.node,
            `A token of ${what} lives ${seconds.value} s, and 4294967296 is the most`,
          );
      }
      checkFilePath(cx, token, what);
    }
  }
  cx.unique(
    paths,
    (path) => path,
    (key) => `Two files of ${what} have the path ${shown(key)}`,
  );
}
