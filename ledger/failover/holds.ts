import type { Fragment, Sql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { type HubAudit, writeAudit } from "../audit.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, boolean, integer, orNull, type RowOf, text, time } from "../table.ts";

const openHold = shape({
  failoverId: text(),
  /** About when its scan passes the tick below, Unix milliseconds; null until the chain was reached. */
  untilTime: orNull(time()),
  /** Tick that our scan has to pass: the last one of all that can have been signed before. */
  untilTick: orNull(bigint()),
  /** Height that our scan has to pass as well. */
  headHeight: orNull(bigint()),
});
/** The block that a hold waits for on one network. */
export type OpenHold = RowOf<typeof openHold>;

/** The holds of a network whose comparison is not finished, oldest first. */
export async function readOpenHolds(sql: Sql, network: Network): Promise<readonly OpenHold[]> {
  return openHold.all(
    await sql`
    SELECT n.failover_id, n.until_time, n.until_tick, n.head_height
    FROM hub.failover_network n JOIN hub.failover f ON f.id = n.failover_id
    WHERE n.network = ${network} AND n.compared_at IS NULL ORDER BY f.id`,
  );
}

/** A node's newest block, and the time for which a signature is valid. */
export interface Reached {
  readonly height: number;
  /** Unix milliseconds. */
  readonly time: number;
  /** Its tick, and the ticks of a life; 0 where no tick ends what was signed. */
  readonly tick: number;
  readonly lifeTicks: number;
  /** About how long that is, milliseconds. */
  readonly lifetimeMs: number;
  /** Time between two blocks, milliseconds. */
  readonly blockMs: number;
}

/**
 * Stores what the scan has to pass: the latest of the node's newest block, the database's clock, the
 * newest block that was scanned and the newest commit of a merchant (a promoted machine's clock and the
 * first node may both be behind), and a lifetime. Where these are more than an hour apart, one of them is wrong, and where the block is
 * higher than a chain can have grown since our scan, the node is: nothing is stored, and the hold stays
 * until they agree, as too early an end pays twice and too late a one never comes. In ticks that is the
 * block's own, those of the time from it to the latest, and those of a life.
 *
 * @returns true if this call has stored it; what is stored already stays
 */
export async function setHoldBound(
  sql: Sql,
  failoverId: string,
  network: Network,
  { height, time, tick, lifeTicks, lifetimeMs, blockMs }: Reached,
): Promise<boolean> {
  const ticksPerMs = lifetimeMs === 0 ? 0 : lifeTicks / lifetimeMs;
  const { count } = await sql`
    WITH scanned AS (
      SELECT c.height, c.time, c.tick FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'
    ), latest AS (
      SELECT greatest(now(), 'epoch'::timestamptz + ${time}::float8 * interval '1 millisecond',
        -- what is further ahead was written by a wrong clock, and would hold payouts for ever
        (SELECT c.time FROM scanned c WHERE c.time <= now() + interval '1 hour'),
        (SELECT max(a.last_at) FROM book.account a WHERE a.last_at <= now() + interval '1 hour')) AS at
      WHERE abs(extract(epoch FROM now())::float8 * 1000 - ${time}::float8) <= 3600 * 1000
        -- twice as many blocks as the chain makes, and of an hour more, by which the clocks may differ
        AND ${height}::float8 <= coalesce((
          SELECT c.height + 2 * (3600 + greatest(0, extract(epoch FROM now() - c.time))) * 1000 / ${blockMs}::float8
          FROM scanned c)::float8, ${height}::float8)
    )
    UPDATE hub.failover_network SET head_height = ${height}::float8::bigint,
      until_time = latest.at + ${lifetimeMs}::float8 * interval '1 millisecond',
      until_tick = ceil(greatest(
        ${tick}::float8 + (extract(epoch FROM latest.at)::float8 * 1000 - ${time}::float8) * ${ticksPerMs}::float8,
        (SELECT c.tick FROM scanned c WHERE c.time <= now() + interval '1 hour')) + ${lifeTicks}::float8)::bigint
    FROM latest WHERE failover_id = ${failoverId} AND network = ${network} AND until_time IS NULL`;
  return count > 0;
}

/** The time for which a node may add the transactions of a nonce that is promised without them, milliseconds. */
const BARE_MS = 60_000;

/** The condition of a network's part of a hold, `n`, whose blocks the solid cursor `c` has passed, by its row. */
function isPassed(sql: AnySql, network: Network): Fragment {
  return sql`n.network = ${network} AND n.compared_at IS NULL AND c.network = n.network AND c.view = 'solid'
    AND c.previous_tick > n.until_tick AND c.height >= n.head_height`;
}

/** Holds of a network whose blocks our scan has passed and whose comparison is not ended, oldest first. */
export async function readPassedHolds(sql: Sql, network: Network): Promise<readonly string[]> {
  const rows = await sql<{ failover_id: string }[]>`
    SELECT n.failover_id FROM hub.failover_network n, hub.cursor c
    WHERE ${isPassed(sql, network)} ORDER BY n.failover_id`;
  return rows.map((row) => row.failover_id);
}

/**
 * Ends the comparison of a network where the solid cursor, by its row, has passed what a hold waits
 * for: every transaction that was signed before is in a block that was read, or can be in none. A nonce of which one
 * signer has told and whose transactions another node has still to add is waited for, by all nodes.
 *
 * @param holds those that may end; one that was opened since stays
 * @returns ids of the holds that wait for this network no more
 */
export async function endComparison(
  sql: Sql,
  network: Network,
  holds: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ failover_id: string }[]>`
    UPDATE hub.failover_network n SET compared_at = now()
    FROM hub.cursor c
    WHERE ${isPassed(sql, network)} AND n.failover_id = ANY (${[...holds]}::text[])
      AND NOT EXISTS (
        SELECT FROM book.told_nonce t JOIN book.lane_nonce l ON l.network = t.network AND l.payer = t.payer AND l.nonce = t.nonce
        WHERE t.network = n.network AND l.used_by IS NULL AND l.promised_at > now() - make_interval(secs => ${
    BARE_MS / 1_000
  }) AND NOT EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = l.intents[1] AND a.nonce = l.nonce))
    RETURNING n.failover_id`;
  return rows.map((row) => row.failover_id);
}

