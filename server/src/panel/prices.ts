import type { NodeView } from '../live/cluster';
import type { NodePrice, PriceOf } from '../live/cost';
import { priceSource } from '../sizing/nodes/instances';
import { findInstanceType } from '../sizing/nodes/instances';

export interface PriceOptions {
  /** Spot price as a share of the on-demand price; without it a spot node costs at most its on-demand price. */
  readonly spotPriceFactor?: number;
}

export const pricesText = (): string => `${priceSource().basis}, of ${priceSource().date}`;

/** The list price of a node's instance type. */
export function nodePrices({ spotPriceFactor }: PriceOptions = {}): PriceOf {
  return (node: NodeView): NodePrice => {
    const { instanceType, capacityType } = node;
    if (instanceType === undefined) {
      return {
        kind: 'unknown',
        why: `node ${node.name} has no label of its instance type, so it has no price`,
      };
    }
    const price = findInstanceType(instanceType)?.onDemandPrice;
    if (price === undefined) return { kind: 'unknown', why: `no price is known for ${instanceType}` };
    if (capacityType !== 'spot') return { kind: 'exact', dollars: price, basis: `on demand, ${pricesText}` };
    return spotPriceFactor === undefined
      ? { kind: 'at-most', dollars: price, basis: `spot, at most the on-demand price (${pricesText})` }
      : {
          kind: 'exact',
          dollars: price * spotPriceFactor,
          basis: `spot at ${spotPriceFactor} of on demand by the settings (${pricesText})`,
        };
  };
}
