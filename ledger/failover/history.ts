import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";

/** Result of comparing the database's history with the one known before. */
export interface HistoryNote {
  /** The history that is written now, as `cluster/timeline/database`; `not told`: this role may not ask. */
  readonly history: string;
  /** True where this look opened a hold; another node may have been faster. */
  readonly opened: boolean;
  /** True where the server tells its history at all. */
  readonly isTold: boolean;
  /** The newest hold, found or declared, by whatever node; null: there was never one. */
  readonly newest: string | null;
}

/**
 * Compares the history that the server writes with the one that was found in order last; where it
 * is another one, opens a hold and jumps the address numbers, exactly once for all nodes.
 *
 * @param failoverId id of the hold, should one be opened
 * @param gap how many derivation indexes per network are jumped over
 */
export async function noteHistory(
  sql: Sql,
  failoverId: string,
  gap: number,
): Promise<HistoryNote> {
  const [row] = await sql<
    { history: string; opened: boolean; is_told: boolean; newest: string | null }[]
  >`
    SELECT history, opened, is_told, newest FROM hub.note_history(${failoverId}, ${gap})`;
  if (row === undefined) throw new Error("Cannot compare histories as the answer has no row");
  const { history, opened, is_told: isTold, newest } = row;
  return { history, opened, isTold, newest };
}

/** Derivation indexes that were jumped over and are not watched yet. */
export interface UnwatchedGap {
  readonly failoverId: string;
  readonly network: Network;
  readonly first: number;
  readonly last: number;
}

/** Gaps whose addresses are not watched yet. */
export async function readUnwatchedGaps(sql: Sql): Promise<readonly UnwatchedGap[]> {
  const rows = await sql<
    { failover_id: string; network: Network; gap_first: number; gap_last: number }[]
  >`
    SELECT failover_id, network, gap_first, gap_last FROM hub.failover_network
    WHERE NOT gap_watched ORDER BY failover_id, network`;
  return rows.map((row) => ({
    failoverId: row.failover_id,
    network: row.network,
    first: row.gap_first,
    last: row.gap_last,
  }));
}

/** Notes that the addresses of a gap are watched. */
export async function noteGapWatched(
  sql: Sql,
  { failoverId, network }: Pick<UnwatchedGap, "failoverId" | "network">,
): Promise<void> {
  await sql`
    UPDATE hub.failover_network SET gap_watched = true
    WHERE failover_id = ${failoverId} AND network = ${network}`;
}

/** Makes sure that a derivation index, and none below it, is ever taken again. */
export async function skipIndexesTo(sql: Sql, network: Network, index: number): Promise<void> {
  await sql`
    UPDATE hub.wallet SET next_index = ${
    index + 1
  } WHERE network = ${network} AND next_index <= ${index}`;
}

/** A record that a merchant was told of. */
export interface AcknowledgedRecord {
  readonly merchantId: string;
  readonly kind: "withdrawal" | "address" | "other";
  /** Id of the withdrawal or of the address; of anything else the merchant's. */
  readonly recordId: string;
  readonly referenceId: string | null;
  readonly network: Network | null;
  readonly currency: Currency | null;
  readonly amount: Amount | null;
  /** Destination of a withdrawal; of an address its text. */
  readonly destination: string | null;
}

/** A commit that was acknowledged to those who had asked for it. */
export interface AcknowledgedCommit {
  readonly commitId: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly records: readonly AcknowledgedRecord[];
}

/**
 * Which commits the database does not have: those of a history that it has lost.
 *
 * @param commitIds of the last minutes; the log of commits keeps an hour
 */
export async function findLostCommits(
  sql: Sql,
  commitIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (commitIds.length === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    SELECT i.id FROM unnest(string_to_array(${commitIds.join(",")}, ',')) AS i(id)
    WHERE NOT EXISTS (SELECT FROM book.commit_log c WHERE c.id = i.id)`;
  return new Set(rows.map(({ id }) => id));
}

/** Writes lost commits down, below the newest hold. @returns how many records are new on the list */
export async function recordLostCommits(
  sql: Sql,
  commits: readonly AcknowledgedCommit[],
): Promise<number> {
  const rows = commits.flatMap(({ commitId, at, records }) =>
    records.map((record) => ({ commitId, at: new Date(at).toISOString(), ...record }))
  );
  if (rows.length === 0) return 0;
  const { count } = await sql`
    INSERT INTO hub.lost_commit (failover_id, commit_id, merchant_id, kind, record_id, reference_id, network,
      currency, amount, destination, acknowledged_at)
    SELECT f.id, r.* FROM (SELECT id FROM hub.failover ORDER BY id DESC LIMIT 1) f, unnest(
      ${rows.map((row) => row.commitId)}::text[], ${rows.map((row) => row.merchantId)}::text[],
      ${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.recordId)}::text[],
      ${rows.map((row) => row.referenceId)}::text[], ${rows.map((row) => row.network)}::text[],
      ${rows.map((row) => row.currency)}::text[],
      ${rows.map(({ amount }) => amount === null ? null : formatAmount(amount))}::numeric[],
      ${rows.map((row) => row.destination)}::text[], ${
    rows.map((row) => row.at)
  }::timestamptz[]) AS r
    ON CONFLICT DO NOTHING`;
  return count;
}
