import type { Sql } from "postgres";
import { type Amount, amountOf } from "../amount.ts";
import type { Currency, Network } from "../pair.ts";
import { LOST_ACCOUNT } from "./lost_account.ts";

/** A final payment to an address that nobody is known for. */
export interface LostPayment {
  readonly network: Network;
  readonly txid: string;
  readonly logIndex: number;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly from: string;
  readonly to: string;
  readonly height: number;
}

/** Payments to lost addresses that wait for an operator, oldest first. */
export async function listLostPayments(sql: Sql, limit: number): Promise<readonly LostPayment[]> {
  const rows = await sql<(Omit<LostPayment, "amount"> & { amount: string })[]>`
    SELECT network, txid, log_index AS "logIndex", data ->> 'currency' AS currency,
      data ->> 'amount' AS amount, data ->> 'from' AS "from", data ->> 'to' AS "to",
      (data ->> 'height')::int AS height
    FROM book.inbox
    WHERE merchant_id = ${LOST_ACCOUNT} AND phase = 'solid' AND consumed_at IS NULL
    ORDER BY created_at LIMIT ${limit}`;
  return rows.map((row) => ({ ...row, amount: amountOf(row.amount) }));
}

/**
 * Takes the payments of a transaction off the list, once a confirmed deposit of a merchant names
 * that transaction.
 *
 * @returns how many; 0 when none waits or no such deposit is confirmed
 */
export async function closeLostPayments(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<number> {
  const { count } = await sql`
    UPDATE book.inbox i SET consumed_at = now()
    WHERE i.merchant_id = ${LOST_ACCOUNT} AND i.network = ${network} AND i.txid = ${txid}
      AND i.consumed_at IS NULL AND EXISTS (
        SELECT FROM book.deposit d
        WHERE d.network = i.network AND d.txid = i.txid AND d.status = 'CONFIRMED')`;
  return count;
}
