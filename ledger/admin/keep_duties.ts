import { formatAmount } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Duties } from "../duties.ts";
import { writeAudit } from "./write_audit.ts";

/**
 * Makes the database enforce the rules that this service was started with. A change is audited, as it
 * decides whose word is enough for a payment.
 *
 * @param auditId id of the line of the audit, used only where something changed
 */
export async function keepDuties(sql: Sql, duties: Duties, auditId: string): Promise<void> {
  const { fourEyes, aloneUpTo } = duties;
  const limit = formatAmount(aloneUpTo);
  await sql.begin(async (tx) => {
    const [kept] = await tx<{ fourEyes: string; limit: string; isSame: boolean }[]>`
      SELECT four_eyes AS "fourEyes", trim_scale(alone_up_to)::text AS limit,
        four_eyes = ${fourEyes} AND alone_up_to = ${limit}::numeric AS "isSame"
      FROM book.duty FOR UPDATE`;
    if (kept === undefined) throw new Error("Cannot keep the duties as their row is missing");
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
}
