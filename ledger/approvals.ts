import type { AnySql, Sql } from "./database/connect.ts";
import { type Page, type PageRequest, readCountedPage } from "./lists/list_page.ts";
import { type Amount, amountOf } from "./money/amount.ts";
import type { Actor } from "./money/duties.ts";
import type { Currency, Network } from "./money/pair.ts";
import { type SettlementAddressRow, settlementAddressTable } from "./payment_rows.ts";
import { shape } from "./shape.ts";
import { OVER_CAP } from "./treasury/queue.ts";
import { amount, orNull, type RowOf, text, time } from "./table.ts";

const approvalShape = shape({
  type: text<"withdrawal" | "settlement">(),
  id: text(),
  merchantId: text(),
  merchantName: text(),
  currency: text<Currency>(),
  network: text<Network>(),
  amount: amount(),
  totalFees: amount(),
  destination: text(),
  status: text(),
  createdAt: time(),
  /** The key that asked for it. */
  createdBy: orNull(text()),
  waitsFor: text<"approval" | "signer_cap">(),
});
/** A payout that waits for an administrator, or above the signer's cap for a person who raises it or gives it up. */
export type Approval = RowOf<typeof approvalShape>;

/** One page of everything that waits for an administrator, newest first. */
export async function listApprovals(sql: Sql, request: PageRequest): Promise<Page<Approval>> {
  const waiting = sql`
    FROM (
      SELECT 'withdrawal' AS type, id, merchant_id, currency, network, amount,
        base_fee + markup_amount + network_fee AS total_fees, destination, status, created_at, created_by,
        'approval' AS waits_for
      FROM book.withdrawal WHERE status = 'PENDING_APPROVAL' AND settlement_id IS NULL
      UNION ALL
      SELECT 'settlement', id, merchant_id, currency, network, amount, total_fees, address, status,
        created_at, created_by, 'approval'
      FROM book.settlement WHERE status = 'APPROVAL_REQUIRED'
      UNION ALL
      SELECT 'withdrawal', p.id, p.merchant_id, p.currency, p.network, p.amount,
        p.base_fee + p.markup_amount + p.network_fee, p.destination, p.status, p.created_at, p.created_by,
        'signer_cap'
      FROM book.outgoing o JOIN book.withdrawal p ON p.id = o.payment_id AND p.merchant_id = o.merchant_id
      WHERE o.status = 'queued' AND o.reason LIKE ${OVER_CAP}) w
    JOIN book.merchant m ON m.merchant_id = w.merchant_id`;
  return await readCountedPage(
    sql,
    sql`w.*, m.name AS merchant_name`,
    waiting,
    sql`w.created_at DESC, w.id DESC`,
    request,
    approvalShape.decode,
  );
}

/** Which addresses are wanted; absent fields do not restrict. */
export interface WhitelistFilter {
  readonly active?: boolean | undefined;
  readonly merchantId?: string | undefined;
}

/** One page of settlement addresses that are not removed, newest first; of all merchants where none is named. */
export async function listWhitelist(
  sql: Sql,
  { active, merchantId }: WhitelistFilter,
  request: PageRequest,
): Promise<Page<SettlementAddressRow>> {
  const matching = sql`
    FROM book.settlement_address a WHERE a.removed_at IS NULL
      ${active === undefined ? sql`` : sql`AND a.active = ${active}`}
      ${merchantId === undefined ? sql`` : sql`AND a.merchant_id = ${merchantId}`}`;
  const { decode } = settlementAddressTable;
  return await readCountedPage(sql, sql`a.*`, matching, sql`a.id DESC`, request, decode);
}

/**
 * Sum of what an administrator alone has confirmed by hand in the last 24 hours, whatever the currency: stablecoins
 * of one money are counted together. The commit counts again, under a lock: this is what it is likely to find.
 *
 * @param except a deposit that is left out: the one to be decided on
 */
export async function sumConfirmedByHand(
  sql: AnySql,
  { key, administrator }: Actor,
  except: string,
): Promise<Amount> {
  const [row] = await sql<{ sum: string }[]>`
    SELECT trim_scale(book.confirmed_alone(${key}::text, ${administrator}::text, ${except}))::text AS sum`;
  return amountOf(row?.sum ?? "0");
}

/**
 * True if money that a payout moves may come from deposits which an administrator has confirmed by
 * hand: any of the merchant's in that pair, of the last 30 days. Counts where persons are told apart.
 */
export async function hasFunded(
  sql: AnySql,
  withdrawalId: string,
  { key, administrator }: Actor,
): Promise<boolean> {
  const [row] = await sql<{ funded: boolean }[]>`
    SELECT book.has_funded(w.merchant_id, w.currency, w.network, ${key}::text, ${administrator}::text) AS funded
    FROM book.withdrawal w WHERE w.id = ${withdrawalId}`;
  return row?.funded ?? false;
}
