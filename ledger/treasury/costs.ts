import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import type { OutgoingRow } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, bigint, integer, orNull, type RowOf, text, time } from "../table.ts";

/** Attempts counted in one go. */
const LIMIT = 500;
/** After so long without a rate a cost is counted in the coin alone. */
const UNPRICED_AFTER = "15 minutes";
/** Decimals of costs in a currency. */
const DECIMALS = 6;

/**
 * Counts the cost of own transactions on the chain, once each: prices the fee at the rate of now and
 * adds it to the sums of its day, beside the network fee that a merchant paid for it (a payout that
 * failed was refunded, with its fee). One statement, so a death in between counts nothing.
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

/** Coin that own transactions have burned as fees today, by the database's day (UTC), of those that are counted. */
export async function readFeesToday(sql: Sql, network: Network): Promise<Amount> {
  const [row] = await sql<{ coin: string }[]>`
    SELECT coalesce(sum(coin), 0)::text AS coin FROM book.network_cost
    WHERE network = ${network} AND day = (now() AT TIME ZONE 'UTC')::date`;
  if (row === undefined) throw new Error("Cannot read today's fees as the answer has no row");
  return amountOf(row.coin);
}

const costLine = shape({
  outgoingId: text(),
  /** Number of its attempt. */
  attempt: integer(),
  merchantId: text(),
  paymentId: orNull(text()),
  kind: text<OutgoingRow["kind"]>(),
  network: text<Network>(),
  currency: text<OutgoingAsset>(),
  amount: amount(),
  txid: text(),
  outcome: text<"paid" | "failed" | "unexpected">(),
  /** The network fee its merchant paid; null for internal transfers. */
  charged: orNull(amount()),
  /** Cost on the chain, in its own coin. */
  coin: amount(),
  /** Units of the currency per coin when it was counted; null: none was known. */
  rate: orNull(text()),
  /** Unix milliseconds. */
  countedAt: time(),
});
/** One own transaction with its cost on the chain. */
export type CostLine = RowOf<typeof costLine>;

/**
 * The newest transactions whose cost is counted.
 *
 * @param before only those of transfers older than this outgoing id; null: from the newest
 */
export async function listCosts(
  sql: Sql,
  networks: readonly Network[],
  before: string | null,
  limit: number,
): Promise<readonly CostLine[]> {
  return costLine.all(
    await sql`
    SELECT a.outgoing_id, a.number AS attempt, a.merchant_id, o.payment_id, o.kind, a.network, o.currency, o.amount,
      a.txid, a.outcome, a.costed_at AS counted_at, a.fee AS coin, trim_scale(a.coin_rate)::text AS rate,
      CASE WHEN o.payment_id IS NULL THEN NULL WHEN a.outcome = 'paid' THEN w.network_fee ELSE 0 END AS charged
    FROM unnest(${[...networks]}::text[]) AS n(network)
    CROSS JOIN LATERAL (
      SELECT * FROM book.attempt x
      WHERE x.network = n.network AND x.costed_at IS NOT NULL
        AND (${before}::text IS NULL OR x.outgoing_id < ${before})
      ORDER BY x.outgoing_id DESC LIMIT ${limit}) a
    JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    LEFT JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
    ORDER BY a.outgoing_id DESC, a.number DESC LIMIT ${limit}`,
  );
}

const costSum = shape({
  kind: text<OutgoingRow["kind"]>(),
  currency: text<OutgoingAsset>(),
  transfers: bigint(),
  /** Those of them that were included and failed. */
  failed: bigint(),
  /** Network fees that merchants paid, in the currency. */
  charged: amount(),
  /** In the chain's own coin. */
  coin: amount(),
  /** The same in the currency (a stablecoin where the coin itself was moved), at the rates of the time. */
  cost: amount(),
  /** Transfers that `cost` lacks, because no rate was known. */
  unpriced: bigint(),
});
/** Costs of one kind of own transactions on the chain, beside the fees that merchants paid for it. */
export type CostSum = RowOf<typeof costSum>;

/**
 * Sums of costs by kind and asset.
 *
 * @param days only those counted in so many last days (UTC, today included); null: all
 */
export async function sumCosts(
  sql: Sql,
  network: Network,
  days: number | null,
): Promise<readonly CostSum[]> {
  return costSum.all(
    await sql`
    SELECT kind, currency, sum(transfers) AS transfers, sum(failed) AS failed, sum(charged) AS charged,
      sum(coin) AS coin, sum(cost) AS cost, sum(unpriced) AS unpriced
    FROM book.network_cost
    WHERE network = ${network}
      AND (${days}::int IS NULL OR day > (now() AT TIME ZONE 'UTC')::date - ${days}::int)
    GROUP BY kind, currency ORDER BY kind, currency`,
  );
}
