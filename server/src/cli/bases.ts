import type { Bases } from '../engine/extends';
import { gatherBases } from '../engine/extends';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readText } from './disk';

/** Reads everything that configuration files extend. What cannot be read is a finding where it is named. */
export function readBases(configs: Iterable<readonly [string, string]>): Bases {
  const wanted = gatherBases(configs);
  let step = wanted.next();
  while (step.done !== true) {
    const path = fileURLToPath(step.value);
    const read = existsSync(path) ? readText(path) : undefined;
    step = wanted.next(read === undefined || 'problem' in read ? read : read.text);
  }
  return step.value;
}
