import type { AnySql, Sql } from "./database/connect.ts";
import type { Page, PageRequest } from "./lists/list_page.ts";
import { shape } from "./shape.ts";
import { json, orNull, type RowOf, text, time } from "./table.ts";

const auditLine = shape({
  id: text(),
  merchantId: orNull(text()),
  /** The key that was used, and its label where it still exists. */
  actor: text(),
  actorLabel: orNull(text()),
  action: text(),
  subject: text(),
  before: json<unknown>(),
  after: json<unknown>(),
  /** The reason why it was refused; null: it was done. */
  refused: orNull(text()),
  requestId: orNull(text()),
  createdAt: time(),
});
/** An entry of the audit, from the books or from the hub. */
export type AuditLine = RowOf<typeof auditLine>;

/** The entries that are wanted; absent fields do not restrict. */
export interface AuditFilter {
  readonly merchantId?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Older than, Unix milliseconds. */
  readonly until?: number | undefined;
}

/** One page of what administrators did, newest first. */
export async function listAudit(
  sql: Sql,
  filter: AuditFilter,
  { page, limit }: PageRequest,
): Promise<Page<AuditLine>> {
  const { merchantId, actor, action, subject, from, until } = filter;
  const where = sql`WHERE true
    ${merchantId === undefined ? sql`` : sql`AND merchant_id = ${merchantId}`}
    ${actor === undefined ? sql`` : sql`AND actor = ${actor}`}
    ${action === undefined ? sql`` : sql`AND action = ${action}`}
    ${subject === undefined ? sql`` : sql`AND subject = ${subject}`}
    ${from === undefined ? sql`` : sql`AND created_at >= ${new Date(from)}`}
    ${until === undefined ? sql`` : sql`AND created_at < ${new Date(until)}`}`;
  // ids are made in the order of time, so that each half is read by its primary key
  const newest = page * limit;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`
      SELECT (SELECT count(*) FROM book.audit ${where}) + (SELECT count(*) FROM hub.audit ${where}) AS total`,
    sql`
      SELECT a.*, k.label AS actor_label FROM (
        (SELECT id, merchant_id, actor, action, subject, before, after, NULL::text AS refused, request_id, created_at
         FROM book.audit ${where} ORDER BY id DESC LIMIT ${newest})
        UNION ALL
        (SELECT id, merchant_id, actor, action, subject, before, after, refused, request_id, created_at
         FROM hub.audit ${where} ORDER BY id DESC LIMIT ${newest})) a
      LEFT JOIN hub.api_key k ON k.id = a.actor
      ORDER BY a.id DESC OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return { total: Number(counted?.total ?? 0), rows: auditLine.all(rows) };
}

/** The end of the chain of the audit: the number of its newest entry, and that entry's hash. */
export interface AuditHead {
  readonly number: string;
  /** SHA-256, lowercase hex; empty while nothing was audited. */
  readonly hash: string;
}

/** A fault of the audit at one place. */
export interface AuditFault {
  /** The link; null for an entry that is in none. */
  readonly number: string | null;
  readonly auditId: string | null;
  readonly fault: string;
}

/** Answer of {@linkcode verifyAudit}. */
export interface AuditCheck {
  readonly head: AuditHead;
  /** At most 100 of them. */
  readonly faults: readonly AuditFault[];
}

/**
 * Computes the chain of the audit again, in one snapshot.
 *
 * @param known a head that was written down before, outside of this database: a writer who can rewrite
 *   the whole chain cannot make it pass through that again. Null: none
 */
export async function verifyAudit(sql: AnySql, known: AuditHead | null): Promise<AuditCheck> {
  const [row] = await sql<{ head: AuditHead; faults: AuditFault[]; isKnown: boolean }[]>`
    SELECT (SELECT jsonb_build_object('number', number::text, 'hash', encode(hash, 'hex')) FROM hub.audit_head) AS head,
      coalesce((SELECT jsonb_agg(jsonb_build_object('number', number::text, 'auditId', audit_id, 'fault', fault))
        FROM hub.verify_audit()), '[]') AS faults,
      EXISTS (SELECT FROM hub.audit_chain c WHERE c.number::text = ${known?.number ?? null}
        AND encode(c.hash, 'hex') = ${known?.hash ?? null}) AS "isKnown"`;
  if (row === undefined) throw new Error("Cannot verify the audit as its head is missing");
  const { head, faults, isKnown } = row;
  if (known === null || isKnown) return { head, faults };
  const fault = "the link does not have the hash that was written down";
  return { head, faults: [{ number: known.number, auditId: null, fault }, ...faults] };
}
