import type { Structure } from './shape';

/** Structures by kind. The same kind gives the same object for as long as what is known about it is the same. */
export interface Schemas {
  /** @param group empty for the core group. */
  of(group: string, version: string, kind: string): Structure | undefined;
  /** Custom kinds that are known beside those of the product: their objects are looked at, too. */
  readonly kinds?: ReadonlySet<string> | undefined;
}

export const noSchemas: Schemas = { of: () => undefined };
