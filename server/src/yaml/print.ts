import { stringify } from 'yaml';

/** Plain data as YAML, for reading: what a cluster holds, not a file of anybody's. */
export function printYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
