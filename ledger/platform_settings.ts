import { writeAudit, writeBookAudit } from "./audit.ts";
import { isRowLocked } from "./database/database_errors.ts";
import type { AnySql, Sql } from "./database/connect.ts";
import { type Amount, amountOf, formatAmount } from "./money/amount.ts";
import type { Duties } from "./money/duties.ts";
import type { FeeSettings } from "./money/fees.ts";
import type { Currency } from "./money/pair.ts";
import { type Patch, patched } from "./patch.ts";
import type { AuditRow } from "./rows.ts";
import { shape } from "./shape.ts";
import { amount, boolean, rate } from "./table.ts";

/** The row of book.setting as fee settings; its column `fees_enabled` is read as `enabled`. */
export const feeShape = shape({ enabled: boolean(), baseFee: amount(), markupRate: rate() });

/**
 * Changes the fees of all withdrawals to come, with its entry in the audit. A new epoch begins with it,
 * so that nothing is decided on the old fees afterwards.
 */
export async function updateFeeSettings(
  sql: Sql,
  patch: Patch<FeeSettings>,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<FeeSettings> {
  return await sql.begin(async (tx) => {
    const before = feeShape.first(
      await tx`SELECT fees_enabled AS enabled, base_fee, markup_rate FROM book.setting FOR UPDATE`,
    );
    if (before === null) throw new Error("Cannot change fees as there are none: book.setting");
    const after = patched(before, patch);
    await tx`
      UPDATE book.setting SET fees_enabled = ${after.enabled},
        base_fee = ${formatAmount(after.baseFee)}::text::numeric,
        markup_rate = ${after.markupRate}::text::numeric`;
    await writeBookAudit(tx, { ...audit, before: feesImage(before), after: feesImage(after) });
    return after;
  });
}

function feesImage(fees: FeeSettings) {
  return { ...fees, baseFee: formatAmount(fees.baseFee) };
}

/** Changes from which amount on settlements wait for an administrator, with the entry in the audit. */
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
    await writeBookAudit(tx, {
      ...audit,
      before: thresholdsImage(before),
      after: thresholdsImage(after),
    });
    return after;
  });
}

function thresholdsImage(thresholds: ReadonlyMap<Currency, Amount>) {
  return Object.fromEntries(
    [...thresholds].map(([currency, amount]) => [currency, formatAmount(amount)]),
  );
}

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
