import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** A transaction of the service's own. */
export interface FoundAttempt {
  /** The transfer that it carries. */
  readonly outgoingId: string;
  /**
   * Whether it was declared dead. Its transfer was queued again or given up then, so that where it is
   * on the chain after all, nothing but a verdict keeps the transfer from being made twice.
   */
  readonly isExpired: boolean;
}

/**
 * Finds which transfer of the service's own a transaction carries; `null`: none. Such a transaction
 * is kept before it is first sent, so whatever is on the chain and not kept was made elsewhere.
 */
export async function findAttempt(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<FoundAttempt | null> {
  const [row] = await sql<FoundAttempt[]>`
    SELECT outgoing_id AS "outgoingId", outcome IS NOT DISTINCT FROM 'expired' AS "isExpired"
    FROM book.attempt WHERE txid = ${txid} AND network = ${network}`;
  return row ?? null;
}
