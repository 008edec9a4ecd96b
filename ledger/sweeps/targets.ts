import type { PendingQuery, Row, Sql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";

/** Why an address with something to sweep is not swept, as programs read it. */
export const SWEEP_REASONS = [
  /** A sweep of it waits for its signature or for its block. */
  "in_flight",
  /** Coin or energy for it is on its way. */
  "waiting_gas",
  /** The same, and the chain does not know the address before that. */
  "address_not_activated",
  /** Energy that was lent to it is being taken back. */
  "reclaiming",
  /** No node tells what it holds, or what its sweep would cost. */
  "chain_unavailable",
  /** Sweeping costs more than it is worth. */
  "below_economics",
  /** Nobody knows what the chain's coin is worth, so not whether it pays. */
  "no_rate",
  /** Sweeps of the network are switched off. */
  "paused",
  /** The network has no contract of the currency configured. */
  "unsupported",
  /** What should be there is not there in solid blocks (yet); what comes later is swept all the same. */
  "balance_differs",
  /** The node says that the transfer would fail. */
  "would_fail",
  /** It failed, and is tried again after a while. */
  "failed",
  /** A sweep succeeded without the transfer that was intended: for the operator. */
  "unexpected",
  /** Its merchant has not booked what was carried (its pair takes no deposits now, say). */
  "deposit_held",
] as const;
/** One of {@linkcode SWEEP_REASONS}. */
export type SweepReason = (typeof SWEEP_REASONS)[number];

/** An address with something to sweep in one currency. */
export interface SweepAddress {
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  /** Derivation index of the address. */
  readonly walletIndex: number;
  /** True where it is a merchant's own top-up address. */
  readonly isTopUp: boolean;
  /** Why it was not swept when it was last looked at; null: it never was. */
  readonly reason: SweepReason | null;
  /** Counts what happened to it; a plan holds only while it is the same. */
  readonly touched: number;
}

/**
 * The addresses of a network that are to be looked at now, longest waiting first. One whose row another
 * transaction holds is left out: its plan could not be written, and the others would wait for it.
 */
export async function dueSweepAddresses(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly SweepAddress[]> {
  return await readTargets(
    sql,
    sql`WHERE network = ${network} AND look_at <= now() ORDER BY look_at LIMIT ${limit}
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
  const [target] = await readTargets(
    sql,
    sql`WHERE network = ${network} AND address = ${address} AND currency = ${currency}`,
  );
  return target ?? null;
}

async function readTargets(
  sql: Sql,
  which: PendingQuery<Row[]>,
): Promise<readonly SweepAddress[]> {
  const rows = await sql<(Omit<SweepAddress, "touched"> & { touched: string })[]>`
    SELECT t.network, t.address, t.currency, h.wallet_index AS "walletIndex",
      coalesce(a.kind = 'top_up', false) AS "isTopUp", t.reason, t.touched
    FROM (SELECT * FROM book.sweep_address ${which}) t
    JOIN hub.address h ON h.address = t.address AND h.network = t.network
    LEFT JOIN book.deposit_address a ON a.id = h.address_id AND a.merchant_id = h.merchant_id
    ORDER BY t.look_at`;
  return rows.map((row) => ({ ...row, touched: Number(row.touched) }));
}

/** Why an address is not swept now, and when it is looked at again. */
export interface Waiting {
  readonly reason: SweepReason;
  readonly detail: string;
  /** Amount to be swept, as far as it is known. */
  readonly amount: Amount;
  readonly pollMs: number;
}

/** Keeps the reason why an address is not swept; nothing where something has happened to it since. */
export async function storeWaiting(
  sql: Sql,
  target: SweepAddress,
  waiting: Waiting,
): Promise<void> {
  await sql`
    UPDATE book.sweep_address SET reason = ${waiting.reason}, detail = ${
    waiting.detail.slice(0, 500)
  },
      amount = ${formatAmount(waiting.amount)}, updated_at = now(), tries = 0,
      look_at = now() + make_interval(secs => ${waiting.pollMs / 1_000})
    WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
      AND touched = ${target.touched}`;
}

/** Forgets an address with nothing left to sweep; nothing where something has happened to it since. */
export async function closeSweepAddress(sql: Sql, target: SweepAddress): Promise<void> {
  await sql`
    DELETE FROM book.sweep_address
    WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
      AND touched = ${target.touched}`;
}

/** Time for which an address is left alone that cannot be looked at; doubled with every look in vain. */
export interface SweepAddressPause {
  readonly firstMs: number;
  readonly mostMs: number;
}

/**
 * Looks at an address later, for whatever reason it could not be looked at now.
 *
 * @param silence what the chain's nodes failed with; null: it was not the chain, the reason stays
 */
export async function postpone(
  sql: Sql,
  target: SweepAddress,
  { firstMs, mostMs }: SweepAddressPause,
  silence: string | null,
): Promise<void> {
  const reason: SweepReason | null = silence === null ? null : "chain_unavailable";
  await sql`
    UPDATE book.sweep_address SET tries = least(tries + 1, 1000),
      look_at = now() + make_interval(secs => least(${mostMs / 1_000}::float8, ${
    firstMs / 1_000
  }::float8 * 2 ^ least(tries, 20))),
      reason = coalesce(${reason}, reason),
      detail = CASE WHEN ${reason}::text IS NULL THEN detail ELSE ${
    silence?.slice(0, 500) ?? null
  } END
    WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
      AND touched = ${target.touched}`;
}

/**
 * Has the planner look again at the addresses that transfers of the house came from or went to. Rows
 * are locked in the order of their keys: two of these at once wait for each other, and no more.
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
    ), held AS MATERIALIZED (
      SELECT t.address, t.currency FROM place p
      JOIN book.sweep_address t ON t.network = ${network} AND t.address = p.address
      ORDER BY t.address, t.currency FOR UPDATE OF t
    )
    UPDATE book.sweep_address t SET touched = t.touched + 1, look_at = now() FROM held h
    WHERE t.network = ${network} AND t.address = h.address AND t.currency = h.currency`;
}

/**
 * Has the planner look at addresses that were paid while another transaction held their rows. Those
 * whose rows are held still stay on the list.
 *
 * An entry is written with its transfers, and its row is held here: whoever reads the address after
 * this sees them, and what was planned before no longer holds.
 */
export async function takeLateSweepAddresses(sql: Sql, network: Network): Promise<void> {
  await sql`
    WITH late AS MATERIALIZED (
      SELECT address, currency, merchant_id FROM book.late_sweep_address WHERE network = ${network}
      ORDER BY address, currency FOR UPDATE SKIP LOCKED
    ), place AS MATERIALIZED (
      SELECT l.*, f.is_free IS NOT NULL AS is_free, EXISTS (SELECT FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = l.address AND t.currency = l.currency) AS is_known
      FROM late l LEFT JOIN LATERAL (
        SELECT true AS is_free FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = l.address AND t.currency = l.currency
        FOR NO KEY UPDATE SKIP LOCKED) f ON true
    ), touched AS (
      UPDATE book.sweep_address t SET touched = t.touched + 1, look_at = now() FROM place p
      WHERE p.is_free AND t.network = ${network} AND t.address = p.address AND t.currency = p.currency
    ), noted AS (
      INSERT INTO book.sweep_address AS t (network, address, currency, merchant_id)
      SELECT ${network}, address, currency, merchant_id FROM place WHERE NOT is_known ORDER BY address, currency
      ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, look_at = now()
    )
    DELETE FROM book.late_sweep_address d USING place p
    WHERE (p.is_free OR NOT p.is_known) AND d.network = ${network} AND d.address = p.address
      AND d.currency = p.currency`;
}
