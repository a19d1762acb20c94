import type { Duration, Instant, Observed, Provenance, Unit } from './reading';
import type { MetricId } from './vocabulary';

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

export type DeviceKind = 'gpu' | 'neuron-core' | 'efa';

/** What a number is about. */
export type Subject =
  /** The workload of the {@link Want} as a whole. */
  | { readonly kind: 'workload' }
  | { readonly kind: 'pod'; readonly pod: PodName; readonly container?: string }
  | {
      readonly kind: 'device';
      readonly device: DeviceKind;
      /** Name of the Node object; as the exporter calls its host where nothing tells the node. */
      readonly node: string;
      /** Unique on the node: the GPU's UUID, else its index. */
      readonly id: string;
      /** `0`, `1`, ... as `nvidia-smi` counts, where known. */
      readonly index?: string;
      /** `NVIDIA L4`. */
      readonly model?: string;
      /** Who uses the device, as far as labels tell. Absent: unattributed, which is not the same as unused. */
      readonly pod?: PodName;
      readonly container?: string;
    }
  | { readonly kind: 'node'; readonly node: string }
  | { readonly kind: 'namespace'; readonly namespace: string }
  | { readonly kind: 'cluster' };

/** What a metric is for a subject now. */
export interface Measurement {
  readonly metric: MetricId;
  readonly subject: Subject;
  /** Splits a metric where the vocabulary says so (`reason`, `metric`), and carries `model_name` where there are several. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly observed: Observed;
}

/**
 * A metric over time. Columns of the same length: a point's time and its value; null is a gap, which charts do not
 * join.
 */
export interface Series {
  readonly metric: MetricId;
  readonly subject: Subject;
  readonly labels?: Readonly<Record<string, string>>;
  readonly unit: Unit;
  /** Ascending. */
  readonly at: readonly Instant[];
  readonly values: readonly (number | null)[];
  /** Distance of two points without a gap. */
  readonly step: Duration;
  readonly source: Provenance;
}
