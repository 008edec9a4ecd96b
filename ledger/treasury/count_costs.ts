import type { Sql } from "postgres";
import type { Network, OutgoingAsset } from "../money/pair.ts";

/** Attempts counted in one go. */
const LIMIT = 500;
/** After so long without a rate a cost is counted in the coin alone. */
const UNPRICED_AFTER = "15 minutes";
/** Decimals of costs in a currency. */
const DECIMALS = 6;

/**
 * Counts what the chain took for our transactions, once each: prices the fee at the rate of now and
 * adds it to the sums of its day, beside the network fee that a merchant paid for it (a payout that
 * failed was refunded, so nobody paid for that). One statement, so a death in between counts nothing.
 *
 * @param rates units of the currency per coin, by what was moved; null: none known, it waits a while
 * @returns how many were counted
 */
export async function countCosts(
  sql: Sql,
  network: Network,
  rates: ReadonlyMap<OutgoingAsset, string | null>,
): Promise<number> {
  const [row] = await sql<{ counted: number }[]>`
    WITH rate AS (
      SELECT * FROM unnest(${[...rates.keys()]}::text[], ${[...rates.values()]}::numeric[])
        AS r(currency, rate)
    ), due AS (
      SELECT a.outgoing_id, a.number, a.merchant_id, a.fee, a.outcome, o.kind, o.currency, r.rate,
        CASE WHEN a.outcome = 'paid' THEN coalesce(w.network_fee, 0) ELSE 0 END AS charged
      FROM book.attempt a
      JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
      LEFT JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
      LEFT JOIN rate r ON r.currency = o.currency
      WHERE a.network = ${network} AND a.fee IS NOT NULL AND a.costed_at IS NULL
        AND (r.rate IS NOT NULL OR o.updated_at < now() - ${UNPRICED_AFTER}::text::interval)
      ORDER BY a.outgoing_id LIMIT ${LIMIT} FOR UPDATE OF a SKIP LOCKED
    ), counted AS (
      UPDATE book.attempt a SET costed_at = now(), coin_rate = d.rate
      FROM due d
      WHERE a.outgoing_id = d.outgoing_id AND a.number = d.number AND a.merchant_id = d.merchant_id
      RETURNING 1
    ), summed AS (
      INSERT INTO book.network_cost AS c
        (network, currency, kind, day, transfers, failed, charged, coin, cost, unpriced)
      SELECT ${network}, currency, kind, (now() AT TIME ZONE 'UTC')::date, count(*),
        count(*) FILTER (WHERE outcome = 'failed'), sum(charged), sum(fee),
        coalesce(sum(round(fee * rate, ${DECIMALS}::int)), 0), count(*) FILTER (WHERE rate IS NULL)
      FROM due GROUP BY currency, kind ORDER BY currency, kind
      ON CONFLICT (network, currency, kind, day) DO UPDATE SET
        transfers = c.transfers + excluded.transfers, failed = c.failed + excluded.failed,
        charged = c.charged + excluded.charged, coin = c.coin + excluded.coin,
        cost = c.cost + excluded.cost, unpriced = c.unpriced + excluded.unpriced
    )
    SELECT count(*)::int AS counted FROM counted`;
  return row?.counted ?? 0;
}
