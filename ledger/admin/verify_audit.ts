import type { AnySql } from "../database/connect.ts";

/** How far the chain of the audit reaches: the number of its newest line, and that line's hash. */
export interface AuditHead {
  readonly number: string;
  /** SHA-256, lowercase hex; empty while nothing was audited. */
  readonly hash: string;
}

/** What is wrong with the audit at one place. */
export interface AuditFault {
  /** The link; null for a line that is in none. */
  readonly number: string | null;
  readonly auditId: string | null;
  readonly fault: string;
}

/** Answer of {@linkcode verifyAudit}. */
export interface AuditVerdict {
  readonly head: AuditHead;
  /** At most 100 of them. */
  readonly faults: readonly AuditFault[];
}

/**
 * Computes the chain of the audit again, in one snapshot.
 *
 * @param known a head that was written down before, outside of this database: whoever can rewrite the
 *   whole chain cannot make it pass through that again. Null: none
 */
export async function verifyAudit(sql: AnySql, known: AuditHead | null): Promise<AuditVerdict> {
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
