import { amountOf, formatAmount } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import { type FeeSettings, parseRate } from "../fees.ts";
import type { AuditRow } from "../rows.ts";
import { writeBookAudit } from "./write_book_audit.ts";

/** Fields that are changed; absent ones stay. */
export interface FeePatch {
  readonly enabled?: boolean | undefined;
  readonly baseFee?: FeeSettings["baseFee"] | undefined;
  readonly markupRate?: FeeSettings["markupRate"] | undefined;
}

interface Columns {
  readonly fees_enabled: boolean;
  readonly base_fee: string;
  readonly markup_rate: string;
}

/**
 * Changes the fees of all withdrawals to come, with the line of the audit. The epoch rises with it,
 * so that nothing is decided on the old fees afterwards.
 */
export async function updateFeeSettings(
  sql: Sql,
  patch: FeePatch,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<FeeSettings> {
  return await sql.begin(async (tx) => {
    const columns = tx`fees_enabled, trim_scale(base_fee)::text AS base_fee,
      trim_scale(markup_rate)::text AS markup_rate`;
    const [before] = await tx<Columns[]>`SELECT ${columns} FROM book.setting FOR UPDATE`;
    if (before === undefined) throw new Error("Cannot change fees as there are none: book.setting");
    const old = feesOf(before);
    const next = {
      enabled: patch.enabled ?? old.enabled,
      baseFee: patch.baseFee ?? old.baseFee,
      markupRate: patch.markupRate ?? old.markupRate,
    };
    await tx`
      UPDATE book.setting SET fees_enabled = ${next.enabled},
        base_fee = ${formatAmount(next.baseFee)}::text::numeric,
        markup_rate = ${next.markupRate}::text::numeric`;
    await writeBookAudit(tx, { ...audit, before: imageOf(old), after: imageOf(next) });
    return next;
  });
}

function feesOf(row: Columns): FeeSettings {
  const markupRate = parseRate(row.markup_rate);
  if (markupRate === null) {
    throw new Error(`Cannot read fees as the markup is no rate: ${row.markup_rate}`);
  }
  return { enabled: row.fees_enabled, baseFee: amountOf(row.base_fee), markupRate };
}

function imageOf(fees: FeeSettings) {
  return { ...fees, baseFee: formatAmount(fees.baseFee) };
}