/**
 * Ends holds of which nothing is left to compare or to decide.
 *
 * @returns ids of those that this call has ended
 */
export async function endFinishedHolds(
  sql: Sql,
  auditId: () => string,
): Promise<readonly string[]> {
  const [open] = await sql`SELECT FROM hub.failover WHERE ended_at IS NULL LIMIT 1`;
  if (open === undefined) return [];
  return await sql.begin(async (tx) => {
    const rows = await tx<{ id: string }[]>`
      UPDATE hub.failover f SET ended_at = now(), ended_by = 'engine', end_reason = 'everything was compared'
      WHERE f.ended_at IS NULL
        AND NOT EXISTS (
          SELECT FROM hub.failover_network n WHERE n.failover_id = f.id AND n.compared_at IS NULL)
        AND NOT EXISTS (SELECT FROM hub.unknown_spend s WHERE s.status = 'open')
      RETURNING f.id`;
    for (const { id } of rows) {
      await tx`
        INSERT INTO hub.audit (id, actor, action, subject) VALUES (${auditId()}, 'engine', 'failover.end', ${id})`;
    }
    return rows.map(({ id }) => id);
  });
}

/** A transfer that waits for a signature. */
export interface QueuedId {
  readonly id: string;
  readonly merchantId: string;
  /** True where its fee is paid with the hot wallet's coin. */
  readonly isHot: boolean;
}

