import type { Row } from "postgres";
import type { Network } from "../pair.ts";

/** A reseller: a merchant account of its own, and the one address its withdrawals may go to. */
export interface ResellerRecord {
  readonly id: string;
  readonly merchantId: string;
  readonly name: string;
  readonly withdrawalAddress: string;
  readonly network: Network;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Reads a row of hub.reseller. */
export function resellerRecord(row: Row): ResellerRecord {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    name: row.name,
    withdrawalAddress: row.withdrawal_address,
    network: row.network,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  };
}
