import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Takes blocks off the list of those that wait to be read once more: they were read. */
export async function dropReadAgain(
  sql: Sql,
  network: Network,
  from: number,
  to: number,
): Promise<void> {
  await sql`
    DELETE FROM hub.unread_block
    WHERE network = ${network} AND view = 'again' AND height BETWEEN ${from} AND ${to}`;
}

/**
 * Takes blocks off the list that nothing waits for any more: what was due in them is decided by now,
 * by another node or by an operator.
 */
export async function dropSettledAgain(sql: Sql, network: Network): Promise<void> {
  await sql`
    DELETE FROM hub.unread_block u
    WHERE u.network = ${network} AND u.view = 'again'
      AND NOT EXISTS (
        SELECT FROM hub.unknown_spend s JOIN book.attempt a ON a.txid = s.txid AND a.network = s.network
        WHERE s.network = u.network AND s.height = u.height AND s.status IN ('open', 'listed', 'cold')
          AND a.outcome IS DISTINCT FROM 'expired')
      AND NOT EXISTS (
        SELECT FROM book.late_outcome l WHERE l.network = u.network AND l.height = u.height)
      AND NOT EXISTS (
        SELECT FROM book.outgoing o
        JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
        WHERE o.network = u.network AND o.status = 'signed'
          AND coalesce(a.reread_height, a.since_height) < a.known_height
          AND coalesce(a.reread_height, a.since_height) + 1 = u.height)`;
}

/** Blocks of a network that cannot be read once more. */
export interface AgainTrouble {
  readonly network: Network;
  readonly blocks: number;
  /** The one that waits longest, and why. */
  readonly height: number;
  readonly reason: string;
  /** Milliseconds for which it has waited. */
  readonly ageMs: number;
}

/** Blocks that cannot be read once more, summed up per network. Few rows. */
export async function readAgainTroubles(sql: Sql): Promise<readonly AgainTrouble[]> {
  const rows = await sql<
    { network: Network; blocks: number; height: string; reason: string; age: number }[]
  >`
    SELECT DISTINCT ON (network) network, height, reason, count(*) OVER (PARTITION BY network)::int AS blocks,
      extract(epoch FROM now() - since)::float8 * 1000 AS age
    FROM hub.unread_block WHERE view = 'again' ORDER BY network, since, height`;
  return rows.map(({ age, height, ...row }) => ({ ...row, height: Number(height), ageMs: age }));
}
