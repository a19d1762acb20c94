import type { Milli } from './milli';
import type { Sample } from './pods';

/** What the metrics APIs answered for one metric in one sync. */
export type MetricReading =
  /** Resource, ContainerResource, Pods: by pod name; a pod without a sample is not in it. */
  | { readonly kind: 'pods'; readonly samples: ReadonlyMap<string, Sample> }
  /** External: one number per series. */
  | { readonly kind: 'series'; readonly values: readonly Milli[] }
  /** Object. */
  | { readonly kind: 'object'; readonly value: Milli }
  /** The API answered with an error, or could not be reached. */
  | { readonly kind: 'error'; readonly message: string };
