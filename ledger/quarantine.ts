/**
 * What the chain said and a merchant could not digest: rows of the inbox that were quarantined with
 * their reason.
 *
 * @module
 */

import type { Fragment } from "postgres";
import { writeBookAudit } from "./audit.ts";
import type { AnySql, Sql } from "./database/connect.ts";
import type { Page, PageRequest } from "./lists/list_page.ts";
import type { Network } from "./money/pair.ts";
import type { AuditRow, InboxKey } from "./rows.ts";

/**
 * Why a row is quarantined: `bug` and `unreadable` are faults of ours, `unexpected` a transaction of
 * ours that succeeded without its transfer; `unclaimed` waits for its pair to be enabled, `claimed`
 * for the decision on a deposit by hand, `unproven` for the word of a second node.
 */
export const QUARANTINE_KINDS = [
  "bug",
  "unreadable",
  "unexpected",
  "unclaimed",
  "claimed",
  "unproven",
] as const;

/** One of {@linkcode QUARANTINE_KINDS}. */
export type QuarantineKind = (typeof QUARANTINE_KINDS)[number];

/** A row that is quarantined. */
export interface QuarantinedRow extends InboxKey {
  /** Begins with its kind. */
  readonly reason: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

/** Which rows are wanted; absent fields do not restrict. */
export interface QuarantineFilter {
  readonly kind?: QuarantineKind | undefined;
  readonly network?: Network | undefined;
  readonly merchantId?: string | undefined;
}

/** One page of what is quarantined, oldest first. */
export async function listQuarantine(
  sql: Sql,
  { kind, network, merchantId }: QuarantineFilter,
  { page, limit }: PageRequest,
): Promise<Page<QuarantinedRow>> {
  const matching = sql`
    FROM book.inbox i WHERE i.consumed_at IS NULL AND i.quarantine IS NOT NULL
      ${kind === undefined ? sql`` : sql`AND i.quarantine LIKE ${`${kind}:%`}`}
      ${network === undefined ? sql`` : sql`AND i.network = ${network}`}
      ${merchantId === undefined ? sql`` : sql`AND i.merchant_id = ${merchantId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${matching}`,
    sql<(Omit<QuarantinedRow, "createdAt"> & { readonly createdAt: Date })[]>`
      SELECT i.merchant_id AS "merchantId", i.network, i.txid, i.log_index AS "logIndex", i.phase,
        i.quarantine AS reason, i.data, i.created_at AS "createdAt" ${matching}
      ORDER BY i.created_at, i.txid, i.log_index, i.phase
      OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => ({ ...row, createdAt: row.createdAt.getTime() })),
  };
}

/** What became of a wish of the operator's. */
export type QuarantineOutcome = "done" | "not_found" | "not_so" | "needs_verdict";

/**
 * Gives a row back to its merchant that was quarantined by a fault of ours, because that may be
 * repaired. What waits for something else is given back by that: `not_so`.
 */
export async function retryQuarantined(
  sql: Sql,
  key: InboxKey,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<QuarantineOutcome> {
  return await sql.begin(async (tx) => {
    const reason = await lockQuarantined(tx, key);
    if (reason === null) return "not_found";
    if (!/^(bug|unreadable):/.test(reason)) return "not_so";
    await tx`UPDATE book.inbox i SET quarantine = NULL WHERE ${named(tx, key)}`;
    await writeBookAudit(tx, { ...audit, before: { reason }, after: null });
    return "done";
  });
}

/** Phases that bring money: what they say must be booked, however long it takes. */
const MONEY_IN = new Set<InboxKey["phase"]>(["seen", "solid", "margin", "swept"]);

/**
 * Takes a row off the list that an operator has dealt with. Money that has come in cannot be waved
 * away, nor what waits for something: `not_so`. A payout that succeeded without the intended transfer
 * holds its merchant's money until somebody says what it did: `needs_verdict`. The row stays, with
 * both reasons.
 */
export async function acknowledgeQuarantined(
  sql: Sql,
  key: InboxKey,
  remark: string,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<QuarantineOutcome> {
  return await sql.begin(async (tx) => {
    const reason = await lockQuarantined(tx, key);
    if (reason === null) return "not_found";
    if (!/^(bug|unreadable|unexpected):/.test(reason) || MONEY_IN.has(key.phase)) return "not_so";
    if (reason.startsWith("unexpected:") && await isOpenPayout(tx, key)) return "needs_verdict";
    const kept = `acknowledged: ${remark}; ${reason}`.slice(0, 1_000);
    await tx`
      UPDATE book.inbox i SET consumed_at = now(), quarantine = ${kept} WHERE ${named(tx, key)}`;
    await writeBookAudit(tx, { ...audit, before: { reason }, after: { remark } });
    return "done";
  });
}

/** True if a row tells the end of a payout whose withdrawal has not ended. */
async function isOpenPayout(sql: AnySql, key: InboxKey): Promise<boolean> {
  const [row] = await sql<{ open: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM book.inbox i JOIN book.withdrawal w
        ON w.id = i.data ->> 'withdrawalId' AND w.merchant_id = i.merchant_id AND w.status = 'PENDING'
      WHERE ${named(sql, key)} AND i.phase = 'outcome') AS open`;
  return row?.open === true;
}

async function lockQuarantined(sql: AnySql, key: InboxKey): Promise<string | null> {
  const [row] = await sql<{ quarantine: string }[]>`
    SELECT i.quarantine FROM book.inbox i
    WHERE ${named(sql, key)} AND i.consumed_at IS NULL AND i.quarantine IS NOT NULL FOR UPDATE`;
  return row?.quarantine ?? null;
}

function named(sql: AnySql, { merchantId, network, txid, logIndex, phase }: InboxKey): Fragment {
  return sql`i.merchant_id = ${merchantId} AND i.network = ${network} AND i.txid = ${txid}
    AND i.log_index = ${logIndex} AND i.phase = ${phase}`;
}

/**
 * Counts the transfers that have waited long for a deposit by hand that claims their transaction and was not
 * decided: they are the merchant's money, which nobody is asked about otherwise.
 *
 * @param minutes how long is long
 */
export async function readHeldClaims(sql: Sql, minutes: number): Promise<number> {
  const [row] = await sql<{ held: number }[]>`
    SELECT count(*)::int AS held FROM book.inbox
    WHERE consumed_at IS NULL AND quarantine LIKE 'claimed:%'
      AND created_at < now() - make_interval(mins => ${minutes})`;
  return row?.held ?? 0;
}
