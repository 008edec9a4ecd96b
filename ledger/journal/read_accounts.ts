import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import { type Currency, type Network, type PairKey, pairKey } from "../money/pair.ts";
import { type MerchantRow, merchantTable } from "../rows.ts";

/** A merchant's balance of one pair. */
export interface Balance {
  readonly available: Amount;
  readonly pending: Amount;
  readonly reserved: Amount;
}

/** A merchant's account as one snapshot. */
export interface AccountSnapshot {
  readonly merchant: MerchantRow;
  readonly version: number;
  /** The last commit that changed it: unlike the version, never reached again by another history. */
  readonly lastCommit: string;
  readonly depositSeq: number;
  readonly withdrawalSeq: number;
  readonly transactionSeq: number;
  readonly chargeSeq: number;
  readonly settlementSeq: number;
  readonly lastAt: number;
  readonly balances: ReadonlyMap<PairKey, Balance>;
}

interface AccountColumns extends Record<string, unknown> {
  readonly version: string;
  readonly last_commit: string;
  readonly deposit_seq: string;
  readonly withdrawal_seq: string;
  readonly transaction_seq: string;
  readonly charge_seq: string;
  readonly settlement_seq: string;
  readonly last_at: Date;
  readonly balances: readonly {
    readonly c: Currency;
    readonly n: Network;
    readonly a: string;
    readonly p: string;
    readonly r: string;
  }[];
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
  const rows = await sql<AccountColumns[]>`
    SELECT m.*, a.version, a.last_commit, a.deposit_seq, a.withdrawal_seq, a.transaction_seq, a.charge_seq, a.settlement_seq, a.last_at,
      coalesce((SELECT json_agg(json_build_object('c', b.currency, 'n', b.network,
          'a', trim_scale(b.available)::text, 'p', trim_scale(b.pending)::text, 'r', trim_scale(b.reserved)::text))
        FROM book.balance b WHERE b.merchant_id = m.merchant_id), '[]') AS balances
    FROM book.merchant m JOIN book.account a USING (merchant_id)
    WHERE m.merchant_id = ANY (${[...merchantIds]}::text[])`;
  return new Map(rows.map((row) => {
    const merchant = merchantTable.decode(row);
    return [merchant.merchantId, {
      merchant,
      version: Number(row.version),
      lastCommit: row.last_commit,
      depositSeq: Number(row.deposit_seq),
      withdrawalSeq: Number(row.withdrawal_seq),
      transactionSeq: Number(row.transaction_seq),
      chargeSeq: Number(row.charge_seq),
      settlementSeq: Number(row.settlement_seq),
      lastAt: row.last_at.getTime(),
      balances: new Map(row.balances.map((balance) => [
        pairKey(balance.c, balance.n),
        {
          available: amountOf(balance.a),
          pending: amountOf(balance.p),
          reserved: amountOf(balance.r),
        },
      ])),
    }];
  }));
}
