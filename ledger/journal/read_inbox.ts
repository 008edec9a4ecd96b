import type { Sql } from "postgres";
import type { InboxKey } from "../rows.ts";

/** A row of the inbox as it was written by the watcher. */
export interface InboxRow extends InboxKey {
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Reads chain events of the given merchants that are not consumed yet, oldest first.
 *
 * @param share the most rows of each; what is left over is read by a later batch
 */
export async function readInbox(
  sql: Sql,
  merchantIds: readonly string[],
  share: number,
): Promise<readonly InboxRow[]> {
  return await sql<InboxRow[]>`
    SELECT i.merchant_id AS "merchantId", i.network, i.txid, i.log_index AS "logIndex", i.phase, i.data
    FROM unnest(${[...merchantIds]}::text[]) AS m(merchant_id)
    CROSS JOIN LATERAL (
      SELECT * FROM book.inbox x
      WHERE x.merchant_id = m.merchant_id AND x.consumed_at IS NULL AND x.quarantine IS NULL
      ORDER BY x.created_at LIMIT ${share}::int) i`;
}

/** Merchants with unconsumed inbox rows: those whose wake-up was lost in a crash. */
export async function readInboxOwners(sql: Sql, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ merchant_id: string }[]>`
    SELECT DISTINCT merchant_id FROM book.inbox
    WHERE consumed_at IS NULL AND quarantine IS NULL LIMIT ${limit}::int`;
  return rows.map((row) => row.merchant_id);
}
