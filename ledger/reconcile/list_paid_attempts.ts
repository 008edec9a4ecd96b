import { type Amount, amountOf } from "../money/amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../money/pair.ts";

/** A transaction of ours that counts as paid. */
export interface PaidAttempt {
  readonly outgoingId: string;
  readonly txid: string;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly destination: string;
}

/** The newest transactions of a network that count as paid. */
export async function listPaidAttempts(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly PaidAttempt[]> {
  const rows = await sql<
    (Omit<PaidAttempt, "amount"> & { readonly amount: string })[]
  >`
    SELECT a.outgoing_id AS "outgoingId", a.txid, o.currency, trim_scale(o.amount)::text AS amount,
      o.destination
    FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    WHERE a.network = ${network} AND a.outcome = 'paid' AND o.kind IN ('payout', 'settlement')
    ORDER BY a.outgoing_id DESC LIMIT ${limit}`;
  return rows.map((row) => ({ ...row, amount: amountOf(row.amount) }));
}
