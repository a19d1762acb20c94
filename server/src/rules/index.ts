// Written by `npm run gen`; do not edit.
import type { Rule } from './rule';
import requestAboveLimit from './resources/request-above-limit';

/** Every rule, sorted by id. */
export const rules: readonly Rule[] = [requestAboveLimit];

/** The folder of each rule, by id. */
export const ruleAreas: Readonly<Record<string, string>> = { 'request-above-limit': 'resources' };
