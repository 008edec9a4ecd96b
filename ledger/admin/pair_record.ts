import type { Row } from "postgres";
import { type Amount, amountOf } from "../amount.ts";
import type { Currency, Network } from "../pair.ts";

/** Settings of a pair as administrators see them. */
export interface PairRecord {
  readonly currency: Currency;
  readonly network: Network;
  readonly depositsEnabled: boolean;
  readonly withdrawalsEnabled: boolean;
  readonly minWithdrawal: Amount;
  readonly networkFee: Amount;
  readonly networkFeeMode: "fixed" | "dynamic";
}

/** Reads a row of book.pair. */
export function pairRecord(row: Row): PairRecord {
  return {
    currency: row.currency,
    network: row.network,
    depositsEnabled: row.deposits_enabled,
    withdrawalsEnabled: row.withdrawals_enabled,
    minWithdrawal: amountOf(row.min_withdrawal),
    networkFee: amountOf(row.network_fee),
    networkFeeMode: row.network_fee_mode,
  };
}
