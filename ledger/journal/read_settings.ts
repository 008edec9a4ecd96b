import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import { type FeeSettings, type NetworkFeeTerms, parseRate } from "../money/fees.ts";
import { type Currency, type Network, type PairKey, pairKey } from "../money/pair.ts";

/** Settings of one pair. */
export interface PairSettings extends NetworkFeeTerms {
  readonly currency: Currency;
  readonly network: Network;
  readonly depositsEnabled: boolean;
  readonly withdrawalsEnabled: boolean;
  readonly minWithdrawal: Amount;
}

/** Everything that is set for all merchants, as of one epoch. */
export interface Settings {
  /** Names this state of the settings, and no other one ever. */
  readonly epoch: string;
  readonly fees: FeeSettings;
  /** Settlements of this amount and more wait for an administrator. */
  readonly settlementThresholds: ReadonlyMap<Currency, Amount>;
  readonly pairs: ReadonlyMap<PairKey, PairSettings>;
}

/** Reads the global settings with their epoch, as one snapshot. */
export async function readSettings(sql: Sql): Promise<Settings> {
  const rows = await sql<{
    epoch: string;
    fees_enabled: boolean;
    base_fee: string;
    markup_rate: string;
    threshold: string;
    currency: Currency;
    network: Network;
    deposits_enabled: boolean;
    withdrawals_enabled: boolean;
    min_withdrawal: string;
    network_fee: string;
    network_fee_mode: PairSettings["networkFeeMode"];
  }[]>`
    SELECT s.epoch, s.fees_enabled, trim_scale(s.base_fee)::text AS base_fee,
      trim_scale(s.markup_rate)::text AS markup_rate,
      trim_scale(t.amount)::text AS threshold, p.currency, p.network, p.deposits_enabled,
      p.withdrawals_enabled, trim_scale(p.min_withdrawal)::text AS min_withdrawal,
      trim_scale(p.network_fee)::text AS network_fee, p.network_fee_mode
    FROM book.setting s CROSS JOIN book.pair p
    JOIN book.settlement_threshold t ON t.currency = p.currency`;
  const first = rows[0];
  if (first === undefined) throw new Error("Cannot read settings as there are none: book.setting");
  const markupRate = parseRate(first.markup_rate);
  if (markupRate === null) {
    throw new Error(`Cannot read settings as the markup is no rate: ${first.markup_rate}`);
  }
  return {
    epoch: first.epoch,
    fees: { enabled: first.fees_enabled, baseFee: amountOf(first.base_fee), markupRate },
    settlementThresholds: new Map(rows.map((row) => [row.currency, amountOf(row.threshold)])),
    pairs: new Map(rows.map((row) => [pairKey(row.currency, row.network), {
      currency: row.currency,
      network: row.network,
      depositsEnabled: row.deposits_enabled,
      withdrawalsEnabled: row.withdrawals_enabled,
      minWithdrawal: amountOf(row.min_withdrawal),
      networkFee: amountOf(row.network_fee),
      networkFeeMode: row.network_fee_mode,
    }])),
  };
}