/** Queued transfers of a network in the order of their ids, suspended merchants' too. */
export async function readQueuedIds(
  sql: Sql,
  network: Network,
  after: string,
  limit: number,
): Promise<readonly QueuedId[]> {
  // gathered first: an order by id alone may be read from the first transfer that ever left
  return await sql<QueuedId[]>`
    SELECT id, "merchantId", "isHot" FROM (
      SELECT id, merchant_id AS "merchantId", 'hot' IN (wallet, fee_payer) AS "isHot" FROM book.outgoing
      WHERE network = ${network} AND status = 'queued' OFFSET 0) q
    WHERE id > ${after} ORDER BY id LIMIT ${limit}`;
}

/** The reason why no transfer may be signed for a network now, for people; null: it may. */
export async function readSigningStop(sql: Sql, network: Network): Promise<string | null> {
  const [row] = await sql<{ reason: string | null }[]>`
    SELECT hub.signing_stop(${network}) AS reason`;
  return row?.reason ?? null;
}

/**
 * The part of signing that is stopped for a network now. `payments`: what an administrator has taken out of use is signed all the
 * same, see `hub.history_stop`.
 */
export type StoppedPart = "none" | "payments" | "all";

/** Reads the part of signing that is stopped for a network now. */
export async function readStoppedPart(sql: Sql, network: Network): Promise<StoppedPart> {
  const [row] = await sql<{ part: StoppedPart }[]>`
    SELECT CASE WHEN hub.history_stop(${network}) IS NOT NULL THEN 'all'
      WHEN hub.signing_stop(${network}) IS NOT NULL THEN 'payments' ELSE 'none' END AS part`;
  if (row === undefined) throw new Error("Cannot read what is stopped as the answer has no row");
  return row.part;
}

/** Those of some networks for which nothing may be signed now. */
export async function readHaltedNetworks(
  sql: Sql,
  networks: readonly Network[],
): Promise<readonly Network[]> {
  const rows = await sql<{ network: Network }[]>`
    SELECT n.network FROM unnest(${[...networks]}::text[]) AS n(network)
    WHERE hub.signing_stop(n.network) IS NOT NULL`;
  return rows.map(({ network }) => network);
}

