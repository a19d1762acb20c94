/** Milliseconds since any one origin; every time given to the algorithm has the same one. */
export type Instant = number;

/** The flags and gates of kube-controller-manager that the algorithm depends on. */
export interface ControllerOptions {
  /** `--horizontal-pod-autoscaler-sync-period`, milliseconds. Only a simulator needs it: `step` is told the time. */
  readonly syncPeriod: number;
  /** `--horizontal-pod-autoscaler-tolerance`. */
  readonly tolerance: number;
  /** `--horizontal-pod-autoscaler-downscale-stabilization`, milliseconds. */
  readonly downscaleStabilization: number;
  /** `--horizontal-pod-autoscaler-cpu-initialization-period`, milliseconds. */
  readonly cpuInitializationPeriod: number;
  /** `--horizontal-pod-autoscaler-initial-readiness-delay`, milliseconds. */
  readonly initialReadinessDelay: number;
  /** Gate `HPAConfigurableTolerance`: `behavior.scaleUp.tolerance` counts. Beta and on since Kubernetes 1.35. */
  readonly configurableTolerance: boolean;
  /**
   * Gate `HPAScaleToZero` as the controller of 1.36 and later reads it: an HPA wakes a target from zero only if
   * the condition `ScaledToZero` says that it was the HPA itself that scaled to zero. On by default since 1.37.
   */
  readonly scaleToZero: boolean;
}

/**
 * The defaults of Kubernetes 1.36 (kube-controller-manager flags), which is also what EKS runs: its control plane
 * offers no way to change them.
 */
export const defaultController: ControllerOptions = {
  syncPeriod: 15_000,
  tolerance: 0.1,
  downscaleStabilization: 300_000,
  cpuInitializationPeriod: 300_000,
  initialReadinessDelay: 30_000,
  configurableTolerance: true,
  scaleToZero: false,
};
