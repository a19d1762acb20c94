import { configKey } from '../../kube/names';
import { partIn, type Part } from '../../kube/part';
import { entryOf, isNull } from '../../yaml/node';
import { shown, type Inspection } from './inspection';

const rule = 'config-key-invalid';

/** Keys of a ConfigMap or a Secret. */
export function checkConfigMap(cx: Inspection, root: Part): void {
  for (const part of ['data', 'binaryData']) {
    for (const { key } of partIn(root, part)?.map.entries ?? []) {
      const flaw = key.unknown ? undefined : configKey.flaw(key.text);
      if (flaw !== undefined) cx.add(rule, key, `Key ${shown(key.text)} is not ${configKey.name}: ${flaw}`);
    }
  }
  const plain = partIn(root, 'data');
  for (const { key } of partIn(root, 'binaryData')?.map.entries ?? []) {
    if (cx.isCertain && !isNull(entryOf(plain?.map, key.text)?.value)) {
      cx.add(rule, key, `Key ${shown(key.text)} is in data too`);
    }
  }
}
