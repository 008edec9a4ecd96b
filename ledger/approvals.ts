import type { AnySql, Sql } from "./database/connect.ts";
import type { Page, PageRequest } from "./lists/list_page.ts";
import { type Amount, amountOf } from "./money/amount.ts";
import type { Actor } from "./money/duties.ts";
import type { Currency, Network } from "./money/pair.ts";
import { type SettlementAddressRow, settlementAddressTable } from "./rows.ts";

/** A payout that waits for an administrator. */
export interface Approval {
  readonly type: "withdrawal" | "settlement";
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly totalFees: Amount;
  readonly destination: string;
  readonly status: string;
  readonly createdAt: number;
  /** The key that asked for it. */
  readonly createdBy: string | null;
}

/** One page of everything that waits for an administrator, newest first. */
export async function listApprovals(
  sql: Sql,
  { page, limit }: PageRequest,
): Promise<Page<Approval>> {
  const waiting = sql`
    SELECT 'withdrawal' AS type, id, merchant_id, currency, network, amount,
      base_fee + markup_amount + network_fee AS total_fees, destination, status, created_at, created_by
    FROM book.withdrawal WHERE status = 'PENDING_APPROVAL' AND settlement_id IS NULL
    UNION ALL
    SELECT 'settlement', id, merchant_id, currency, network, amount, total_fees, address, status, created_at,
      created_by
    FROM book.settlement WHERE status = 'APPROVAL_REQUIRED'`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total FROM (${waiting}) w`,
    sql<{
      type: Approval["type"];
      id: string;
      merchant_id: string;
      name: string;
      currency: Currency;
      network: Network;
      amount: string;
      total_fees: string;
      destination: string;
      status: string;
      created_at: Date;
      created_by: string | null;
    }[]>`
      SELECT w.type, w.id, w.merchant_id, m.name, w.currency, w.network,
        trim_scale(w.amount)::text AS amount, trim_scale(w.total_fees)::text AS total_fees,
        w.destination, w.status, w.created_at, w.created_by
      FROM (${waiting}) w JOIN book.merchant m ON m.merchant_id = w.merchant_id
      ORDER BY w.created_at DESC, w.id DESC OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => ({
      type: row.type,
      id: row.id,
      merchantId: row.merchant_id,
      merchantName: row.name,
      currency: row.currency,
      network: row.network,
      amount: amountOf(row.amount),
      totalFees: amountOf(row.total_fees),
      destination: row.destination,
      status: row.status,
      createdAt: row.created_at.getTime(),
      createdBy: row.created_by,
    })),
  };
}

/** Which addresses are wanted; absent fields do not restrict. */
export interface WhitelistFilter {
  readonly active?: boolean | undefined;
  readonly merchantId?: string | undefined;
}

/** One page of all merchants' settlement addresses that are not removed, newest first. */
export async function listWhitelist(
  sql: Sql,
  { active, merchantId }: WhitelistFilter,
  { page, limit }: PageRequest,
): Promise<Page<SettlementAddressRow>> {
  const matching = sql`
    FROM book.settlement_address a WHERE a.removed_at IS NULL
      ${active === undefined ? sql`` : sql`AND a.active = ${active}`}
      ${merchantId === undefined ? sql`` : sql`AND a.merchant_id = ${merchantId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${matching}`,
    sql`SELECT a.* ${matching} ORDER BY a.id DESC OFFSET ${
      (page - 1) * limit
    }::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => settlementAddressTable.decode(row)),
  };
}

/**
 * What an administrator alone has confirmed by hand in the last 24 hours, whatever the currency: stablecoins
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
