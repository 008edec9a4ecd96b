import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** The block that a hold waits for on one network. */
export interface OpenHold {
  readonly failoverId: string;
  /** Block time that our scan has to pass, Unix milliseconds; null until the chain was reached. */
  readonly untilTime: number | null;
  /** Height that our scan has to pass as well. */
  readonly headHeight: number | null;
}

/** The holds of a network whose comparison is not finished, oldest first. */
export async function readOpenHolds(sql: Sql, network: Network): Promise<readonly OpenHold[]> {
  const rows = await sql<
    { id: string; until_time: Date | null; head_height: string | null }[]
  >`
    SELECT f.id, n.until_time, n.head_height
    FROM hub.failover_network n JOIN hub.failover f ON f.id = n.failover_id
    WHERE n.network = ${network} AND n.compared_at IS NULL ORDER BY f.id`;
  return rows.map((row) => ({
    failoverId: row.id,
    untilTime: row.until_time?.getTime() ?? null,
    headHeight: row.head_height === null ? null : Number(row.head_height),
  }));
}

/** A node's newest block, and how long a signature lives, milliseconds. */
export interface Reached {
  readonly height: number;
  /** Unix milliseconds. */
  readonly time: number;
  readonly lifetimeMs: number;
}

/**
 * Notes what the scan has to pass: the latest of the node's newest block, the database's clock, the
 * newest block that was scanned and the newest commit of a merchant (a promoted machine's clock and the
 * first node may both be behind), and a lifetime. Where these are more than an hour apart, one of them is wrong, and where the block is
 * higher than a chain can have grown since our scan, the node is: nothing is noted, and the hold stays
 * until they agree, as too early an end pays twice and too late a one never comes.
 *
 * @returns whether this call has noted it; what is noted already stays
 */
export async function noteUntil(
  sql: Sql,
  failoverId: string,
  network: Network,
  { height, time, lifetimeMs }: Reached,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE hub.failover_network
    SET head_height = ${height}::float8::bigint, until_time =
      greatest(now(), 'epoch'::timestamptz + ${time}::float8 * interval '1 millisecond',
        (SELECT c.time FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'
          AND c.time <= now() + interval '1 hour'),
        -- what is further ahead was written by a wrong clock, and would hold payouts for ever
        (SELECT max(a.last_at) FROM book.account a WHERE a.last_at <= now() + interval '1 hour'))
      + ${lifetimeMs}::float8 * interval '1 millisecond'
    WHERE failover_id = ${failoverId} AND network = ${network} AND until_time IS NULL
      AND abs(extract(epoch FROM now())::float8 * 1000 - ${time}::float8) <= 3600 * 1000
      -- no chain makes more than a block a second
      AND ${height}::float8 <= coalesce((
        SELECT c.height + 1000 + greatest(0, extract(epoch FROM now() - c.time)) FROM hub.cursor c
        WHERE c.network = ${network} AND c.view = 'solid')::float8, ${height}::float8)`;
  return count > 0;
}

/**
 * Ends the comparison of a network where the solid cursor, by its row, has passed what a hold waits
 * for: every transaction that was signed before is in a block that was read, or can be in none.
 *
 * @returns ids of the holds that wait for this network no more
 */
export async function endComparison(sql: Sql, network: Network): Promise<readonly string[]> {
  const rows = await sql<{ failover_id: string }[]>`
    UPDATE hub.failover_network n SET compared_at = now()
    FROM hub.cursor c
    WHERE n.network = ${network} AND n.compared_at IS NULL AND c.network = n.network AND c.view = 'solid'
      AND c.previous_time > n.until_time AND c.height >= n.head_height
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
  readonly isHot: boolean;
}

/** Queued transfers of a network in the order of their ids, suspended merchants' too. */
export async function readQueuedIds(
  sql: Sql,
  network: Network,
  after: string,
  limit: number,
): Promise<readonly QueuedId[]> {
  const rows = await sql<{ id: string; merchant_id: string; wallet: string }[]>`
    SELECT id, merchant_id, wallet FROM book.outgoing
    WHERE network = ${network} AND status = 'queued' AND id > ${after} ORDER BY id LIMIT ${limit}`;
  return rows.map((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    isHot: row.wallet === "hot",
  }));
}

/** Why nothing may be signed for a network now, for people; null: it may. */
export async function readSigningStop(sql: Sql, network: Network): Promise<string | null> {
  const [row] = await sql<{ reason: string | null }[]>`
    SELECT hub.signing_stop(${network}) AS reason`;
  return row?.reason ?? null;
}

/** Those of some networks for which nothing may be signed now. */
export async function readStoppedNetworks(
  sql: Sql,
  networks: readonly Network[],
): Promise<readonly Network[]> {
  const rows = await sql<{ network: Network }[]>`
    SELECT n.network FROM unnest(${[...networks]}::text[]) AS n(network)
    WHERE hub.signing_stop(n.network) IS NOT NULL`;
  return rows.map(({ network }) => network);
}
