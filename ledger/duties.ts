/**
 * The rules of approval as the database enforces them.
 *
 * @module
 */

import { writeAudit } from "./audit.ts";
import type { AnySql, Sql } from "./database/connect.ts";
import { isRowLocked } from "./database/database_errors.ts";
import { formatAmount } from "./money/amount.ts";
import type { Duties } from "./money/duties.ts";

/** The rules in the database, and whether they are those of this service. */
interface StoredDuties {
  readonly fourEyes: string;
  readonly limit: string;
  readonly isSame: boolean;
}

/**
 * Makes the database enforce the rules that this service was started with. A change is audited, as it
 * decides whose word is enough for a payment.
 *
 * Nothing is locked where the rules are the same: each confirmation by hand holds them until its commit is
 * answered, which takes as long as a synchronous standby is away.
 *
 * @param auditId id of the entry in the audit, used only where something changed
 * @returns `locked`: the rules differ and were not changed, as another transaction has locked them, or the
 * head of the audit, for a second
 */
export async function storeDuties(
  sql: Sql,
  duties: Duties,
  auditId: string,
): Promise<"stored" | "locked"> {
  const { fourEyes, aloneUpTo } = duties;
  const limit = formatAmount(aloneUpTo);
  if ((await readDuties(sql, duties)).isSame) return "stored";
  try {
    await sql.begin(async (tx) => {
      await tx`SET LOCAL lock_timeout = '1s'`;
      const stored = await readDuties(tx, duties, tx`FOR NO KEY UPDATE`);
      if (stored.isSame) return;
      await tx`
        UPDATE book.duty SET four_eyes = ${fourEyes}, alone_up_to = ${limit}::numeric, updated_at = now()`;
      await writeAudit(tx, {
        id: auditId,
        merchantId: null,
        actor: "configuration",
        action: "duties.set",
        subject: "duties",
        before: { fourEyes: stored.fourEyes, aloneUpTo: stored.limit },
        after: { fourEyes, aloneUpTo: limit },
        requestId: null,
      });
    });
  } catch (error) {
    if (isRowLocked(error)) return "locked";
    throw error;
  }
  return "stored";
}

async function readDuties(
  sql: AnySql,
  { fourEyes, aloneUpTo }: Duties,
  lock = sql``,
): Promise<StoredDuties> {
  const [stored] = await sql<StoredDuties[]>`
    SELECT four_eyes AS "fourEyes", trim_scale(alone_up_to)::text AS limit,
      four_eyes = ${fourEyes} AND alone_up_to = ${formatAmount(aloneUpTo)}::numeric AS "isSame"
    FROM book.duty ${lock}`;
  if (stored === undefined) throw new Error("Cannot keep the duties as their row is missing");
  return stored;
}
