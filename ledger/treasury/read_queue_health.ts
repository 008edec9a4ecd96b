import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "./platform_account.ts";

/** State of the queue of merchants' payouts. */
export interface QueueHealth {
  /** Since when the oldest payout waits that nothing but its turn holds, Unix milliseconds; null: none. */
  readonly payableSince: number | null;
  /** Payouts above the signer's cap per transaction: they wait for a person. */
  readonly overCap: { readonly count: number; readonly oldestAt: number | null };
  /** Payouts that something about themselves keeps from being signed: odd data, a transfer that would fail. */
  readonly quarantined: { readonly count: number; readonly oldestAt: number | null };
}

/** Counts what waits in the queue of a network, by whether a turn, a person or its own data is lacking. */
export async function readQueueHealth(sql: Sql, network: Network): Promise<QueueHealth> {
  const [row] = await sql<{
    payable: Date | null;
    capped: number;
    capped_at: Date | null;
    quarantined: number;
    quarantined_at: Date | null;
  }[]>`
    WITH waiting AS (
      SELECT o.created_at,
        -- the words of sign_queued.ts, prepare_batch.ts and waits.ts
        CASE WHEN o.reason LIKE 'signer: over-limit: %per transaction' THEN 'capped'
          WHEN o.reason IS NULL OR o.reason IN ('waiting for another try', 'waiting for the signer')
            OR o.reason IN ('waiting for a node that is up to date', 'waiting for nodes to answer') THEN 'payable'
          WHEN o.reason LIKE 'waiting for %' OR o.reason LIKE 'signer: %' THEN 'held'
          ELSE 'quarantined' END AS state
      FROM book.outgoing o
      WHERE o.network = ${network} AND o.status = 'queued' AND o.merchant_id <> ${PLATFORM_ACCOUNT}
        AND NOT EXISTS (
          SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
    )
    SELECT min(created_at) FILTER (WHERE state = 'payable') AS payable,
      (count(*) FILTER (WHERE state = 'capped'))::int AS capped,
      min(created_at) FILTER (WHERE state = 'capped') AS capped_at,
      (count(*) FILTER (WHERE state = 'quarantined'))::int AS quarantined,
      min(created_at) FILTER (WHERE state = 'quarantined') AS quarantined_at
    FROM waiting`;
  if (row === undefined) throw new Error(`Cannot count a queue as nothing was read: ${network}`);
  const { payable, capped, capped_at, quarantined, quarantined_at } = row;
  return {
    payableSince: payable?.getTime() ?? null,
    overCap: { count: capped, oldestAt: capped_at?.getTime() ?? null },
    quarantined: { count: quarantined, oldestAt: quarantined_at?.getTime() ?? null },
  };
}
