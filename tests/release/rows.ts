/**
 * Rows of a database as SQL text, without its schema: released migrations never change, so that the
 * schema of a release is there without being kept twice.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";

/** Writes itself: by `migrate`. */
const NOT_KEPT = "hub.migration";

interface Table {
  readonly name: string;
  /** Columns that are not generated. */
  readonly columns: readonly string[];
}

async function tablesOf(sql: Pick<Sql, "unsafe">): Promise<readonly Table[]> {
  const rows = await sql.unsafe(`
    SELECT c.oid::regclass::text AS name,
      array_agg(quote_ident(a.attname) ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '') AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text IN ('book', 'hub')
      AND c.oid <> '${NOT_KEPT}'::regclass
    GROUP BY c.oid ORDER BY c.oid::regclass::text COLLATE "C"`);
  return rows.map(({ name, columns }) => ({ name: String(name), columns }));
}

/** All rows of the schemas `book` and `hub`, one a line, in the order of their values. */
export async function dumpRows(sql: Sql): Promise<string> {
  return await sql.begin(async (tx) => {
    await tx`SET LOCAL TimeZone = 'UTC'`;
    const parts: string[] = [];
    for (const { name, columns } of await tablesOf(tx)) {
      const values = columns.map((column) => `quote_nullable(${column}::text)`);
      const rows = await tx.unsafe(`
        SELECT '(' || concat_ws(', ', ${values.join(", ")}) || ')' AS line
        FROM ${name} ORDER BY 1`);
      if (rows.length === 0) continue;
      const lines = rows.map(({ line }) => String(line)).join(",\n");
      parts.push(`INSERT INTO ${name} (${columns.join(", ")}) VALUES\n${lines};\n`);
    }
    return parts.join("\n");
  });
}

/**
 * Replaces all rows by those of {@linkcode dumpRows}, as a restore does: triggers and foreign keys
 * are not asked, CHECK and unique constraints are. The database is the one that the rows come from
 * then, also by its history.
 */
export async function loadRows(sql: Sql, text: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    for (const { name } of await tablesOf(tx)) await tx.unsafe(`DELETE FROM ${name}`);
    await tx.unsafe(text);
    await tx`
      UPDATE hub.database_history d SET system_identifier = h.system_identifier,
        timeline = h.timeline, database_oid = h.database_oid FROM hub.server_history() h`;
  });
}

/**
 * The books tell of a withdrawal that has waited for an administrator's verdict for an hour. Kept rows
 * are older than that some day, so those that wait are as old as on the day they were kept.
 */
export async function renewAwaitedVerdict(sql: Sql): Promise<void> {
  const waiting = await sql`
    UPDATE book.outgoing o SET updated_at = now()
    FROM book.withdrawal w JOIN book.inbox i USING (merchant_id)
    WHERE o.id = w.outgoing_id AND o.merchant_id = w.merchant_id AND w.status = 'PENDING' AND o.status = 'final'
      AND i.quarantine LIKE 'unexpected:%' AND i.data ->> 'outgoingId' = o.id
    RETURNING o.id`;
  assertEquals(waiting.length, 1, "one payout waits for a verdict");
}
