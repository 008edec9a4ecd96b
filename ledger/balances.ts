import { type Amount, amountOf } from "./money/amount.ts";
import type { Sql } from "./database/connect.ts";
import { type Currency, type Network, type PairKey, pairKey } from "./money/pair.ts";

/** What one pair of a merchant holds, as it is shown. */
export interface BalanceView {
  readonly currency: Currency;
  readonly network: Network;
  readonly available: Amount;
  readonly pending: Amount;
  /** When it last changed, Unix milliseconds. */
  readonly updatedAt: number;
}

/** The balance rows of one merchant, by pair. */
export type Balances = ReadonlyMap<PairKey, BalanceView>;

/** Reads all balance rows of the given merchants; a merchant without any is absent. */
export async function readBalances(
  sql: Sql,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, Balances>> {
  const rows = await sql<{
    merchant_id: string;
    currency: Currency;
    network: Network;
    available: string;
    pending: string;
    updated_at: Date;
  }[]>`
    SELECT b.merchant_id, b.currency, b.network, trim_scale(b.available)::text AS available,
      trim_scale(b.pending)::text AS pending, b.updated_at
    FROM book.balance b WHERE b.merchant_id = ANY (${[...merchantIds]}::text[])`;
  const found = new Map<string, Map<PairKey, BalanceView>>();
  for (const row of rows) {
    let pairs = found.get(row.merchant_id);
    if (pairs === undefined) found.set(row.merchant_id, pairs = new Map());
    pairs.set(pairKey(row.currency, row.network), {
      currency: row.currency,
      network: row.network,
      available: amountOf(row.available),
      pending: amountOf(row.pending),
      updatedAt: row.updated_at.getTime(),
    });
  }
  return found;
}
