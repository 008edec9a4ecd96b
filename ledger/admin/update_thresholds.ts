import { type Amount, amountOf, formatAmount } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency } from "../pair.ts";
import type { AuditRow } from "../rows.ts";
import { writeBookAudit } from "./write_book_audit.ts";

/** Changes from which amount on settlements wait for an administrator, with the audit's line. */
export async function updateThresholds(
  sql: Sql,
  thresholds: ReadonlyMap<Currency, Amount>,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<ReadonlyMap<Currency, Amount>> {
  return await sql.begin(async (tx) => {
    const rows = await tx<{ currency: Currency; amount: string }[]>`
      SELECT currency, trim_scale(amount)::text AS amount FROM book.settlement_threshold
      ORDER BY currency FOR UPDATE`;
    const before = new Map(rows.map((row) => [row.currency, amountOf(row.amount)]));
    for (const [currency, amount] of thresholds) {
      await tx`
        UPDATE book.settlement_threshold SET amount = ${formatAmount(amount)}::text::numeric
        WHERE currency = ${currency}`;
    }
    const after = new Map([...before, ...thresholds]);
    await writeBookAudit(tx, { ...audit, before: imageOf(before), after: imageOf(after) });
    return after;
  });
}

function imageOf(thresholds: ReadonlyMap<Currency, Amount>) {
  return Object.fromEntries(
    [...thresholds].map(([currency, amount]) => [currency, formatAmount(amount)]),
  );
}
