import type { Sql } from "postgres";
import type { Currency, Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, boolean, orNull, type RowOf, type RowOfColumns, text, time } from "../table.ts";

/** Derivation indexes per network that a change of history jumps over: as many as may have been handed out since. */
export const ADDRESS_GAP = 1_000;

const comparisonShape = shape({
  /** The history that is written now, as `cluster/timeline/database`; `not told`: this role may not ask. */
  history: text(),
  /** True where this poll opened a hold; another node may have been faster. */
  opened: boolean(),
  /** True where the server tells its history at all. */
  isTold: boolean(),
  /** The newest hold, found or declared, by whatever node; null: there was never one. */
  newest: orNull(text()),
});
/** Result of comparing the database's history with the one known before. */
export type HistoryComparison = RowOf<typeof comparisonShape>;

/**
 * Compares the history that the server writes with the one that was found in order last; where it
 * is another one, opens a hold and jumps the address numbers, exactly once for all nodes.
 *
 * @param failoverId id of the hold, should one be opened
 * @param gap how many derivation indexes per network are jumped over
 */
export async function compareHistory(
  sql: Sql,
  failoverId: string,
  gap: number,
): Promise<HistoryComparison> {
  const found = comparisonShape.first(
    await sql`SELECT * FROM hub.compare_history(${failoverId}, ${gap})`,
  );
  if (found === null) throw new Error("Cannot compare histories as the answer has no row");
  return found;
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
  return await sql<UnwatchedGap[]>`
    SELECT failover_id AS "failoverId", network, gap_first AS first, gap_last AS last
    FROM hub.failover_network WHERE NOT gap_watched ORDER BY failover_id, network`;
}

/** Stores that the addresses of a gap are watched. */
export async function setGapWatched(
  sql: Sql,
  { failoverId, network }: Pick<UnwatchedGap, "failoverId" | "network">,
): Promise<void> {
  await sql`
    UPDATE hub.failover_network SET gap_watched = true
    WHERE failover_id = ${failoverId} AND network = ${network}`;
}

/** Makes sure that neither a derivation index nor one below it is ever taken again. */
export async function skipIndexesTo(sql: Sql, network: Network, index: number): Promise<void> {
  await sql`
    UPDATE hub.wallet SET next_index = ${
    index + 1
  } WHERE network = ${network} AND next_index <= ${index}`;
}

const RECORD = {
  merchantId: text(),
  kind: text<"withdrawal" | "address" | "other">(),
  /** Id of the withdrawal or of the address; of anything else the merchant's. */
  recordId: text(),
  referenceId: orNull(text()),
  network: orNull(text<Network>()),
  currency: orNull(text<Currency>()),
  amount: orNull(amount()),
  /** Destination of a withdrawal; of an address its text. */
  destination: orNull(text()),
};
/** A record that was acknowledged to its merchant. */
export type AcknowledgedRecord = RowOfColumns<typeof RECORD>;

/** A commit that was acknowledged to those who had asked for it. */
export interface AcknowledgedCommit {
  readonly commitId: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly records: readonly AcknowledgedRecord[];
}

/**
 * Finds the commits that the database does not have: those of a history that it has lost.
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

const lostShape = shape({ commitId: text(), ...RECORD, at: time() });

const lostRecord = shape({
  failoverId: text(),
  ...RECORD,
  acknowledgedAt: time(),
});
/** A record that was acknowledged to its merchant and that the database has lost. */
export type LostRecord = RowOf<typeof lostRecord>;

/**
 * Stores the records of lost commits below the newest hold. A record that the database has is not lost, whatever
 * became of its commit: the log of commits keeps an hour, and an idle service remembers longer.
 *
 * @returns those that are new on the list
 */
export async function recordLostCommits(
  sql: Sql,
  commits: readonly AcknowledgedCommit[],
): Promise<readonly LostRecord[]> {
  const rows = commits.flatMap(({ commitId, at, records }) =>
    records.map((record) => ({ commitId, at, ...record }))
  );
  if (rows.length === 0) return [];
  // each record is looked up by its key: a join might read all withdrawals that there are
  return lostRecord.all(
    await sql`
      INSERT INTO hub.lost_commit (failover_id, commit_id, merchant_id, kind, record_id, reference_id, network,
        currency, amount, destination, acknowledged_at)
      SELECT f.id, r.* FROM (SELECT id FROM hub.failover ORDER BY id DESC LIMIT 1) f, ${
      lostShape.rows(sql, "r", rows)
    }
      WHERE CASE r.kind
        WHEN 'withdrawal' THEN (SELECT true FROM book.withdrawal w
          WHERE w.id = r.record_id AND w.merchant_id = r.merchant_id LIMIT 1)
        WHEN 'address' THEN (SELECT true FROM book.deposit_address a
          WHERE a.id = r.record_id AND a.merchant_id = r.merchant_id LIMIT 1)
        END IS NULL
      ON CONFLICT DO NOTHING RETURNING *`,
  );
}

/** Records of a list that are shown. */
const MOST = 1_000;

/** Acknowledged records that are lost, the newest hold's first. */
export async function listLost(sql: Sql): Promise<readonly LostRecord[]> {
  return lostRecord.all(
    await sql`SELECT * FROM hub.lost_commit ORDER BY failover_id DESC, acknowledged_at LIMIT ${MOST}`,
  );
}
