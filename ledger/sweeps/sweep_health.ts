import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { SWEEP_REASONS, type SweepReason } from "./targets.ts";

/** An address that is not swept, and why. */
export interface ListedSweepAddress {
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  readonly merchantId: string;
  readonly kind: "issued" | "session" | "top_up";
  readonly reason: SweepReason;
  readonly detail: string | null;
  /** What waits to be swept, as of the last poll; null while coin or energy is under way. */
  readonly amount: Amount | null;
  /** Since when something of it waits, Unix milliseconds. */
  readonly since: number;
  /** When it is looked at again, Unix milliseconds. */
  readonly lookAt: number;
}

/** Addresses that are not swept, by reason. */
export interface SweepAddressCount {
  readonly network: Network;
  readonly reason: SweepReason;
  readonly addresses: number;
}

/** Number of addresses of each network that are not swept, by reason. */
export async function countSweepAddresses(sql: Sql): Promise<readonly SweepAddressCount[]> {
  return await sql<SweepAddressCount[]>`
    SELECT network, reason, count(*)::int AS addresses FROM book.sweep_address
    WHERE reason IS NOT NULL GROUP BY network, reason ORDER BY network, reason`;
}

/**
 * Addresses that are not swept.
 *
 * @param perReason the most of each network and reason, in the order of their addresses
 */
export async function listSweepAddresses(
  sql: Sql,
  perReason: number,
): Promise<readonly ListedSweepAddress[]> {
  const rows = await sql<
    (Omit<ListedSweepAddress, "amount" | "since" | "lookAt"> & {
      readonly amount: string | null;
      readonly created_at: Date;
      readonly look_at: Date;
    })[]
  >`
    SELECT t.network, t.address, t.currency, t.merchant_id AS "merchantId", coalesce(a.kind, 'issued') AS kind,
      t.reason, t.detail, trim_scale(t.amount)::text AS amount, t.created_at, t.look_at
    FROM (SELECT network FROM hub.wallet) w
    CROSS JOIN unnest(${[...SWEEP_REASONS]}::text[]) WITH ORDINALITY r(reason, place)
    CROSS JOIN LATERAL (
      SELECT * FROM book.sweep_address x WHERE x.network = w.network AND x.reason = r.reason
      ORDER BY x.address, x.currency LIMIT ${perReason}) t
    LEFT JOIN hub.address h ON h.address = t.address AND h.network = t.network
    LEFT JOIN book.deposit_address a ON a.id = h.address_id AND a.merchant_id = h.merchant_id
    ORDER BY t.network, r.place, t.address, t.currency`;
  return rows.map(({ created_at, look_at, ...row }) => ({
    ...row,
    amount: row.amount === null ? null : amountOf(row.amount),
    since: created_at.getTime(),
    lookAt: look_at.getTime(),
  }));
}

/** State of the sweeps of a network. */
export interface SweepHealth {
  /** Addresses that are not swept, by reason. */
  readonly waiting: ReadonlyMap<SweepReason, number>;
  /** When the oldest top-up was final that no final sweep has moved yet, Unix milliseconds. */
  readonly oldestTopUpAt: number | null;
  /** Addresses that could not be looked at three times in a row and more. */
  readonly failing: number;
  /** Addresses that were paid and whose rows other transactions have held for a minute and more since. */
  readonly held: number;
}

/** Reads how the sweeps of a network stand; costs by the number of merchants, not of addresses. */
export async function readSweepHealth(sql: Sql, network: Network): Promise<SweepHealth> {
  const [counts, [oldest], [stuck], [late]] = await Promise.all([
    sql<{ reason: SweepReason; addresses: number }[]>`
      SELECT reason, count(*)::int AS addresses FROM book.sweep_address
      WHERE network = ${network} AND reason IS NOT NULL GROUP BY reason`,
    sql<{ found_at: Date | null }[]>`
      SELECT min(i.found_at) AS found_at FROM book.deposit_address a
      JOIN book.sweep_item i ON i.network = a.network AND i.address = a.address AND NOT i.done
      WHERE a.kind = 'top_up' AND a.network = ${network} AND NOT EXISTS (
        SELECT FROM book.outgoing o
        WHERE o.id = i.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final')`,
    sql<{ failing: number }[]>`
      SELECT count(*)::int AS failing FROM book.sweep_address
      WHERE network = ${network} AND tries >= 3`,
    sql<{ held: number }[]>`
      SELECT count(*)::int AS held FROM book.late_sweep_address
      WHERE network = ${network} AND noted_at < now() - interval '1 minute'`,
  ]);
  return {
    waiting: new Map(counts.map(({ reason, addresses }) => [reason, addresses])),
    oldestTopUpAt: oldest?.found_at?.getTime() ?? null,
    failing: stuck?.failing ?? 0,
    held: late?.held ?? 0,
  };
}
