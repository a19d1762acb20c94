import { diskSchemas } from '../schema/disk-schemas';
import { noSchemas, type Schemas } from '../structure/schemas';

/** The schemas of a folder; without one, nothing is known of any kind. */
export function schemasIn(folder: string | undefined): Schemas {
  return folder === undefined ? noSchemas : diskSchemas(folder);
}
