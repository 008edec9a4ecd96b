import postgres from "postgres";
import { formatAmount } from "../amount.ts";
import type { AnySql, Sql } from "../database/connect.ts";
import type { Duties } from "../duties.ts";
import { writeAudit } from "./write_audit.ts";

/** The rules in the database, and whether they are those of this service. */
interface KeptDuties {
  readonly fourEyes: string;
  readonly limit: string;
  readonly isSame: boolean;
}

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Makes the database enforce the rules that this service was started with. A change is audited, as it
 * decides whose word is enough for a payment.
 *
 * Nothing is locked where the rules are the same: each confirmation by hand holds them until its commit is
 * answered, which takes as long as a synchronous standby is away.
 *
 * @param auditId id of the line of the audit, used only where something changed
 * @returns `held`: the rules differ and were not changed, as another transaction has held them, or the head
 * of the audit, for a second
 */
export async function keepDuties(
  sql: Sql,
  duties: Duties,
  auditId: string,
): Promise<"kept" | "held"> {
  const { fourEyes, aloneUpTo } = duties;
  const limit = formatAmount(aloneUpTo);
  if ((await readDuties(sql, duties)).isSame) return "kept";
  try {
    await sql.begin(async (tx) => {
      await tx`SET LOCAL lock_timeout = '1s'`;
      const kept = await readDuties(tx, duties, tx`FOR NO KEY UPDATE`);
      if (kept.isSame) return;
      await tx`
        UPDATE book.duty SET four_eyes = ${fourEyes}, alone_up_to = ${limit}::numeric, updated_at = now()`;
      await writeAudit(tx, {
        id: auditId,
        merchantId: null,
        actor: "configuration",
        action: "duties.set",
        subject: "duties",
        before: { fourEyes: kept.fourEyes, aloneUpTo: kept.limit },
        after: { fourEyes, aloneUpTo: limit },
        requestId: null,
      });
    });
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.code === LOCK_NOT_AVAILABLE) return "held";
    throw error;
  }
  return "kept";
}

async function readDuties(
  sql: AnySql,
  { fourEyes, aloneUpTo }: Duties,
  lock = sql``,
): Promise<KeptDuties> {
  const [kept] = await sql<KeptDuties[]>`
    SELECT four_eyes AS "fourEyes", trim_scale(alone_up_to)::text AS limit,
      four_eyes = ${fourEyes} AND alone_up_to = ${formatAmount(aloneUpTo)}::numeric AS "isSame"
    FROM book.duty ${lock}`;
  if (kept === undefined) throw new Error("Cannot keep the duties as their row is missing");
  return kept;
}
