import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import type { OutgoingRow } from "../rows.ts";

/** Transfers that wait for the same thing. */
export interface WaitingGroup {
  readonly kind: OutgoingRow["kind"];
  readonly currency: OutgoingAsset;
  readonly status: "queued" | "signed";
  /** As the treasury last said; null: for its turn, or for a block. */
  readonly reason: string | null;
  readonly count: number;
  readonly amount: Amount;
  /** Since when the oldest of them exists, Unix milliseconds. */
  readonly oldestAt: number;
}

/** Groups that are shown, the oldest first. */
const SHOWN = 50;

/** What is queued and what is signed and not final, by what it waits for. */
export async function sumWaiting(sql: Sql, network: Network): Promise<readonly WaitingGroup[]> {
  const rows = await sql<
    {
      kind: OutgoingRow["kind"];
      currency: OutgoingAsset;
      status: WaitingGroup["status"];
      reason: string | null;
      count: number;
      amount: string;
      oldest_at: Date;
    }[]
  >`
    SELECT kind, currency, status, regexp_replace(reason, 'out_[0-9a-f-]+', '...', 'g') AS reason,
      count(*)::int AS count, trim_scale(sum(amount))::text AS amount, min(created_at) AS oldest_at
    FROM (
      -- one part per state: each has an index of its own, and what has ended is never read
      SELECT * FROM book.outgoing WHERE network = ${network} AND status = 'queued'
      UNION ALL SELECT * FROM book.outgoing WHERE network = ${network} AND status = 'signed') waiting
    GROUP BY 1, 2, 3, 4 ORDER BY oldest_at, 1, 2, 3, 4 LIMIT ${SHOWN}`;
  return rows.map(({ amount, oldest_at, ...row }) => ({
    ...row,
    amount: amountOf(amount),
    oldestAt: oldest_at.getTime(),
  }));
}
