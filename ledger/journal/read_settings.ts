import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { FeeSettings } from "../money/fees.ts";
import { type Currency, type PairKey, pairKey } from "../money/pair.ts";
import { type PairSettings, pairShape } from "../pairs.ts";
import { feeShape } from "../platform_settings.ts";

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
  const rows = await sql`
    SELECT s.epoch, s.fees_enabled AS enabled, s.base_fee, s.markup_rate,
      trim_scale(t.amount)::text AS threshold, p.*
    FROM book.setting s CROSS JOIN book.pair p
    JOIN book.settlement_threshold t ON t.currency = p.currency`;
  const first = rows[0];
  if (first === undefined) throw new Error("Cannot read settings as there are none: book.setting");
  return {
    epoch: first.epoch,
    fees: feeShape.decode(first),
    settlementThresholds: new Map(rows.map((row) => [row.currency, amountOf(row.threshold)])),
    pairs: new Map(
      rows.map((row) => [pairKey(row.currency, row.network), pairShape.decode(row)]),
    ),
  };
}
