import { configKey } from '../../kube/names';
import { partIn, textOf, type Part } from '../../kube/part';
import { entryOf, isNull } from '../../yaml/node';
import { shown, type Inspection } from './inspection';

const rule = 'config-key-invalid';

/** Keys of a ConfigMap or a Secret, and its data in base64. */
export function checkConfigMap(cx: Inspection, root: Part): void {
  const binary = cx.resource.kind === 'Secret' ? 'data' : 'binaryData';
  for (const part of ['data', 'binaryData']) {
    for (const { key } of partIn(root, part)?.map.entries ?? []) {
      const flaw = key.unknown ? undefined : configKey.flaw(key.text);
      if (flaw !== undefined) cx.add(rule, key, `Key ${shown(key.text)} is not ${configKey.name}: ${flaw}`);
    }
  }
  const plain = partIn(root, 'data');
  for (const { key, value } of partIn(root, binary)?.map.entries ?? []) {
    const text = textOf(value);
    if (text !== undefined && !isBase64(text.text)) {
      cx.add(rule, value, `The value of ${shown(key.text)} in ${binary} is not base64`);
    }
    if (binary === 'binaryData' && cx.isCertain && !isNull(entryOf(plain?.map, key.text)?.value)) {
      cx.add(rule, key, `Key ${shown(key.text)} is in data too`);
    }
  }
}

/** As Go's standard encoding reads it, which skips line breaks. */
function isBase64(text: string): boolean {
  const digits = text.replace(/[\r\n]/g, '');
  return digits.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
}
