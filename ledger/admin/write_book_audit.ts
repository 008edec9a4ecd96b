import type { AnySql } from "../database/connect.ts";
import { type AuditRow, auditTable } from "../rows.ts";

/** Writes a line of the audit of the books, in the transaction of what it tells of. */
export async function writeBookAudit(sql: AnySql, audit: AuditRow): Promise<void> {
  await sql`
    INSERT INTO book.audit SELECT * FROM unnest(${auditTable.encode([audit])}::book.audit[])`;
}
