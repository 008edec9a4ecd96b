import type { Sql } from "postgres";
import type { Currency, Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { shape } from "../shape.ts";
import { amount, integer, orNull, type RowOf, text, time } from "../table.ts";
import { SWEEP_REASONS, type SweepReason } from "./sweep_addresses.ts";

const listedShape = shape({
  network: text<Network>(),
  address: text(),
  currency: text<Currency>(),
  merchantId: text(),
  kind: text<"issued" | "session" | "top_up">(),
  reason: text<SweepReason>(),
  detail: orNull(text()),
  /** Amount that waits to be swept, as of the last poll; null while coin for it or a delegation is under way. */
  amount: orNull(amount()),
  /** Since when something of it waits, Unix milliseconds. */
  since: time(),
  /** Time of its next poll, Unix milliseconds. */
  lookAt: time(),
});
/** An address that is not swept, with the reason. */
export type ListedSweepAddress = RowOf<typeof listedShape>;

/** Addresses that are not swept, by reason. */
export interface SweepAddressCount {
  readonly network: Network;
  readonly reason: SweepReason;
  readonly addresses: number;
}

/** Number of addresses of each network that are not swept, by reason. */
export async function countSweepAddresses(
  sql: Sql,
  network: Network | null = null,
): Promise<readonly SweepAddressCount[]> {
  return await sql<SweepAddressCount[]>`
    SELECT network, reason, count(*)::int AS addresses FROM book.sweep_address
    WHERE reason IS NOT NULL ${network === null ? sql`` : sql`AND network = ${network}`}
    GROUP BY network, reason ORDER BY network, reason`;
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
  return listedShape.all(
    await sql`
    SELECT t.*, t.created_at AS since, t.poll_at AS "look_at", coalesce(a.kind, 'issued') AS kind
    FROM (SELECT network FROM hub.wallet) w
    CROSS JOIN unnest(${[...SWEEP_REASONS]}::text[]) WITH ORDINALITY r(reason, place)
    CROSS JOIN LATERAL (
      SELECT * FROM book.sweep_address x WHERE x.network = w.network AND x.reason = r.reason
      ORDER BY x.address, x.currency LIMIT ${perReason}) t
    LEFT JOIN hub.address h ON h.address = t.address AND h.network = t.network
    LEFT JOIN book.deposit_address a ON a.id = h.address_id AND a.merchant_id = h.merchant_id
    ORDER BY t.network, r.place, t.address, t.currency`,
  );
}

const figuresShape = shape({
  /** Time of the oldest final top-up that no final sweep has moved yet, Unix milliseconds. */
  oldestTopUpAt: orNull(time()),
  /** Addresses that could not be read three times in a row and more. */
  failing: integer(),
  /** Addresses that were paid and whose rows other transactions have held for a minute and more since. */
  held: integer(),
});
/** State of the sweeps of a network. */
export interface SweepHealth extends RowOf<typeof figuresShape> {
  /** Addresses that are not swept, by reason. */
  readonly waiting: ReadonlyMap<SweepReason, number>;
}

/** Reads the state of a network's sweeps; costs by the number of merchants, not of addresses. */
export async function readSweepHealth(sql: Sql, network: Network): Promise<SweepHealth> {
  const [counts, [figures]] = await Promise.all([
    countSweepAddresses(sql, network),
    sql`
      SELECT (
        SELECT min(i.found_at) FROM book.deposit_address a
        JOIN book.sweep_item i ON i.network = a.network AND i.address = a.address AND NOT i.done
        WHERE a.kind = 'top_up' AND a.network = ${network} AND NOT EXISTS (
          SELECT FROM book.outgoing o
          WHERE o.id = i.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final')) AS oldest_top_up_at,
      (SELECT count(*) FROM book.sweep_address WHERE network = ${network} AND tries >= 3) AS failing,
      (SELECT count(*) FROM book.late_sweep_address
       WHERE network = ${network} AND noted_at < now() - interval '1 minute') AS held`,
  ]);
  return {
    ...figuresShape.decode(figures ?? {}),
    waiting: new Map(counts.map(({ reason, addresses }) => [reason, addresses])),
  };
}
