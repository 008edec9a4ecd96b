import postgres from "postgres";
import { writeAudit, writeBookAudit } from "./audit.ts";
import type { AnySql, Sql } from "./database/connect.ts";
import { type Amount, amountOf, formatAmount } from "./money/amount.ts";
import type { Duties } from "./money/duties.ts";
import { type FeeSettings, parseRate } from "./money/fees.ts";
import type { Currency } from "./money/pair.ts";
import type { AuditRow } from "./rows.ts";

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
    await writeBookAudit(tx, { ...audit, before: feesImage(old), after: feesImage(next) });
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

function feesImage(fees: FeeSettings) {
  return { ...fees, baseFee: formatAmount(fees.baseFee) };
}

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
