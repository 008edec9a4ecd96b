import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import { type Currency, type Network, type PairKey, pairKey } from "../money/pair.ts";
import {
  type AccountChange,
  accountChangeTable,
  type MerchantRow,
  merchantTable,
} from "../rows.ts";

/** A merchant's balance of one pair. */
export interface Balance {
  readonly available: Amount;
  readonly pending: Amount;
  readonly reserved: Amount;
}

/** A merchant's account as one snapshot. */
export interface AccountSnapshot extends Omit<AccountChange, "merchantId"> {
  readonly merchant: MerchantRow;
  readonly balances: ReadonlyMap<PairKey, Balance>;
}

/** A balance as one snapshot carries it. */
interface BalanceText {
  readonly c: Currency;
  readonly n: Network;
  readonly a: string;
  readonly p: string;
  readonly r: string;
}

/**
 * Reads accounts, profile and balances of the given merchants in one statement, so that version
 * and contents belong together.
 *
 * @returns one snapshot per merchant that exists
 */
export async function readAccounts(
  sql: Sql,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, AccountSnapshot>> {
  const rows = await sql<(Record<string, unknown> & { balances: readonly BalanceText[] })[]>`
    SELECT m.*, a.*,
      coalesce((SELECT json_agg(json_build_object('c', b.currency, 'n', b.network,
          'a', trim_scale(b.available)::text, 'p', trim_scale(b.pending)::text, 'r', trim_scale(b.reserved)::text))
        FROM book.balance b WHERE b.merchant_id = m.merchant_id), '[]') AS balances
    FROM book.merchant m JOIN book.account a USING (merchant_id)
    WHERE m.merchant_id = ANY (${[...merchantIds]}::text[])`;
  return new Map(rows.map((row) => {
    // a copy: what was put together column by column is slower to read, and this one is read for every payment
    const merchant = { ...merchantTable.decode(row) };
    const balances = new Map(row.balances.map(({ c, n, a, p, r }) => [
      pairKey(c, n),
      { available: amountOf(a), pending: amountOf(p), reserved: amountOf(r) },
    ]));
    return [merchant.merchantId, { ...accountChangeTable.decode(row), merchant, balances }];
  }));
}
