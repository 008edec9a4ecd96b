import { type Amount, amountOf } from "../money/amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../money/pair.ts";

/** What is owed in one currency on one network. */
export interface Owed {
  readonly currency: Currency;
  /** Available and reserved of all merchants, and margins that are held for them. */
  readonly amount: Amount;
  /** Part of it that is signed and on its way. */
  readonly inFlight: Amount;
}

/** What merchants are owed on a network; pending money is not owed yet. */
export async function readOwed(sql: Sql, network: Network): Promise<readonly Owed[]> {
  const rows = await sql<{ currency: Currency; amount: string; in_flight: string }[]>`
    SELECT currency, trim_scale(sum(amount))::text AS amount,
      trim_scale(coalesce((
        SELECT sum(o.amount) FROM book.outgoing o
        WHERE o.network = ${network} AND o.status = 'signed' AND o.currency = owed.currency
          AND o.kind IN ('payout', 'settlement')), 0))::text AS in_flight
    FROM (
      SELECT currency, available + reserved AS amount FROM book.balance WHERE network = ${network}
      UNION ALL
      SELECT currency, balance FROM book.system_total
      WHERE network = ${network} AND account IN ('margin_held', 'margin_due')) owed
    GROUP BY currency ORDER BY currency`;
  return rows.map((row) => ({
    currency: row.currency,
    amount: amountOf(row.amount),
    inFlight: amountOf(row.in_flight),
  }));
}
