import type { AnySql } from "./database/connect.ts";
import { type AuditRow, auditTable } from "./rows.ts";

/** An act, done or refused, on something that belongs to no merchant's books. */
export interface HubAudit {
  readonly id: string;
  /** The merchant concerned, null where there is none. */
  readonly merchantId: string | null;
  /** The key that was used. */
  readonly actor: string;
  /** For example `api-key.create`. */
  readonly action: string;
  /** Id of the record. */
  readonly subject: string;
  readonly before: Readonly<Record<string, AuditValue>> | null;
  readonly after: Readonly<Record<string, AuditValue>> | null;
  /** The reason why it was refused; null: it was done. */
  readonly refused?: string | null;
  readonly requestId: string | null;
}

/** A value as the audit stores it; never a secret. */
export type AuditValue = string | number | boolean | null | readonly string[];

/** Writes an entry of the audit, in the transaction of the act where there is one. */
export async function writeAudit(sql: AnySql, audit: HubAudit): Promise<void> {
  await sql`
    INSERT INTO hub.audit (id, merchant_id, actor, action, subject, before, after, refused, request_id)
    VALUES (${audit.id}, ${audit.merchantId}, ${audit.actor}, ${audit.action}, ${audit.subject},
      ${image(audit.before)}::text::jsonb, ${image(audit.after)}::text::jsonb, ${
    audit.refused ?? null
  },
      ${audit.requestId})`;
}

function image(value: HubAudit["before"]): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Writes an entry of the audit of the books, in the transaction of the act. */
export async function writeBookAudit(sql: AnySql, audit: AuditRow): Promise<void> {
  await sql`
    INSERT INTO book.audit SELECT * FROM unnest(${auditTable.encode([audit])}::book.audit[])`;
}
