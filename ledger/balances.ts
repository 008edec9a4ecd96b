import type { Sql } from "./database/connect.ts";
import { type Currency, type Network, type PairKey, pairKey } from "./money/pair.ts";
import { shape } from "./shape.ts";
import { amount, type RowOf, text, time } from "./table.ts";

const balanceShape = shape({
  currency: text<Currency>(),
  network: text<Network>(),
  available: amount(),
  pending: amount(),
  /** Time of its last change, Unix milliseconds. */
  updatedAt: time(),
});
/** A merchant's balance of one pair, as it is shown. */
export type BalanceView = RowOf<typeof balanceShape>;

/** The balance rows of one merchant, by pair. */
export type Balances = ReadonlyMap<PairKey, BalanceView>;

/** Reads all balance rows of the given merchants; a merchant without any is absent. */
export async function readBalances(
  sql: Sql,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, Balances>> {
  const rows = await sql`
    SELECT b.merchant_id, b.currency, b.network, b.available, b.pending, b.updated_at
    FROM book.balance b WHERE b.merchant_id = ANY (${[...merchantIds]}::text[])`;
  const found = new Map<string, Map<PairKey, BalanceView>>();
  for (const row of rows) {
    const balance = balanceShape.decode(row);
    const pairs = found.get(row.merchant_id) ?? new Map<PairKey, BalanceView>();
    found.set(row.merchant_id, pairs.set(pairKey(balance.currency, balance.network), balance));
  }
  return found;
}
