import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** A transfer that cannot be signed now. */
export interface Postponed {
  readonly outgoingId: string;
  /** Reason of the wait, which the operator sees. */
  readonly reason: string;
  /** Milliseconds for which it is left alone after its first try in vain; doubled with each one. */
  readonly firstMs: number;
  /** The longest that it is left alone, milliseconds. */
  readonly mostMs: number;
}

/** The longest reason that is kept. */
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
  const postponed = await sql<{ id: string; is_new: boolean }[]>`
    WITH input AS (
      SELECT * FROM unnest(
        ${rows.map((row) => row.outgoingId)}::text[],
        ${rows.map((row) => row.reason.slice(0, REASON_LENGTH))}::text[],
        ${rows.map((row) => row.firstMs / 1_000)}::float8[],
        ${rows.map((row) => row.mostMs / 1_000)}::float8[]) AS i(id, reason, first_s, most_s)
    ), locked AS (
      SELECT o.id, o.reason AS before, o.tries, i.reason, i.first_s, i.most_s
      FROM book.outgoing o JOIN input i ON i.id = o.id
      WHERE o.status = 'queued' ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    )
    UPDATE book.outgoing o
    SET lease_until = now() + make_interval(secs => least(l.most_s, l.first_s * 2 ^ least(l.tries, 20))),
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
