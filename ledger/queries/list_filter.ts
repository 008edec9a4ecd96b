import type { Currency, Network } from "../pair.ts";

/** Lists that are numbered by the merchant's own counters. */
export type ListName = "deposit" | "withdrawal" | "transaction" | "settlement" | "charge";

/** Which rows are wanted; an absent or undefined field does not restrict. */
export interface ListFilter {
  readonly status?: string | undefined;
  readonly currency?: Currency | undefined;
  readonly network?: Network | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Older than, Unix milliseconds. */
  readonly until?: number | undefined;
  /** Only transactions and charges have it. */
  readonly type?: string | undefined;
  /** Exact match. */
  readonly referenceId?: string | undefined;
}
