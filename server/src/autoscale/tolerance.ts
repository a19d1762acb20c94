import type { ControllerOptions } from './controller';
import type { HpaSpec } from './spec';

/** How far the ratio of a metric to its target may be from 1 before anything is scaled; 0.1 = 10 %. */
export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

/** The controller's flag, or what `behavior` says where the gate HPAConfigurableTolerance is on. */
export function tolerancesOf(spec: HpaSpec, controller: ControllerOptions): Tolerances {
  const behavior = controller.configurableTolerance ? spec.behavior : undefined;
  return {
    up: behavior?.scaleUp.tolerance ?? controller.tolerance,
    down: behavior?.scaleDown.tolerance ?? controller.tolerance,
  };
}

/** Both bounds belong to the range. Plain doubles in this very form, since 1 - 0.1 is not 0.9 exactly. */
export function isWithin(ratio: number, tolerances: Tolerances): boolean {
  return 1.0 - tolerances.down <= ratio && ratio <= 1.0 + tolerances.up;
}
