import type { Sql } from "postgres";
import type { Currency, Network, OutgoingAsset } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import type { OutgoingRow } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, integer, orNull, type RowOf, text, time } from "../table.ts";

const postponedShape = shape({
  outgoingId: text(),
  /** Reason of the wait, which the operator sees. */
  reason: text(),
  /** Milliseconds for which it is left alone after its first try in vain; doubled with each one. */
  firstMs: integer(),
  /** The longest that it is left alone, milliseconds. */
  mostMs: integer(),
});
/** A transfer that cannot be signed now. */
export type Postponed = RowOf<typeof postponedShape>;

/** The longest reason that is stored. */
const REASON_LENGTH = 500;

/**
 * Leaves queued transfers alone for a while, each for its own reason. The pause grows with every try
 * in vain, by what the row itself has counted and by the database's clock: neither a restart nor
 * another node begins anew. One whose row another transaction holds is passed over: it has no pause
 * then, and is tried again as soon as it can be locked.
 *
 * @returns those that wait for another reason than before
 */
export async function postponeQueued(
  sql: Sql,
  rows: readonly Postponed[],
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const given = rows.map((row) => ({ ...row, reason: row.reason.slice(0, REASON_LENGTH) }));
  const postponed = await sql<{ id: string; is_new: boolean }[]>`
    WITH locked AS (
      SELECT o.id, o.reason AS before, o.tries, i.reason, i.first_ms, i.most_ms
      FROM book.outgoing o JOIN ${postponedShape.rows(sql, "i", given)} ON i.outgoing_id = o.id
      WHERE o.status = 'queued' ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    )
    UPDATE book.outgoing o
    SET lease_until = now() + make_interval(secs => least(l.most_ms, l.first_ms * 2 ^ least(l.tries, 20)) / 1000),
      tries = least(o.tries + 1, 1000), reason = l.reason, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'queued'
    RETURNING o.id, l.before IS DISTINCT FROM l.reason AS is_new`;
  return new Set(postponed.filter((row) => row.is_new).map((row) => row.id));
}

/**
 * Has transfers tried at once that wait for one of these reasons, as if they had never been tried.
 * One whose row another transaction holds is tried when its pause is over.
 *
 * @returns how many there were
 */
export async function wakeQueued(
  sql: Sql,
  network: Network,
  reasons: readonly string[],
): Promise<number> {
  if (reasons.length === 0) return 0;
  const { count } = await sql`
    WITH locked AS (
      SELECT o.id FROM book.outgoing o
      WHERE o.network = ${network} AND o.status = 'queued' AND o.reason = ANY (${[
    ...reasons,
  ]}::text[])
      ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE book.outgoing o SET lease_until = NULL, tries = 0, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'queued'`;
  return count;
}

/**
 * Gives leased transfers back to the queue with the reason they wait for, which the operator sees. One
 * whose row another transaction holds has no pause, and is tried again as soon as it can be locked.
 *
 * @param retryMs how long they are left alone, by the database's clock
 */
export async function returnQueued(
  sql: Sql,
  outgoingIds: readonly string[],
  reason: string,
  retryMs: number,
): Promise<void> {
  if (outgoingIds.length === 0) return;
  await sql`
    WITH locked AS (
      SELECT o.id FROM book.outgoing o
      WHERE o.id = ANY (${[...outgoingIds]}::text[]) AND o.status = 'queued'
      ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE book.outgoing o
    SET lease_until = now() + make_interval(secs => ${retryMs / 1_000}), reason = ${reason},
      updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'queued'`;
}

/**
 * Stores with all queued transfers of a currency the reason why they are held, which the operator sees.
 * They are not tried meanwhile, so that nothing else would store it.
 */
export async function storeHeldReason(
  sql: Sql,
  network: Network,
  currency: Currency,
  reason: string,
): Promise<void> {
  await sql`
    WITH locked AS (
      SELECT o.id FROM book.outgoing o
      WHERE o.network = ${network} AND o.currency = ${currency} AND o.status = 'queued'
        AND o.reason IS DISTINCT FROM ${reason}
      -- what another session holds gets it at a later poll
      ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE book.outgoing o SET reason = ${reason}, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'queued'`;
}

/** The time at which the oldest transfer was queued that is not signed yet, Unix milliseconds; null: none. */
export async function readOldestQueued(sql: Sql, network: Network): Promise<number | null> {
  // the first of each merchant: an order by id alone may be read from the first transfer that ever left
  const [row] = await sql<{ at: Date | null }[]>`
    WITH RECURSIVE oldest AS (
      (SELECT merchant_id, created_at FROM book.outgoing WHERE network = ${network} AND status = 'queued'
       ORDER BY merchant_id, created_at LIMIT 1)
      UNION ALL
      SELECT n.merchant_id, n.created_at FROM oldest o CROSS JOIN LATERAL (
        SELECT q.merchant_id, q.created_at FROM book.outgoing q
        WHERE q.network = ${network} AND q.status = 'queued' AND q.merchant_id > o.merchant_id
        ORDER BY q.merchant_id, q.created_at LIMIT 1) n
    ) SELECT min(created_at) AS at FROM oldest`;
  return row?.at?.getTime() ?? null;
}

/** Reason of a queued transfer that is above the signer's cap per transaction, as a pattern. */
export const OVER_CAP = "signer: over-limit: %per transaction";

