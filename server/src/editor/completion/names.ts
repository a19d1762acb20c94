import { namesOf } from '../objects';
import { sitesOf } from '../reference-sites';
import type { SuggestionSource } from './suggestion';

/** Names of the objects that a field refers to, of the kinds that it can mean. Never what is in a ConfigMap or Secret. */
export const nameSuggestions: SuggestionSource = ({ workspace, cursor, unfinished, current }) => {
  if (cursor.kind !== 'value') return [];
  const site = sitesOf(unfinished).find(({ node }) => node === cursor.mark);
  if (site === undefined || site.kinds.length === 0) return [];
  return namesOf(workspace, current ?? unfinished, site.kinds).map((label) => ({
    label,
    kind: 'name',
    detail: site.kinds.join(' or '),
  }));
};
