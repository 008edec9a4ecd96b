import type { Fragment, Sql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { shape } from "../shape.ts";
import { bigint, boolean, integer, orNull, type RowOf, text } from "../table.ts";

/** Reasons why an address with something to sweep is not swept, as programs read them. */
export const SWEEP_REASONS = [
  /** A sweep of it waits for its signature or for its block. */
  "in_flight",
  /** Coin for it, or a delegation to it, is on its way. */
  "waiting_gas",
  /** The same, and the chain does not know the address before that. */
  "address_not_activated",
  /** The transaction is on its way that the hot wallet has to send once before it can send sweeps. */
  "waiting_setup",
  /** A delegation to it is being taken back. */
  "reclaiming",
  /** No node answers what it holds, or what its sweep would cost. */
  "chain_unavailable",
  /** Sweeping costs more than it is worth. */
  "below_economics",
  /** The worth of the chain's coin is not known, so not whether it pays. */
  "no_rate",
  /** The chain asks for more than a transaction may cost. */
  "above_cap",
  /** Sweeps of the network are switched off. */
  "paused",
  /** The network has no contract of the currency configured. */
  "unsupported",
  /** Money that should be there is not in solid blocks (yet); later money is swept all the same. */
  "balance_differs",
  /** The node says that the transfer would fail. */
  "would_fail",
  /** It failed, and is tried again after a while. */
  "failed",
  /** A sweep succeeded without the transfer that was intended: for an administrator. */
  "unexpected",
  /** Its merchant has not booked what was carried (its pair takes no deposits now, say). */
  "deposit_held",
] as const;
/** One of {@linkcode SWEEP_REASONS}. */
export type SweepReason = (typeof SWEEP_REASONS)[number];

const addressShape = shape({
  network: text<Network>(),
  address: text(),
  currency: text<Currency>(),
  /** Derivation index of the address. */
  walletIndex: integer(),
  /** True where it is a merchant's own top-up address. */
  isTopUp: boolean(),
  /** Reason why it was not swept at the last poll; null: it was never polled. */
  reason: orNull(text<SweepReason>()),
  /** Counts what happened to it; a plan holds only while it is the same. */
  touched: bigint(),
});
/** An address with something to sweep in one currency. */
export type SweepAddress = RowOf<typeof addressShape>;

/** Condition on `book.sweep_address`: the row of an address. */
export function isAddress(
  sql: AnySql,
  { network, address, currency }: Pick<SweepAddress, "network" | "address" | "currency">,
): Fragment {
  return sql`network = ${network} AND address = ${address} AND currency = ${currency}`;
}

/** Condition on `book.sweep_address`: the row of an address to which nothing has happened since it was read. */
export function isUntouched(sql: AnySql, address: SweepAddress): Fragment {
  return sql`${isAddress(sql, address)} AND touched = ${address.touched}`;
}

/**
 * The addresses of a network that are due, longest waiting first. One whose row another
 * transaction holds is left out: its plan could not be written, and the others would wait for it.
 */
export async function dueSweepAddresses(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly SweepAddress[]> {
  return await readAddresses(
    sql,
    sql`WHERE network = ${network} AND poll_at <= now() ORDER BY poll_at LIMIT ${limit}
      FOR NO KEY UPDATE SKIP LOCKED`,
  );
}

/** An address with something to sweep; null where nothing waits there. */
export async function findSweepAddress(
  sql: Sql,
  network: Network,
  address: string,
  currency: Currency,
): Promise<SweepAddress | null> {
  const where = sql`WHERE ${isAddress(sql, { network, address, currency })}`;
  return (await readAddresses(sql, where))[0] ?? null;
}

async function readAddresses(sql: Sql, which: Fragment): Promise<readonly SweepAddress[]> {
  return addressShape.all(
    await sql`
    SELECT t.network, t.address, t.currency, h.wallet_index, coalesce(a.kind = 'top_up', false) AS is_top_up,
      t.reason, t.touched
    FROM (SELECT * FROM book.sweep_address ${which}) t
    JOIN hub.address h ON h.address = t.address AND h.network = t.network
    LEFT JOIN book.deposit_address a ON a.id = h.address_id AND a.merchant_id = h.merchant_id
    ORDER BY t.poll_at`,
  );
}

/** Reason why an address is not swept now, and the time of its next poll. */
export interface Waiting {
  readonly reason: SweepReason;
  readonly detail: string;
  /** Amount to be swept, as far as it is known. */
  readonly amount: Amount;
  readonly pollMs: number;
}

/** Stores the reason why an address is not swept; nothing where something has happened to it since. */
export async function storeWaiting(
  sql: Sql,
  address: SweepAddress,
  { reason, detail, amount, pollMs }: Waiting,
): Promise<void> {
  await sql`
    UPDATE book.sweep_address SET reason = ${reason}, detail = ${detail.slice(0, 500)},
      amount = ${formatAmount(amount)}, updated_at = now(), tries = 0,
      poll_at = now() + make_interval(secs => ${pollMs / 1_000})
    WHERE ${isUntouched(sql, address)}`;
}

/** Forgets an address with nothing left to sweep; nothing where something has happened to it since. */
export async function closeSweepAddress(sql: Sql, address: SweepAddress): Promise<void> {
  await sql`DELETE FROM book.sweep_address WHERE ${isUntouched(sql, address)}`;
}

/** Time for which an address is left alone that cannot be read; doubled with every poll in vain. */
export interface SweepAddressPause {
  readonly firstMs: number;
  readonly mostMs: number;
}

/**
 * Polls an address later, for whatever reason it could not be read now.
 *
 * @param silence what the chain's nodes failed with; null: it was not the chain, the reason stays
 */
export async function postpone(
  sql: Sql,
  address: SweepAddress,
  { firstMs, mostMs }: SweepAddressPause,
  silence: string | null,
): Promise<void> {
  const reason: SweepReason = "chain_unavailable";
  await sql`
    UPDATE book.sweep_address SET tries = least(tries + 1, 1000),
      poll_at = now() + make_interval(secs =>
        least(${mostMs / 1_000}::float8, ${firstMs / 1_000}::float8 * 2 ^ least(tries, 20)))
      ${silence === null ? sql`` : sql`, reason = ${reason}, detail = ${silence.slice(0, 500)}`}
    WHERE ${isUntouched(sql, address)}`;
}

/**
 * Has the planner poll the addresses that internal transfers came from or went to. Rows are locked in
 * the order of their keys: two of these at once wait for each other, and no more.
 */
export async function touchSweepAddresses(
  sql: AnySql,
  network: Network,
  outgoingIds: readonly string[],
): Promise<void> {
  await sql`
    WITH ended AS MATERIALIZED (
      SELECT kind, wallet, destination FROM book.outgoing
      WHERE id = ANY (${[
    ...outgoingIds,
  ]}::text[]) AND merchant_id = ${PLATFORM_ACCOUNT} AND network = ${network}
    ), place AS MATERIALIZED (
      SELECT h.address FROM (SELECT wallet::integer AS index FROM ended WHERE kind = 'sweep' OFFSET 0) s
      JOIN hub.address h ON h.network = ${network} AND h.wallet_index = s.index
      UNION SELECT destination FROM ended WHERE kind IN ('gas', 'delegation', 'reclaim')
    ), locked AS MATERIALIZED (
      SELECT t.address, t.currency FROM place p
      JOIN book.sweep_address t ON t.network = ${network} AND t.address = p.address
      ORDER BY t.address, t.currency FOR UPDATE OF t
    )
    UPDATE book.sweep_address t SET touched = t.touched + 1, poll_at = now() FROM locked h
    WHERE t.network = ${network} AND t.address = h.address AND t.currency = h.currency`;
}

/**
 * CTEs `place`, `touched` and `added` that have the planner poll addresses. The row of one that another
 * transaction holds is not waited for: its `place` is neither free nor new. An entry is touched where
 * there is one, so that it is not deleted before this transaction commits.
 *
 * @param paid the name of a CTE with address, currency and merchant_id
 */
export function touchOrAdd(sql: AnySql, network: Network, paid: Fragment): Fragment {
  return sql`
    place AS MATERIALIZED (
      SELECT w.*, f.is_free IS NOT NULL AS is_free, EXISTS (SELECT FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = w.address AND t.currency = w.currency) AS is_known
      FROM ${paid} w LEFT JOIN LATERAL (
        SELECT true AS is_free FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = w.address AND t.currency = w.currency
        FOR NO KEY UPDATE SKIP LOCKED) f ON true
    ), touched AS (
      UPDATE book.sweep_address t SET touched = t.touched + 1, poll_at = now() FROM place p
      WHERE p.is_free AND t.network = ${network} AND t.address = p.address AND t.currency = p.currency
    ), added AS (
      INSERT INTO book.sweep_address AS t (network, address, currency, merchant_id)
      SELECT ${network}, address, currency, merchant_id FROM place WHERE NOT is_known ORDER BY address, currency
      ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, poll_at = now()
    )`;
}

/**
 * Has the planner poll addresses that were paid while another transaction held their rows. Those
 * whose rows are held still stay on the list.
 *
 * An entry is written with its transfers, and its row is held here: whatever reads the address after
 * this sees them, and what was planned before no longer holds.
 */
export async function takeLateSweepAddresses(sql: Sql, network: Network): Promise<void> {
  await sql`
    WITH late AS MATERIALIZED (
      SELECT address, currency, merchant_id FROM book.late_sweep_address WHERE network = ${network}
      ORDER BY address, currency FOR UPDATE SKIP LOCKED
    ), ${touchOrAdd(sql, network, sql`late`)}
    DELETE FROM book.late_sweep_address d USING place p
    WHERE (p.is_free OR NOT p.is_known) AND d.network = ${network} AND d.address = p.address
      AND d.currency = p.currency`;
}
