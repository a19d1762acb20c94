import { pathToFileURL } from 'node:url';
import { configurationOf, type Config } from '../engine/config';
import { readBases } from './bases';
import { configsAbove } from './collect';
import { readText } from './disk';

/**
 * The configuration that applies to a file: the nearest one of those in or above some folders. What is wrong with one is
 * told by `plimsoll lint`; here it says nothing.
 */
export function configurations(
  folders: readonly string[],
  within: readonly string[] = [],
): (uri: string) => Config {
  const texts = new Map<string, string>();
  for (const path of new Set([...within, ...configsAbove(folders)])) {
    const read = readText(path);
    if ('text' in read) texts.set(pathToFileURL(path).href, read.text);
  }
  const { configFor } = configurationOf(texts, {}, readBases(texts));
  return configFor;
}
