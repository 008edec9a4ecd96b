import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";

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
