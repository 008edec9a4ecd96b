/**
 * Chain events that a merchant could not take in: rows of the inbox that were quarantined with their
 * reason.
 *
 * @module
 */

import type { Fragment } from "postgres";
import { writeBookAudit } from "./audit.ts";
import type { AnySql, Sql } from "./database/connect.ts";
import { type Page, type PageRequest, readCountedPage } from "./lists/list_page.ts";
import type { Network } from "./money/pair.ts";
import { type AuditRow, INBOX_KEY, type InboxKey } from "./rows.ts";
import { shape } from "./shape.ts";
import { json, type RowOf, text, time } from "./table.ts";

/**
 * Kinds of reasons: `bug` and `unreadable` are faults of the service, `unexpected` is an own transaction
 * that succeeded without its transfer; `unclaimed` waits for its pair to be enabled, `claimed`
 * for the decision on a deposit by hand, `unproven` for the word of a second node; `misdirected` came in on
 * another network than its address was issued on, and is dealt with by hand; `renamed` has the place in its block of a
 * transfer that is booked by another id.
 */
export const QUARANTINE_KINDS = [
  "bug",
  "unreadable",
  "unexpected",
  "unclaimed",
  "claimed",
  "unproven",
  "misdirected",
  "renamed",
] as const;

/** One of {@linkcode QUARANTINE_KINDS}. */
export type QuarantineKind = (typeof QUARANTINE_KINDS)[number];

const quarantinedRow = shape({
  ...INBOX_KEY,
  /** Begins with its kind. */
  reason: text(),
  data: json<Readonly<Record<string, unknown>>>(),
  createdAt: time(),
});
export type QuarantinedRow = RowOf<typeof quarantinedRow>;

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
  request: PageRequest,
): Promise<Page<QuarantinedRow>> {
  const matching = sql`
    FROM book.inbox i WHERE i.consumed_at IS NULL AND i.quarantine IS NOT NULL
      ${kind === undefined ? sql`` : sql`AND split_part(i.quarantine, ':', 1) = ${kind}`}
      ${network === undefined ? sql`` : sql`AND i.network = ${network}`}
      ${merchantId === undefined ? sql`` : sql`AND i.merchant_id = ${merchantId}`}`;
  return await readCountedPage(
    sql,
    sql`i.*, i.quarantine AS reason`,
    matching,
    sql`i.created_at, i.txid, i.log_index, i.phase`,
    request,
    quarantinedRow.decode,
  );
}

/** The outcome of an operator's command. */
export type QuarantineOutcome = "done" | "not_found" | "not_so" | "needs_verdict";

/**
 * Gives a row back to its merchant that was quarantined by a fault of the service, because that may
 * be repaired. What waits for something else is given back by that: `not_so`.
 */
export async function retryQuarantined(
  sql: Sql,
  key: InboxKey,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<QuarantineOutcome> {
  return await sql.begin(async (tx) => {
    const held = await lockQuarantined(tx, key);
    if (held === null) return "not_found";
    const { reason } = held;
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
 * away, but where it came in on another network or is booked by another id, nor what waits for something: `not_so`. A payout that succeeded without the intended transfer
 * holds its merchant's money until an operator has found out what it did: `needs_verdict`. The row stays, with
 * both reasons.
 */
export async function acknowledgeQuarantined(
  sql: Sql,
  key: InboxKey,
  remark: string,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<QuarantineOutcome> {
  return await sql.begin(async (tx) => {
    const held = await lockQuarantined(tx, key);
    if (held === null) return "not_found";
    const { reason } = held;
    if (!canBeAcknowledged(held, key.phase)) return "not_so";
    if (reason.startsWith("unexpected:") && await isOpenPayout(tx, key)) return "needs_verdict";
    const reasons = `acknowledged: ${remark}; ${reason}`.slice(0, 1_000);
    await tx`
      UPDATE book.inbox i SET consumed_at = now(), quarantine = ${reasons} WHERE ${named(tx, key)}`;
    if (reason.startsWith("renamed:")) await giveUpSeen(tx, key);
    await writeBookAudit(tx, { ...audit, before: { reason }, after: { remark } });
    return "done";
  });
}

/** True where nothing is left to be booked: what came in on another network never is, nor what is booked by another id. */
function canBeAcknowledged({ reason, isApart }: Held, phase: InboxKey["phase"]): boolean {
  if (isApart) return true;
  return /^(bug|unreadable|unexpected):/.test(reason) && !MONEY_IN.has(phase);
}

/** Gives up what newest blocks have announced of a transfer that is booked by another id. */
async function giveUpSeen(sql: AnySql, key: InboxKey): Promise<void> {
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    SELECT i.merchant_id, i.network, i.txid, i.log_index, 'vanished',
      jsonb_build_object('reason', 'it is booked by another transaction id', 'to', i.data ->> 'to')
    FROM book.inbox i WHERE ${named(sql, key)}
    ON CONFLICT DO NOTHING`;
}

/** True if a row reports the end of a payout whose withdrawal has not ended. */
async function isOpenPayout(sql: AnySql, key: InboxKey): Promise<boolean> {
  const [row] = await sql<{ open: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM book.inbox i JOIN book.withdrawal w
        ON w.id = i.data ->> 'withdrawalId' AND w.merchant_id = i.merchant_id AND w.status = 'PENDING'
      WHERE ${named(sql, key)} AND i.phase = 'outcome') AS open`;
  return row?.open === true;
}

/** A row that is held by its lock. */
interface Held {
  readonly reason: string;
  /** True where it came in on another network than its address was issued on, to a lost address too, or is booked by another id. */
  readonly isApart: boolean;
}

async function lockQuarantined(sql: AnySql, key: InboxKey): Promise<Held | null> {
  const [row] = await sql<Held[]>`
    SELECT i.quarantine AS reason, i.data ?| ARRAY['issuedOn', 'bookedAs'] AS "isApart" FROM book.inbox i
    WHERE ${named(sql, key)} AND i.consumed_at IS NULL AND i.quarantine IS NOT NULL FOR UPDATE`;
  return row ?? null;
}

function named(sql: AnySql, { merchantId, network, txid, logIndex, phase }: InboxKey): Fragment {
  return sql`i.merchant_id = ${merchantId} AND i.network = ${network} AND i.txid = ${txid}
    AND i.log_index = ${logIndex} AND i.phase = ${phase}`;
}

/** The most claimed transfers that are looked at for their age. */
const MOST_CLAIMS = 10_000;

/**
 * Counts the transfers that have waited long for a deposit by hand that claims their transaction and was not
 * decided: they are the merchant's money, and nothing else asks for a decision. Of 10,000 at most.
 *
 * @param minutes how long is long
 */
export async function countOldClaims(sql: Sql, minutes: number): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    SELECT count(*)::int AS waiting FROM (
      SELECT created_at FROM book.inbox
      WHERE consumed_at IS NULL AND quarantine IS NOT NULL AND split_part(quarantine, ':', 1) = 'claimed'
      ORDER BY network, data ->> 'currency', created_at LIMIT ${MOST_CLAIMS}) claimed
    WHERE created_at < now() - make_interval(mins => ${minutes})`;
  return row?.waiting ?? 0;
}
