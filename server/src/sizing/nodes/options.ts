import type { OfferOptions } from './offer';
import type { PodSpec } from './pod';
import type { WorldOptions } from './world';

/** What is known beside the manifests. Every default is the cautious one for a cluster that nobody sees. */
export interface FitOptions extends WorldOptions, OfferOptions {
  /** The zones of the cluster; absent: any zone may be one. */
  readonly zones?: readonly string[];
  /** Spot price as a fraction of the on-demand price; absent: spot prices are not known. */
  readonly spotPriceFactor?: number;
  /** Pods that run on every node that they match, and take room there. */
  readonly daemonSets?: readonly PodSpec[];
  /**
   * True (the default, since EKS runs that admission plugin): pods tolerate the taints named as the extended
   * resources that they ask for.
   */
  readonly extendedResourceToleration?: boolean;
  /** How many types Karpenter hands to the cloud provider, cheapest first; 600 in Karpenter v1.14. */
  readonly maxInstanceTypes?: number;
  /** Karpenter's `MIN_VALUES_POLICY`; `Strict` is its default. */
  readonly minValuesPolicy?: 'Strict' | 'BestEffort';
  /** Resources that NodeOverlays or device plugins may add to nodes of any type. */
  readonly overlayResources?: readonly string[];
}