const healthShape = shape({
  payable: integer(),
  payableAt: orNull(time()),
  held: integer(),
  heldAt: orNull(time()),
  capped: integer(),
  cappedAt: orNull(time()),
  quarantined: integer(),
  quarantinedAt: orNull(time()),
  signed: integer(),
  signedAt: orNull(time()),
});
/** Payouts in one state. */
export interface PayoutGroup {
  readonly count: number;
  /** Unix milliseconds; null: there are none. */
  readonly oldestAt: number | null;
}
/** Merchants' payouts under way. */
export interface QueueHealth {
  /** Payouts that nothing but their turn delays. */
  readonly payable: PayoutGroup;
  /** Payouts that wait for something else than their turn: money, the signer, the end of a hold or of a cap's day. */
  readonly held: PayoutGroup;
  /** Payouts above the signer's cap per transaction: they wait for a person. */
  readonly overCap: PayoutGroup;
  /** Payouts that something about themselves keeps from being signed: odd data, a transfer that would fail. */
  readonly quarantined: PayoutGroup;
  /** Payouts that are signed and not final. */
  readonly signed: PayoutGroup;
}

/**
 * Counts merchants' payouts under way on a network, by whether a turn, a person or their own data is lacking. While
 * signing is stopped (`hub.signing_stop`) a turn helps none: they are held.
 *
 * @param isStopped true where something else than the database's own stops keeps the network from being signed for
 */
export async function readQueueHealth(
  sql: Sql,
  network: Network,
  isStopped = false,
): Promise<QueueHealth> {
  const [row] = await sql`
    WITH stop AS MATERIALIZED (
      SELECT ${isStopped} OR hub.signing_stop(${network}) IS NOT NULL AS is_stopped
    ), waiting AS (
      SELECT o.created_at,
        -- the words of sign_queued.ts, prepare_batch.ts and waits.ts
        CASE WHEN o.reason LIKE ${OVER_CAP} THEN 'capped'
          WHEN o.reason IS NULL OR o.reason IN ('waiting for another try', 'waiting for the signer')
            OR o.reason IN ('waiting for a node that is up to date', 'waiting for nodes to answer')
            THEN CASE WHEN (SELECT is_stopped FROM stop) THEN 'held' ELSE 'payable' END
          WHEN o.reason LIKE 'waiting%' OR o.reason LIKE 'signer: %' THEN 'held'
          ELSE 'quarantined' END AS state
      FROM book.outgoing o
      WHERE o.network = ${network} AND o.status = 'queued' AND o.merchant_id <> ${PLATFORM_ACCOUNT}
        AND NOT EXISTS (
          SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
    ), signed AS (
      SELECT o.created_at FROM book.outgoing o
      WHERE o.network = ${network} AND o.status = 'signed' AND o.merchant_id <> ${PLATFORM_ACCOUNT}
    )
    SELECT count(*) FILTER (WHERE state = 'payable') AS payable,
      min(created_at) FILTER (WHERE state = 'payable') AS payable_at,
      count(*) FILTER (WHERE state = 'held') AS held,
      min(created_at) FILTER (WHERE state = 'held') AS held_at,
      count(*) FILTER (WHERE state = 'capped') AS capped,
      min(created_at) FILTER (WHERE state = 'capped') AS capped_at,
      count(*) FILTER (WHERE state = 'quarantined') AS quarantined,
      min(created_at) FILTER (WHERE state = 'quarantined') AS quarantined_at,
      (SELECT count(*) FROM signed) AS signed, (SELECT min(created_at) FROM signed) AS signed_at
    FROM waiting`;
  const health = healthShape.decode(row ?? {});
  return {
    payable: { count: health.payable, oldestAt: health.payableAt },
    held: { count: health.held, oldestAt: health.heldAt },
    overCap: { count: health.capped, oldestAt: health.cappedAt },
    quarantined: { count: health.quarantined, oldestAt: health.quarantinedAt },
    signed: { count: health.signed, oldestAt: health.signedAt },
  };
}

const groupShape = shape({
  kind: text<OutgoingRow["kind"]>(),
  currency: text<OutgoingAsset>(),
  status: text<"queued" | "signed">(),
  /** As the treasury last stored it; null: for its turn, or for a block. */
  reason: orNull(text()),
  count: integer(),
  amount: amount(),
  /** Since when the oldest of them exists, Unix milliseconds. */
  oldestAt: time(),
});
/** Transfers that wait for the same thing. */
export type WaitingGroup = RowOf<typeof groupShape>;

/** Groups that are shown, the oldest first. */
const SHOWN = 50;

/** Queued transfers, and those signed and not final, grouped by what they wait for. */
export async function sumWaiting(sql: Sql, network: Network): Promise<readonly WaitingGroup[]> {
  return groupShape.all(
    await sql`
    SELECT kind, currency, status, regexp_replace(reason, 'out_[0-9a-f-]+', '...', 'g') AS reason,
      count(*) AS count, sum(amount) AS amount, min(created_at) AS oldest_at
    FROM (
      -- one part per state: each has an index of its own, and what has ended is never read
      SELECT * FROM book.outgoing WHERE network = ${network} AND status = 'queued'
      UNION ALL SELECT * FROM book.outgoing WHERE network = ${network} AND status = 'signed') waiting
    GROUP BY 1, 2, 3, 4 ORDER BY oldest_at, 1, 2, 3, 4 LIMIT ${SHOWN}`,
  );
}
