import { clusterSchemasAbove, overShipped, readClusterSchemas } from '../schema/cluster-schemas';
import { diskSchemas } from '../schema/disk-schemas';
import type { Host } from './host';
import { noSchemas, type Schemas } from '../structure/schemas';

/** Where schemas of kinds are. Plain data, so that another thread reads the same. */
export interface SchemaPlaces {
  /** Those that are shipped; absent: nothing is known of any kind. */
  readonly schemaFolder?: string | undefined;
  /** Those of a cluster, which hold over the shipped ones. */
  readonly clusterFolder?: string | undefined;
}

/** The shipped schemas, and those of a cluster that hold in the folder of a run. */
export function schemaPlaces({ schemaFolder, cwd }: Pick<Host, 'schemaFolder' | 'cwd'>): SchemaPlaces {
  return { schemaFolder, clusterFolder: schemaFolder === undefined ? undefined : clusterSchemasAbove(cwd) };
}

export function schemasIn({ schemaFolder, clusterFolder }: SchemaPlaces): Schemas {
  const shipped = schemaFolder === undefined ? noSchemas : diskSchemas(schemaFolder);
  const cluster = clusterFolder === undefined ? undefined : readClusterSchemas(clusterFolder);
  return cluster === undefined ? shipped : overShipped(shipped, () => cluster.schemas);
}
