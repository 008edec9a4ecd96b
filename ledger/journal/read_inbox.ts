import type { Sql } from "postgres";
import type { InboxKey } from "../rows.ts";

/** A row of the inbox as it was written by the watcher. */
export interface InboxRow extends InboxKey {
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Reads what the chain said to the given merchants and was not consumed yet, oldest first.
 *
 * @param limit the most rows in all; what is left over is read by a later batch
 */
export async function readInbox(
  sql: Sql,
  merchantIds: readonly string[],
  limit: number,
): Promise<readonly InboxRow[]> {
  return await sql<InboxRow[]>`
    SELECT i.merchant_id AS "merchantId", i.network, i.txid, i.log_index AS "logIndex", i.phase, i.data
    FROM unnest(${[...merchantIds]}::text[]) AS m(merchant_id)
    CROSS JOIN LATERAL (
      SELECT * FROM book.inbox x
      WHERE x.merchant_id = m.merchant_id AND x.consumed_at IS NULL AND x.quarantine IS NULL
      ORDER BY x.created_at LIMIT ${limit}::int) i
    LIMIT ${limit}::int`;
}

/** Merchants with unconsumed inbox rows: whoever was told before a crash and did not hear it. */
export async function readInboxOwners(sql: Sql, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ merchant_id: string }[]>`
    SELECT DISTINCT merchant_id FROM book.inbox
    WHERE consumed_at IS NULL AND quarantine IS NULL LIMIT ${limit}::int`;
  return rows.map((row) => row.merchant_id);
}

/** Sets a row aside that its merchant cannot digest, so that it does not stop the others. */
export async function quarantineInboxRow(sql: Sql, key: InboxKey, reason: string): Promise<void> {
  await sql`
    UPDATE book.inbox SET quarantine = ${reason.slice(0, 500)}
    WHERE merchant_id = ${key.merchantId} AND network = ${key.network} AND txid = ${key.txid}
      AND log_index = ${key.logIndex} AND phase = ${key.phase} AND consumed_at IS NULL`;
}
