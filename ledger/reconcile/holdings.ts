import type { Sql } from "../database/connect.ts";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";

/** An own transaction that counts as paid. */
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

/** Expected balance of a deposit address. */
export interface AddressHolding {
  readonly address: string;
  readonly currency: Currency;
  readonly amount: Amount;
}

/**
 * What deposit addresses should hold after a block, by our own scan: everything that was final until
 * then and paid to them, whether credited or quarantined, without what was swept from them or written
 * off. Addresses that nobody ever paid to are not among them.
 *
 * @param height of a solid block that the scan has passed
 */
export async function readAddressHoldings(
  sql: Sql,
  network: Network,
  height: number,
): Promise<readonly AddressHolding[]> {
  const rows = await sql<{ address: string; currency: Currency; amount: string }[]>`
    SELECT address, currency, trim_scale(sum(amount))::text AS amount FROM (
      SELECT address, currency, amount FROM (
        -- the same transfer may have been told to one account first and to its owner later
        SELECT DISTINCT ON (i.txid, i.log_index) i.data ->> 'to' AS address, i.data ->> 'currency' AS currency,
          (i.data ->> 'amount')::numeric AS amount
        FROM book.inbox i
        WHERE i.network = ${network} AND i.phase = 'solid' AND (i.data ->> 'height')::bigint <= ${height}
        ORDER BY i.txid, i.log_index) came
      UNION ALL
      SELECT h.address, o.currency, -CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.taken END
      FROM book.outgoing o
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id AND a.outcome = 'unexpected'
      JOIN hub.address h ON h.network = o.network AND h.wallet_index::text = o.wallet
      WHERE o.network = ${network} AND o.wallet <> 'hot' AND o.status = 'final' AND a.height <= ${height}
        AND (a.outcome = 'paid' OR v.taken > 0)
      UNION ALL
      SELECT w.address, w.currency, -w.unexplained FROM book.sweep_write_off w
      WHERE w.network = ${network} AND w.height <= ${height}) moved
    GROUP BY 1, 2 ORDER BY 1, 2`;
  return rows.map((row) => ({ ...row, amount: amountOf(row.amount) }));
}

/** Amount owed in one currency on one network. */
export interface Owed {
  readonly currency: Currency;
  /** Available and reserved of all merchants, and margins that are held for them. */
  readonly amount: Amount;
  /** Part of it that is signed and on its way. */
  readonly inFlight: Amount;
}

/** Amounts owed to merchants on a network; pending money is not owed yet. */
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
