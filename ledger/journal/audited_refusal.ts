import postgres from "postgres";

/**
 * Why the database refused a write that an audited command is in. `same_administrator`: another person
 * has to decide; `second_administrator`: one alone may not, and nobody has endorsed it yet; `held`: another
 * transaction holds a row that all audited commands need, and no other message does.
 */
export type AuditedRefusal = "same_administrator" | "second_administrator" | "held";

/** What the duties' triggers say (`0018_duties.sql`). */
const RULES: Readonly<Record<string, AuditedRefusal>> = {
  SD001: "same_administrator",
  SD002: "second_administrator",
};
const LOCK_NOT_AVAILABLE = "55P03";
/** The functions that lock such a row, as the server names them in the context of an error. */
const LOCKING = ["hub.chain_audit()", "book.check_confirmed_by_hand()"];

/** Tells whether only audited commands can be to blame for an error of a write, and for what. */
export function auditedRefusal(error: unknown): AuditedRefusal | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  if (error.code !== LOCK_NOT_AVAILABLE) return RULES[error.code] ?? null;
  return LOCKING.some((name) => error.where?.includes(name)) ? "held" : null;
}