/** Declares that the database has another history although it does not show: see `hub.open_failover`. */
export async function declareFailover(
  sql: Sql,
  failoverId: string,
  gap: number,
  reason: string,
  audit: HubAudit,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      SELECT hub.open_failover(${failoverId}, 'declared', NULL, NULL, ${reason}, ${audit.actor}, ${gap})`;
    await writeAudit(tx, audit);
  });
}

/** Greatest age of a network's newest scanned block while a node still serves it. */
const SERVED_FOR = "10 minutes";

/** Reasons why holds cannot be ended by hand. */
export type EndRefused = "open_spends" | "not_compared" | "none_open";

/**
 * Ends holds by hand where nothing is open any more: those that still wait for networks which are
 * served no longer. No administrator can pass unknown transfers, or what may still come. A
 * hold that opens meanwhile stays, and so does one for a network that another node still scans.
 *
 * @param served networks that are compared here
 * @returns the reason why not, or null where they are ended
 */
export async function endHolds(
  sql: Sql,
  served: readonly Network[],
  reason: string,
  audit: HubAudit,
): Promise<EndRefused | null> {
  return await sql.begin(async (tx) => {
    const holds = await tx<{ id: string }[]>`
      SELECT id FROM hub.failover WHERE ended_at IS NULL ORDER BY id FOR UPDATE`;
    if (holds.length === 0) return "none_open";
    // each statement sees what was committed before it: only these are read and ended
    const ids = holds.map(({ id }) => id);
    const waiting = await tx<{ is_served: boolean }[]>`
      SELECT n.network = ANY (${[...served]}::text[]) OR EXISTS (
        SELECT FROM hub.cursor c WHERE c.network = n.network AND c.view = 'solid'
          AND c.time > now() - ${SERVED_FOR}::interval) AS is_served
      FROM hub.failover_network n WHERE n.failover_id = ANY (${ids}::text[]) AND n.compared_at IS NULL
      ORDER BY n.failover_id, n.network FOR UPDATE OF n`;
    const open = await tx`SELECT FROM hub.unknown_spend WHERE status = 'open' LIMIT 1`;
    if (open.length > 0) return "open_spends";
    if (waiting.some((network) => network.is_served)) return "not_compared";
    // should such a network be served again, its scan goes on where this history left it, and finds what left
    await tx`
      UPDATE hub.failover_network SET head_height = coalesce(head_height, 0),
        until_time = coalesce(until_time, now()), until_tick = coalesce(until_tick, 0), compared_at = now()
      WHERE compared_at IS NULL AND failover_id = ANY (${ids}::text[])`;
    await tx`
      UPDATE hub.failover SET ended_at = now(), ended_by = ${audit.actor}, end_reason = ${reason}
      WHERE ended_at IS NULL AND id = ANY (${ids}::text[])`;
    await writeAudit(tx, audit);
    return null;
  });
}

const holdNetwork = shape({
  failoverId: text(),
  network: text<Network>(),
  /** Height of our scan as this history had it. */
  fromHeight: orNull(bigint()),
  readHeight: orNull(bigint()),
  readTime: orNull(time()),
  /** Height, and block time below, that the scan has to pass; null until the chain was reached. */
  headHeight: orNull(bigint()),
  untilTime: orNull(time()),
  comparedAt: orNull(time()),
  gapFirst: integer(),
  gapLast: integer(),
  gapWatched: boolean(),
});
const holdShape = shape({
  id: text(),
  cause: text<"history" | "declared">(),
  before: orNull(text()),
  after: orNull(text()),
  reason: text(),
  actor: text(),
  foundAt: time(),
  endedAt: orNull(time()),
});
/** A hold with its progress on each network. Times are Unix milliseconds. */
export interface Hold extends RowOf<typeof holdShape> {
  readonly networks: readonly Omit<RowOf<typeof holdNetwork>, "failoverId">[];
}

/** Holds, the newest first; ended ones too. */
export async function listHolds(sql: Sql, limit: number): Promise<readonly Hold[]> {
  const holds = holdShape.all(
    await sql`SELECT * FROM hub.failover ORDER BY id DESC LIMIT ${limit}`,
  );
  const rows = holdNetwork.all(
    await sql`
    SELECT n.*, c.height AS read_height, c.time AS read_time
    FROM hub.failover_network n LEFT JOIN hub.cursor c ON c.network = n.network AND c.view = 'solid'
    WHERE n.failover_id = ANY (${holds.map(({ id }) => id)}::text[]) ORDER BY n.network`,
  );
  return holds.map((hold) => ({
    ...hold,
    networks: rows.flatMap(({ failoverId, ...row }) => failoverId === hold.id ? [row] : []),
  }));
}

const troubleShape = shape({
  network: text<Network>(),
  /** Transfers out of own wallets that are not decided on. */
  openSpends: integer(),
  /** Transactions that nodes call the hot wallet's without a proof; they halt nothing. */
  unproven: integer(),
  /** True while something that was signed in a lost history may still come. */
  isHeld: boolean(),
});
/** Reasons that halt payouts of one network while it is not known what was signed before, and what may become one. */
export type FailoverTrouble = RowOf<typeof troubleShape>;

/** The networks whose payouts are halted or may be soon, with the reason. Few rows, by partial indexes. */
export async function readFailoverTroubles(sql: Sql): Promise<readonly FailoverTrouble[]> {
  return troubleShape.all(
    await sql`
    SELECT network, sum(spends) AS open_spends, sum(unproven) AS unproven, bool_or(held) AS is_held FROM (
      SELECT network, count(*) AS spends, 0 AS unproven, false AS held FROM hub.unknown_spend
      WHERE status = 'open' GROUP BY 1
      UNION ALL
      SELECT network, 0, count(*), false FROM hub.unknown_spend WHERE status = 'unproven' GROUP BY 1
      UNION ALL
      SELECT network, 0, 0, true FROM hub.failover_network WHERE compared_at IS NULL) t
    GROUP BY network ORDER BY network`,
  );
}
