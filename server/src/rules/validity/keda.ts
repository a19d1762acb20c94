import { partIn, partsIn, textAt, wholeAt, type Part } from '../../kube/part';
import { byText, shown, type Inspection } from './inspection';

/** Lists of a pod template that are maps by a key in the CRD of a ScaledJob. */
export function checkScaledJob(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec', 'jobTargetRef', 'template', 'spec');
  if (spec === undefined) return;
  const containers = [partsIn(spec, 'containers'), partsIn(spec, 'initContainers')];
  for (const list of [...containers, partsIn(spec, 'volumes')]) {
    cx.unique(
      list,
      (item) => byText(textAt(item, 'name')),
      (key) => `The name ${shown(key)} stands twice`,
    );
  }
  for (const container of containers.flat()) {
    cx.unique(
      partsIn(container, 'ports'),
      (port) => {
        const number = wholeAt(port, 'containerPort');
        const protocol = textAt(port, 'protocol')?.text ?? 'TCP';
        return number === undefined ? undefined : { key: `${number.value}/${protocol}`, at: number.node };
      },
      (key) => `The port ${key} stands twice`,
    );
    for (const [list, key] of [
      ['env', 'name'],
      ['volumeMounts', 'mountPath'],
      ['volumeDevices', 'devicePath'],
    ] as const) {
      cx.unique(
        partsIn(container, list),
        (item) => byText(textAt(item, key)),
        (value) => `The ${key} ${shown(value)} stands twice in ${list}`,
      );
    }
  }
}
